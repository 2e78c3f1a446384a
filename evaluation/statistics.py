"""Statistics of paired and single samples, by scipy; what is not defined is None and says why."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass

SEED = 1
RESAMPLES = 10_000
_INSTALL = "pip install 'hannun[scores]'"


@dataclass(frozen=True)
class Significance:
    """A test of two paired samples: its name, statistic and two-sided p, or why it has none."""

    name: str
    statistic: float | None
    p: float | None
    note: str | None = None


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % percentile bootstrap interval of the mean, or None for fewer than two values.

    A resample is drawn as how often each distinct value occurs in it, which is the same and costs less.
    """
    import numpy as np

    if len(values) < 2:
        return None
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    rng = np.random.default_rng(SEED)
    means = rng.multinomial(len(values), counts / len(values), size=RESAMPLES) @ distinct / len(values)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> Significance:
    """Two-sided paired t-test of second against first."""
    name = "paired t-test"
    if len(first) < 2:
        return Significance(name, None, None, "it takes two pairs")
    differences = {b - a for a, b in zip(first, second, strict=True)}
    if len(differences) == 1:
        return Significance(name, None, None, "every pair differs by the same")
    if importlib.util.find_spec("scipy") is None:
        return Significance(name, None, None, _INSTALL)
    from scipy.stats import ttest_rel

    result = ttest_rel(second, first)
    return Significance(name, float(result.statistic), float(result.pvalue))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Significance:
    """Exact McNemar test of hits: a two-sided binomial test of the pairs of which just one is a hit.

    The statistic is the smaller count of such pairs, as statsmodels has it.
    """
    name = "McNemar (exact)"
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    fewer, both = min(only_first, only_second), only_first + only_second
    if both == 0:
        return Significance(name, 0.0, 1.0, "both hit the same")
    if importlib.util.find_spec("scipy") is None:
        return Significance(name, float(fewer), None, _INSTALL)
    from scipy.stats import binomtest

    return Significance(
        name,
        float(fewer),
        float(binomtest(fewer, both).pvalue),
        f"hit by one only: {only_first} and {only_second}",
    )


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> Significance:
    """Kendall's tau-b between two rankings of the same things; the statistic is tau, in [-1, 1]."""
    name = "Kendall tau-b"
    if len(first) < 2:
        return Significance(name, None, None, "it takes two models")
    if importlib.util.find_spec("scipy") is None:
        return Significance(name, None, None, _INSTALL)
    from scipy.stats import kendalltau

    result = kendalltau(first, second, variant="b")
    if math.isnan(result.statistic):
        return Significance(name, None, None, "one of them ranks all alike")
    return Significance(name, float(result.statistic), float(result.pvalue))
