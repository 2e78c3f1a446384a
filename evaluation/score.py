"""Scores: what every scorer gives, whatever the benchmark.

A figure stands as the published rule has it and as a careful reading has it, side by side. What could not be
read never leaves the denominator: it counts as nothing, and the bounds say what it could have been.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

OVERALL = "overall"
"""The group of a figure that is over all rows."""


class State(StrEnum):
    """How far a row came: a true zero is `scored`."""

    SCORED = "scored"
    NO_SCORE = "no-score"
    JUDGE_ERROR = "judge-error"
    MISSING = "missing"


@dataclass(frozen=True)
class RowScore:
    """One row of the data set, as one model did it in one run.

    Parameters
    ----------
    values
        Measure -> value in [0, 1], by the careful reading; empty unless `state` is `scored`.
    published
        Measure -> value as the published rule has it (which may leave [0, 1]); empty where that rule fails; None
        where there is nothing to read, or no published rule.
    bounds
        Measure -> the least and the most that the value could be: ties broken against and for the model.
        Only measures whose bounds differ from `values`.
    flag
        What is to be said of this row, a few fixed words (`cut-off`, `out-of-range`), or None.
    note
        What was found, for a person.
    """

    id: str
    config: str
    group: str
    model: str
    run: int
    state: State
    values: Mapping[str, float] = field(default_factory=dict)
    published: Mapping[str, float] | None = None
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    flag: str | None = None
    note: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the published rule and the careful reading do not agree."""
        return self.published is not None and dict(self.values) != dict(self.published)


@dataclass(frozen=True)
class Figure:
    """One measure over one group of rows of one config, as one model did them; all values in the measure's unit.

    Parameters
    ----------
    group
        A category, lemma or noun, a kind of negatives, or `OVERALL`.
    rows
        The denominator: rows of the data set in the group, once a run.
    scored
        Rows of them that have a value.
    value
        The careful reading, what is not scored counting as nothing; None without rows.
    scored_only
        The mean over the scored rows alone, for comparison with reports that drop the others.
    published
        The published rule's value, over the rows that the files hold, as the published script would print it.
    low, high
        Bounds: what is not scored as nothing and as everything, ties against and for the model.
    most
        What a perfect model gets: 1, or 100 where the published figure is in hundredths.
    interval
        95 % bootstrap interval of `value` over rows, or None.
    se
        Standard error over runs, or None for a single run.
    """

    measure: str
    model: str
    config: str
    group: str
    rows: int
    scored: int
    value: float | None
    scored_only: float | None
    published: float | None
    low: float
    high: float
    most: float = 1.0
    interval: tuple[float, float] | None = None
    se: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A paired comparison: of two models, two configs, or two wordings.

    `difference` is second less first, None for a correlation or without pairs. `test` names what `statistic` and `p`
    are of: `McNemar (exact)`, `paired t-test` or `Kendall tau-b`; either is None where it is not defined, and `note`
    says why.
    """

    measure: str
    first: str
    second: str
    pairs: int
    difference: float | None
    test: str
    statistic: float | None
    p: float | None
    interval: tuple[float, float] | None = None
    note: str | None = None


@dataclass(frozen=True)
class Scores:
    """All that scoring says.

    `settings` hold what is needed to repeat it: versions of libraries that decide, seeds, rules by name.
    `notes` are sentences for people: what was not checked, what was taken for granted.
    """

    benchmark: str
    figures: tuple[Figure, ...]
    rows: tuple[RowScore, ...]
    comparisons: tuple[Comparison, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def differences(self) -> int:
        """Number of rows on which the published rule and the careful reading do not agree."""
        return sum(row.differs for row in self.rows)

    @property
    def flags(self) -> Counter[str]:
        """Flag -> number of rows."""
        return Counter(row.flag for row in self.rows if row.flag is not None)
