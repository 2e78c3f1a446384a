"""Negatives above the gold, kind by kind: hard ones may be taken for the right one more often than random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hannun.evaluation.score import Figure
from hannun.schemas.instance import KINDS, Instance, config_of


def negatives_above_gold(
    model: str, ranked: Mapping[str, Sequence[float]], rows: Iterable[Instance]
) -> Iterator[Figure]:
    """Share of a config's negatives that outrank the gold, a group a kind; a tie counts half, its expectation.

    The share is of rows that are ranked: as nothing, what is not ranked would speak for the model. The bounds have
    every row in their denominator.

    Parameters
    ----------
    ranked
        Row id -> each candidate's score, higher is better.
    rows
        The rows to rank, also those that are not ranked.
    """
    shapes: Counter[tuple[str, tuple[str, ...]]] = Counter()
    unranked = shapes.copy()
    above: Counter[tuple[str, str]] = Counter()
    tied = above.copy()
    for row in rows:
        shape = config, kinds = config_of(row.id), tuple([each.kind for each in row.candidates])
        shapes[shape] += 1
        if row.id not in ranked:
            unranked[shape] += 1
            continue
        scores = ranked[row.id]
        at = scores[row.label]
        for kind, score in zip(kinds, scores, strict=True):
            if score >= at:
                (tied if score == at else above)[config, kind] += 1
    every, without = _by_kind(shapes), _by_kind(unranked)
    for key in sorted(every, key=lambda each: (each[0], KINDS.index(each[1]))):
        total, counted = every[key], every[key] - without[key]
        value = (above[key] + tied[key] / 2) / counted if counted else None
        yield Figure(
            "negatives above gold", model, *key, rows=total, scored=counted, value=value, scored_only=value,
            published=None, low=above[key] / total, high=(above[key] + tied[key] + without[key]) / total,
        )  # fmt: skip


def _by_kind(shapes: Mapping[tuple[str, tuple[str, ...]], int]) -> Counter[tuple[str, str]]:
    """Config and kind -> number of negatives, of rows counted by config and kinds of candidates."""
    counts: Counter[tuple[str, str]] = Counter()
    for (config, kinds), number in shapes.items():
        for kind in kinds:
            if kind != "gold":
                counts[config, kind] += number
    return counts
