"""Hits@1 of answers that need no picture: what a set gives away by its form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.schemas.instance import CANDIDATES
from hannun.schemas.invariants import gold_places


def form_baselines(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Hits@1 of always taking the first candidate, and of chance; empty without instances.

    Parameters
    ----------
    rows
        Instances as JSON; those without candidates or with a label that is no place are left out.
    """
    places = gold_places(row for row in rows if "candidates" in row)
    if not places:
        return {}
    return {"first candidate": places.count(0) / len(places), "random": 1 / CANDIDATES}


def expected_hits(scores: Sequence[Sequence[float]], golds: Sequence[int]) -> float:
    """Hits@1 of taking the best score, ties broken by chance (their expectation).

    Parameters
    ----------
    scores
        A list for each instance: the score of each candidate.
    golds
        The place of each instance's gold.
    """
    hits = 0.0
    for each, gold in zip(scores, golds, strict=True):
        best = max(each)
        if each[gold] == best:
            hits += 1 / each.count(best)
    return hits / len(golds) if golds else 0.0
