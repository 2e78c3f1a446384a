"""Statistics: equal to scipy's and statsmodels' on the same numbers, and nothing where nothing is defined."""

from __future__ import annotations

import math
import random

import pytest
from hannun.evaluation.comparison import compare
from hannun.evaluation.statistics import bootstrap_interval, kendall_tau_b, mcnemar, paired_t_test
from hypothesis import given
from hypothesis import strategies as st

SOME = random.Random(7)
FIRST = [SOME.random() for _ in range(200)]
SECOND = [min(1.0, each + SOME.gauss(0.02, 0.2)) for each in FIRST]


def test_mcnemar_equals_statsmodels() -> None:
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    first, second = [each > 0.4 for each in FIRST], [each > 0.4 for each in SECOND]
    table = [[0, 0], [0, 0]]
    for a, b in zip(first, second, strict=True):
        table[not a][not b] += 1
    wanted = contingency.mcnemar(table, exact=True)
    got = mcnemar(first, second)
    assert (got.statistic, got.p) == (wanted.statistic, pytest.approx(wanted.pvalue))
    corrected = contingency.mcnemar(table, exact=False, correction=True)
    assert got.note == (
        f"hit by one only: {table[0][1]} and {table[1][0]};"
        f" continuity-corrected χ² {corrected.statistic:.4g}, p {corrected.pvalue:.4g}"
    )


def test_the_paired_t_test_equals_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.ttest_rel(SECOND, FIRST)
    got = paired_t_test(FIRST, SECOND)
    assert (got.statistic, got.p) == (pytest.approx(wanted.statistic), pytest.approx(wanted.pvalue))


def test_the_bootstrap_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    import numpy as np

    for values in (FIRST, [0.0] * 150 + [1.0] * 50):
        wanted = stats.bootstrap(
            (np.asarray(values),), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(3)
        ).confidence_interval
        assert bootstrap_interval(values) == pytest.approx((wanted.low, wanted.high), abs=0.004)


def test_the_bootstrap_is_the_same_each_time_and_in_each_order() -> None:
    assert bootstrap_interval(FIRST) == bootstrap_interval(sorted(FIRST))
    assert bootstrap_interval([0.5]) is None
    assert bootstrap_interval([]) is None
    assert bootstrap_interval([0.5] * 9) == (0.5, 0.5)


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=40))
def test_the_interval_stays_within_the_values(values: list[float]) -> None:
    interval = bootstrap_interval(values)
    assert interval is not None
    assert min(values) - 1e-9 <= interval[0] <= interval[1] <= max(values) + 1e-9


def test_kendalls_tau_equals_scipy_with_ties() -> None:
    stats = pytest.importorskip("scipy.stats")
    first, second = [0.7, 0.5, 0.5, 0.3], [0.6, 0.6, 0.4, 0.1]
    got = kendall_tau_b(first, second)
    assert got.statistic == pytest.approx(stats.kendalltau(first, second).statistic)


def test_what_is_not_defined_is_nothing_and_says_why() -> None:
    assert mcnemar([True, False], [True, False]).p == 1.0
    for test in (
        mcnemar([], []),
        # 0.1 apart but for rounding: no variance, and no t of 1e15.
        paired_t_test([0.3, 0.5, 0.1], [0.4, 0.6, 0.2]),
        paired_t_test([0.5], [0.7]),
        paired_t_test([0.5, 0.6], [0.5, 0.6]),
        paired_t_test([], []),
        kendall_tau_b([0.5], [0.5]),
        kendall_tau_b([0.5, 0.5], [0.1, 0.2]),
    ):
        assert (test.statistic, test.p) == (None, None)
        assert test.note


def test_comparisons_are_over_what_both_have_and_leave_ties_at_the_top_out() -> None:
    compared = compare(
        "Hits@1", ("a", {"x": 1.0, "y": 0.0, "z": 0.5, "only a": 1.0}), ("b", {"x": 0.0, "y": 1.0, "z": 1.0, "w": 0.0})
    )
    assert (compared.pairs, compared.difference) == (3, pytest.approx(0.5 / 3))
    assert compared.test == "McNemar (exact)"
    assert "1 pairs with a tie" in (compared.note or "")
    empty = compare("MRR", ("a", {"x": 1.0}), ("b", {}))
    assert (empty.pairs, empty.difference, empty.interval, empty.p) == (0, None, None, None)


def test_without_scipy_the_tests_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for test in (
        mcnemar([True, False], [False, False]),
        paired_t_test([0.1, 0.2], [0.3, 0.1]),
        kendall_tau_b([0.1, 0.2], [0.3, 0.1]),
    ):
        assert test.p is None
        assert test.note == "pip install 'hannun[scores]'"


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 1.0])] * 2), max_size=8))
def test_every_number_is_finite(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    for test in (
        mcnemar([a == 1 for a in first], [b == 1 for b in second]),
        paired_t_test(first, second),
        kendall_tau_b(first, second),
    ):
        assert all(each is None or math.isfinite(each) for each in (test.statistic, test.p))
        assert test.p is not None or test.note
