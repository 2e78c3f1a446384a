"""Scores as one JSON document for programs (`scores.schema.json`), and as a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hannun.evaluation.score import Figure, RowScore, Scores

_COLUMNS = (
    "measure", "model", "config", "group", "rows", "scored", "value", "scored_only", "published", "low", "high",
    "interval_low", "interval_high", "se", "most",
)  # fmt: skip


def document(
    scores: Scores, *, tool: str, made: str, files: Sequence[Mapping[str, Any]], data: str | None,
    results: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """All that scoring says.

    Parameters
    ----------
    tool, made
        Who scored, and when.
    files
        Each prediction file's `path` and `digest`.
    data
        The folder whose rows were scored; None where there was none.
    results
        Published results, as the catalogue has them.
    """
    return {
        "tool": tool,
        "made": made,
        "benchmark": scores.benchmark,
        "data": data,
        "files": [dict(each) for each in files],
        "figures": [asdict(each) for each in scores.figures],
        "comparisons": [asdict(each) for each in scores.comparisons],
        "published_results": [dict(each) for each in results],
        "differences": scores.differences,
        "flags": dict(scores.flags.most_common()),
        "rows": [_row(each) for each in scores.rows],
        "settings": dict(scores.settings),
        "notes": list(scores.notes),
    }


def figures_csv(figures: Sequence[Figure]) -> str:
    """The figures as CSV, one a line, numbers unrounded; what is not known is empty."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, _COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for each in figures:
        low, high = each.interval or (None, None)
        writer.writerow({**asdict(each), "interval_low": low, "interval_high": high})
    return buffer.getvalue()


def _row(row: RowScore) -> dict[str, Any]:
    return {
        "id": row.id,
        "config": row.config,
        "group": row.group,
        "model": row.model,
        "run": row.run,
        "state": row.state.value,
        "values": dict(row.values),
        "published": None if row.published is None else dict(row.published),
        "bounds": {name: list(each) for name, each in row.bounds.items()},
        "differs": row.differs,
        "flag": row.flag,
        "note": row.note,
    }
