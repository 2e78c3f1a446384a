"""Findings as SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from hannun.schemas.version import version
from hannun.validate.finding import Finding
from hannun.validate.result import Result
from hannun.validate.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(result: Result) -> dict[str, Any]:
    """The result as one run of SARIF."""
    rules = {each.rule.code: each.rule for each in result.findings}
    codes = sorted(rules)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "hannun",
                        "version": version(),
                        "rules": [_rule(rules[code]) for code in codes],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": f"not checked: {each.what} ({each.why})"}}
                            for each in result.unchecked
                        ],
                    }
                ],
                "results": [
                    _result(each, codes.index(each.rule.code), result.path_of(each.place.file))
                    for each in result.findings
                ],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"good: {rule.good}\nbad: {rule.bad}\nto do: {rule.todo}"},
        "defaultConfiguration": {"level": rule.level.value},
    }


def _result(each: Finding, rule: int, path: str) -> dict[str, Any]:
    told = [each.message]
    if each.expected is not None:
        told.append(f"expected {each.expected}")
    if each.found is not None:
        told.append(f"found {each.found}")
    return {
        "ruleId": each.rule.code,
        "ruleIndex": rule,
        "level": each.rule.level.value,
        "message": {"text": "; ".join(told)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(path, errors="surrogateescape")}},
                "logicalLocations": [{"fullyQualifiedName": str(each.place)}],
            }
        ],
        "partialFingerprints": {"hannun/v1": each.fingerprint},
    }
