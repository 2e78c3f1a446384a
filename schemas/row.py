"""Rows: what a plan holds, instances of image-selection benchmarks or questions about pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannun.schemas.instance import Instance
from hannun.schemas.question import Question

Row = Instance | Question

SCHEMAS = {"instances.jsonl": "instance", "rows.jsonl": "question"}
"""The schema of a line of a plan's file of rows, by the file's name."""


def row_from_json(value: Mapping[str, Any]) -> Row:
    """From a row that its JSON Schema accepts."""
    return Instance.from_json(value) if "candidates" in value else Question.from_json(value)
