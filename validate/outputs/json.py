"""Findings as one JSON document for programs (`findings.schema.json`); a baseline for later runs, too."""

from __future__ import annotations

from typing import Any

from hannun.validate.result import Result
from hannun.validate.rule import Level


def document(result: Result) -> dict[str, Any]:
    """The result as JSON: counts, every finding, baselines, and what was not checked."""
    return {
        "target": result.target,
        "rows": result.rows,
        "counts": {level.value: result.count(level) for level in Level},
        "baselines": result.baselines,
        "not_checked": [{"what": each.what, "why": each.why} for each in result.unchecked],
        "ignored": result.ignored,
        "known": result.known,
        "findings": [
            {
                "code": each.rule.code,
                "level": each.rule.level.value,
                "fingerprint": each.fingerprint,
                **each.place.__dict__,
                "message": each.message,
                "expected": each.expected,
                "found": each.found,
                "todo": each.rule.todo,
            }
            for each in result.findings
        ],
    }
