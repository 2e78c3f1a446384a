"""Paired comparisons of what two models, or one model under two wordings, did with the same rows."""

from __future__ import annotations

from collections.abc import Mapping

from hannun.evaluation.figures import mean
from hannun.evaluation.score import Comparison
from hannun.evaluation.statistics import Significance, bootstrap_interval, mcnemar, paired_t_test


def compare(
    measure: str, first: tuple[str, Mapping[str, float]], second: tuple[str, Mapping[str, float]], *, most: float = 1.0
) -> Comparison:
    """Second less first, over the keys that both have: a paired t-test, of hits McNemar's.

    Parameters
    ----------
    first, second
        What it is called, and key -> value in [0, 1].
    most
        What a perfect model gets; the difference is in this unit.
    """
    keys = [each for each in first[1] if each in second[1]]
    values = [first[1][each] for each in keys], [second[1][each] for each in keys]
    differences = [b - a for a, b in zip(*values, strict=True)]
    test = _test(measure, *values)
    interval = bootstrap_interval(differences)
    return Comparison(
        measure=measure, first=first[0], second=second[0], pairs=len(keys),
        difference=most * mean(differences) if differences else None,
        test=test.name, statistic=test.statistic, p=test.p,
        interval=None if interval is None else (most * interval[0], most * interval[1]), note=test.note,
    )  # fmt: skip


def _test(measure: str, first: list[float], second: list[float]) -> Significance:
    if measure != "Hits@1":
        return paired_t_test(first, second)
    # A tie at the top is a hit for some orders only: such pairs are neither hit nor miss.
    decided = [(a, b) for a, b in zip(first, second, strict=True) if a in (0.0, 1.0) and b in (0.0, 1.0)]
    test = mcnemar([bool(a) for a, _ in decided], [bool(b) for _, b in decided])
    if tied := len(first) - len(decided):
        note = f"{tied:,} pairs with a tie at the top are left out" + (f"; {test.note}" if test.note else "")
        return Significance(test.name, test.statistic, test.p, note)
    return test
