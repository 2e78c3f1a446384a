"""Statistics of paired and single samples, by scipy; what is not defined is None and says why."""

from __future__ import annotations

import importlib.util
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

SEED = 1
RESAMPLES = 10_000
GROUP_RESAMPLES = 1_000
"""For groups, of which there are hundreds: their intervals are wide, and drawn on plots only."""
_INSTALL = "pip install 'hannun[scores]'"
_ROUNDING = 1e-12
"""What values in [0, 1] may differ by through rounding alone."""


@dataclass(frozen=True)
class Significance:
    """A test of two paired samples: its name, statistic and two-sided p, or why it has none."""

    name: str
    statistic: float | None
    p: float | None
    note: str | None = None


def bootstrap_interval(values: Sequence[float], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """95 % percentile bootstrap interval of the mean, or None for fewer than two values.

    A resample is drawn as how often each distinct value occurs in it, which is the same and costs less.
    """
    return _interval(tuple(sorted(Counter(values).items())), resamples) if len(values) > 1 else None


# Small groups have the same few values again and again, and hits are two values only.
@lru_cache(maxsize=4096)
def _interval(counted: tuple[tuple[float, int], ...], resamples: int) -> tuple[float, float]:
    """The interval of values, each with how often it occurs."""
    import numpy as np

    distinct, counts = np.array(counted, dtype=np.float64).T
    total = int(counts.sum())
    rng = np.random.default_rng(SEED)
    means = rng.multinomial(total, counts / total, size=resamples) @ distinct / total
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> Significance:
    """Two-sided paired t-test of second against first."""
    name = "paired t-test"
    if len(first) < 2:
        return Significance(name, None, None, "it takes two pairs")
    differences = [b - a for a, b in zip(first, second, strict=True)]
    if max(differences) - min(differences) <= _ROUNDING:
        return Significance(name, None, None, "every pair differs by the same")
    if importlib.util.find_spec("scipy") is None:
        return Significance(name, None, None, _INSTALL)
    from scipy.stats import ttest_rel

    result = ttest_rel(second, first)
    return Significance(name, float(result.statistic), float(result.pvalue))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Significance:
    """Exact McNemar test of hits: a two-sided binomial test of the pairs of which just one is a hit.

    The statistic is the smaller count of such pairs, as statsmodels has it; the note has both counts, and the
    chi-squared test with continuity correction for comparison with reports that use it.
    """
    name = "McNemar (exact)"
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    fewer, both = min(only_first, only_second), only_first + only_second
    if not first:
        return Significance(name, None, None, "no pairs")
    if both == 0:
        return Significance(name, 0.0, 1.0, "both hit the same")
    if importlib.util.find_spec("scipy") is None:
        return Significance(name, float(fewer), None, _INSTALL)
    from scipy.stats import binomtest, chi2

    corrected = (abs(only_first - only_second) - 1) ** 2 / both
    return Significance(
        name,
        float(fewer),
        float(binomtest(fewer, both).pvalue),
        f"hit by one only: {only_first} and {only_second};"
        f" continuity-corrected χ² {corrected:.4g}, p {float(chi2.sf(corrected, 1)):.4g}",
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
