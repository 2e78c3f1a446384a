"""What `hannun validate` prints: five forms of the same findings, baselines, and the explanation of every code."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hannun.schemas import json_schema
from hannun.validate.outputs import github, junit, sarif, text
from hannun.validate.outputs import json as as_json
from hannun.validate.result import Part, Scope
from hannun.validate.rule import RULES, rules_page
from hannun.validate.target import validate
from pictures import png

ROOT = Path(__file__).parents[1]
HOSTILE = "::error::%0A\x1b[31m</failure>]]>\x00\u202e"
ROWS: list[dict[str, Any]] = [
    {"id": "1", "question": "무엇인가요? "},
    {"id": "2", "question": ""},
    {"id": "2", "question": HOSTILE},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "rows.jsonl", ROWS)


def test_json_is_as_its_schema_says(table: Path) -> None:
    document = json.loads(json.dumps(as_json.document(validate(str(table)))))
    assert json_schema.problems("findings", document) == []
    assert document["counts"]["error"] == sum(each["level"] == "error" for each in document["findings"])
    assert len({each["fingerprint"] for each in document["findings"]}) == len(document["findings"])


def test_junit_counts_its_cases_and_holds_any_text(table: Path) -> None:
    result = validate(str(table))
    for strict in (False, True):
        suites = ET.fromstring(junit.document(result, strict=strict, most=1).encode())
        [suite] = suites
        cases = list(suite)
        failures = [case for case in cases if case.find("failure") is not None]
        assert suites.tag == "testsuites"
        assert (int(suite.get("tests", "")), int(suite.get("failures", ""))) == (len(cases), len(failures))
        levels = {"error", "warning"} if strict else {"error"}
        wanted = {each.rule.code for each in result.findings if each.rule.level in levels}
        assert {case.get("name", "").split()[0] for case in failures} == wanted
        assert int(suite.get("skipped", "")) == len(result.unchecked)
    junitparser = pytest.importorskip("junitparser")
    read = junitparser.JUnitXml.fromstring(junit.document(result, strict=True, most=5))
    assert read.failures == len(failures)


def test_junit_of_no_finding_passes(built_once: Path) -> None:
    [suite] = ET.fromstring(junit.document(validate(str(built_once)), strict=True, most=5).encode())
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_github_commands_are_one_line_each_and_name_the_file(table: Path) -> None:
    result = validate(str(table))
    lines = list(github.lines(result, most=1))
    *commands, last = lines
    assert last == text.summary(result)
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert all(re.match(r"::(error|warning|notice) ", line) for line in commands)
    first = [line for line in commands if line.startswith("::error file=")]
    assert all(f"file={table.as_posix()}".replace(":", "%3A") in line for line in first)
    assert {re.search(r"title=([A-Z-]+\d+)", line)[1] for line in first} == {  # type: ignore[index]
        each.rule.code for each in result.findings if each.rule.level == "error"
    }


def test_sarif_names_rules_places_and_fingerprints(table: Path) -> None:
    result = validate(str(table))
    document = json.loads(json.dumps(sarif.document(result)))
    assert document["version"] == "2.1.0"
    [run] = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(result.findings)
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["level"] in ("error", "warning", "note")
        assert each["message"]["text"]
        assert each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("rows.jsonl")
        assert each["partialFingerprints"]
    pydantic = pytest.importorskip("sarif_pydantic")
    assert len(pydantic.Sarif.model_validate(document).runs[0].results) == len(result.findings)


def test_text_steers_no_terminal(table: Path) -> None:
    for line in text.lines(validate(str(table))):
        assert line.isprintable()


def test_fingerprints_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [{"id": str(number), "question": "가 " if number % 3 else "가"} for number in range(30)]
    first = {each.fingerprint for each in validate(str(write(tmp_path / "a.jsonl", rows))).findings}
    random.Random(5).shuffle(rows)
    assert {each.fingerprint for each in validate(str(write(tmp_path / "a.jsonl", rows))).findings} == first


def test_known_findings_stay_quiet_and_new_ones_fail(run: Any, table: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    assert run("hannun", "validate", table, "--format", "json", "--out", baseline).returncode == 1
    again = run("hannun", "validate", table, "--baseline", baseline, "--strict")
    assert again.returncode == 0, again.stdout
    assert "known" in again.stdout
    write(table, [*ROWS, {"id": "9", "question": None}])
    more = run("hannun", "validate", table, "--baseline", baseline)
    assert more.returncode == 1
    assert "id 9" in more.stdout
    assert "HN-ROW-001" not in more.stdout
    wrong = run("hannun", "validate", table, "--baseline", table)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_ignored_codes_do_not_count(run: Any, table: Path) -> None:
    codes = {each.rule.code for each in validate(str(table)).findings if each.rule.level == "error"}
    ignored = [part for code in codes for part in ("--ignore", code.lower())]
    assert run("hannun", "validate", table, *ignored).returncode == 0
    unknown = run("hannun", "validate", table, "--ignore", "HN-ROW-999")
    assert unknown.returncode == 2
    assert "HN-ROW-00" in unknown.stderr


def test_reports_are_written_beside_what_is_printed(run: Any, table: Path, tmp_path: Path) -> None:
    done = run("hannun", "validate", table, "--reports", tmp_path / "reports", "--format", "github")
    assert done.returncode == 1
    assert done.stdout.startswith("::")
    names = {path.name for path in (tmp_path / "reports").iterdir()}
    assert names == {"findings.txt", "findings.json", "findings.sarif", "findings.xml"}
    assert json_schema.problems("findings", json.loads((tmp_path / "reports/findings.json").read_text("utf-8"))) == []


def test_several_targets_are_printed_one_after_another(run: Any, table: Path, tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", [{"id": "1", "question": "가"}])
    done = run("hannun", "validate", good, table)
    assert done.returncode == 1
    assert "good.jsonl: 0 errors" in done.stdout
    assert run("hannun", "validate", good).returncode == 0
    assert run("hannun", "validate", good, table, "--format", "json").returncode == 2


def test_every_code_is_explained(run: Any) -> None:
    for rule in RULES.values():
        assert rule.why.endswith("."), rule.code
        assert rule.good
        assert rule.bad
        assert rule.good != rule.bad
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    done = run("hannun", "validate", "--explain", "hn-img-003")
    assert done.returncode == 0
    assert "images equal the lock" in done.stdout
    listed = run("hannun", "validate", "--explain", "all")
    assert all(code in listed.stdout for code in codes)
    wrong = run("hannun", "validate", "--explain", "HN-IMG-03")
    assert wrong.returncode == 2
    assert "HN-IMG-003" in wrong.stderr


def test_the_page_of_codes_is_current() -> None:
    # Written by: python -c "from hannun.validate.rule import rules_page; print(rules_page(), end='')" > docs/findings.md
    assert (ROOT / "docs/findings.md").read_text("utf-8") == rules_page()


def test_facts_alone_can_be_asked_for(tmp_path: Path) -> None:
    facts = [rule for rule in RULES.values() if rule.is_fact]
    assert {rule.code.split("-")[1] for rule in facts} == {"HV", "KOFF"}
    # What a third party says, or a calculation, never fails.
    assert all(rule.level != "error" for rule in facts)
    assert validate(str(write(tmp_path / "a.jsonl", ROWS)), scope=Scope(Part.FACTS)).findings == []


def test_what_is_sampled_or_trusted_is_said(built: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": str(n), "image": {"bytes": png() if n % 2 else png()[:40], "path": f"{n}.png"}} for n in range(40)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    whole = [each.place.row for each in validate(str(path)).findings]
    assert whole == list(range(0, 40, 2))
    part = validate(str(path), scope=Scope(sample=0.5))
    found = [each.place.row for each in part.findings]
    assert 0 < len(found) < len(whole)
    assert found == [each.place.row for each in validate(str(path), scope=Scope(sample=0.5)).findings]
    assert any("can be decoded" in each.what and "--sample" in each.why for each in part.unchecked)
    fast = validate(str(built), scope=Scope(fast=True))
    assert fast.findings == []
    assert any("--fast" in each.why for each in fast.unchecked)
