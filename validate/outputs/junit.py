"""Findings as JUnit XML: a test case for each rule that was broken, one that passes where none was."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hannun.schemas.text import printable
from hannun.validate.outputs.text import summary
from hannun.validate.result import Result
from hannun.validate.rule import Level


def document(result: Result, *, strict: bool, most: int) -> str:
    """The result as JUnit XML.

    Parameters
    ----------
    strict
        Whether warnings are failures.
    most
        Findings named of each rule.
    """
    groups = result.by_code()
    failing = {Level.ERROR, Level.WARNING} if strict else {Level.ERROR}
    suite = ET.Element("testsuite", name="hannun validate", errors="0", time="0")
    failures = 0
    for code, group in groups.items():
        rule = group[0].rule
        case = ET.SubElement(suite, "testcase", classname=f"hannun.{code}", name=f"{code} {rule.title}", time="0")
        lines = [f"{each.place}: {each.message}" for each in group[:most]]
        if len(group) > most:
            lines.append(f"... and {len(group) - most:,} more")
        text = printable("\n".join([*lines, f"to do: {rule.todo}"]))
        if rule.level in failing:
            failures += 1
            told = ET.SubElement(case, "failure", type=rule.level.value, message=f"{rule.title} ({len(group):,})")
        else:
            told = ET.SubElement(case, "system-out")
        told.text = text
    for unchecked in result.unchecked:
        case = ET.SubElement(
            suite, "testcase", classname="hannun.not-checked", name=printable(unchecked.what), time="0"
        )
        ET.SubElement(case, "skipped", message=printable(unchecked.why))
    if not len(suite):
        ET.SubElement(suite, "testcase", classname="hannun", name=printable(summary(result)), time="0")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(len(result.unchecked)))
    suites = ET.Element("testsuites", tests=str(len(suite)), failures=str(failures), errors="0", time="0")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
