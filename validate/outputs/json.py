"""Findings as one JSON document for programs."""

from __future__ import annotations

from typing import Any

from hannun.validate.finding import Level
from hannun.validate.result import Result


def document(result: Result) -> dict[str, Any]:
    """The result as JSON: counts, every finding, baselines, and what was not checked."""
    return {
        "target": result.target,
        "rows": result.rows,
        "counts": {level.value: result.count(level) for level in Level},
        "baselines": result.baselines,
        "not_checked": [{"what": each.what, "why": each.why} for each in result.unchecked],
        "findings": [
            {
                "code": each.rule.code,
                "level": each.rule.level.value,
                **each.place.__dict__,
                "message": each.message,
                "expected": each.expected,
                "found": each.found,
                "todo": each.rule.todo,
            }
            for each in result.findings
        ],
    }
