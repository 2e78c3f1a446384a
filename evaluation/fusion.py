"""Reciprocal rank fusion of several models' rankings (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

K = 60
"""The constant of the paper."""

RULE = f"reciprocal rank, k = {K} (Cormack, Clarke and Büttcher, SIGIR 2009), ties by their mean rank"


def fused(models: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, tuple[float, ...]]:
    """Row id -> each candidate's sum of 1 / (K + rank) over models, for rows that every model ranked."""
    shared = [row_id for row_id in models[0] if all(row_id in each for each in models)]
    return {row_id: _fused([each[row_id] for each in models]) for row_id in shared}


def _fused(scores: Sequence[Sequence[float]]) -> tuple[float, ...]:
    ranks = [_ranks(each) for each in scores]
    return tuple(fsum(1 / (K + of_model[place]) for of_model in ranks) for place in range(len(scores[0])))


def _ranks(scores: Sequence[float]) -> list[float]:
    """Rank of each score, from 1 for the best; tied scores share the mean of their ranks."""
    best_first = sorted(scores, reverse=True)
    return [best_first.index(each) + (best_first.count(each) + 1) / 2 for each in scores]
