"""Scores of image selection: figures by hand, order of candidates without weight, what is missing never left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.fusion import fused
from hannun.evaluation.gold_rank import gold_rank
from hannun.evaluation.ranking_file import Rankings
from hannun.evaluation.score import OVERALL, Figure, Scores
from hannun.evaluation.selection import selection_scores
from hypothesis import given
from hypothesis import strategies as st
from rankings import by_id, instance, lines, plan_folder

CONFIGS = ["vwsd", "verse-original", "verse-spis", "verse-spis-neutralized", "wikidiverse"]
BEST_FIRST = tuple(float(10 - place) for place in range(10))
"""The gold at place 0 is the best."""


def scored(models: dict[str, dict[str, tuple[float, ...]]], *rows: Any, fuse: bool = False) -> Scores:
    return selection_scores("sage", by_id(*rows), Rankings(models), CONFIGS, fuse=fuse)


def figure(scores: Scores, measure: str, config: str, model: str = "m", group: str = OVERALL) -> Figure:
    [found] = [
        each for each in scores.figures
        if (each.measure, each.config, each.model, each.group) == (measure, config, model, group)
    ]  # fmt: skip
    return found


def test_figures_by_hand() -> None:
    rows = [
        instance(f"sage/verse-spis/{name}", 0, lemma=lemma)
        for name, lemma in (("a", "fly"), ("b", "fly"), ("c", "run"))
    ]
    ranked = {
        # The gold is first; third behind two hard ones; not ranked at all.
        "sage/verse-spis/a": BEST_FIRST,
        "sage/verse-spis/b": (8.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0),
    }
    scores = scored({"m": ranked}, *rows)
    hits, mrr = figure(scores, "Hits@1", "verse-spis"), figure(scores, "MRR", "verse-spis")
    assert (hits.value, hits.rows, hits.scored, hits.low, hits.high) == (1 / 3, 3, 2, 1 / 3, 2 / 3)
    assert mrr.value == pytest.approx((1 + 1 / 3) / 3)
    assert mrr.scored_only == pytest.approx((1 + 1 / 3) / 2)
    assert mrr.high == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert figure(scores, "Hits@1", "verse-spis", group="fly").value == 1 / 2
    assert figure(scores, "Hits@1", "verse-spis", group="run").value == 0
    # Two of the six hard negatives of ranked rows stand above the gold, no random one does; three are not ranked.
    hard = figure(scores, "negatives above gold", "verse-spis", group="hard")
    assert (hard.value, hard.scored, hard.rows) == (2 / 6, 6, 9)
    assert (hard.low, hard.high) == (2 / 9, 5 / 9)
    assert figure(scores, "negatives above gold", "verse-spis", group="random").value == 0
    assert [row.flag for row in scores.rows] == [None, None, "missing"]
    assert not any(row.differs for row in scores.rows)


def test_ties_count_as_expected_and_are_told() -> None:
    row = instance("sage/verse-spis/a")
    scores = scored({"m": {row.id: (1.0,) * 10}}, row)
    hits = figure(scores, "Hits@1", "verse-spis")
    assert (hits.value, hits.low, hits.high) == (0.1, 0.0, 1.0)
    mrr = figure(scores, "MRR", "verse-spis")
    assert mrr.value == pytest.approx(sum(1 / place for place in range(1, 11)) / 10)
    hard = figure(scores, "negatives above gold", "verse-spis", group="hard")
    assert (hard.value, hard.low, hard.high) == (0.5, 0.0, 1.0)
    assert any("a tie at the gold's score in 100.0%" in note for note in scores.notes)


def test_wordings_are_compared_item_by_item_and_subsets_are_not() -> None:
    items = ("a", "b", "c")
    rows = [instance(f"sage/{config}/{item}") for config in CONFIGS for item in items]
    worst = tuple(reversed(BEST_FIRST))
    ranked = {row.id: worst if row.id == "sage/verse-spis-neutralized/b" else BEST_FIRST for row in rows}
    scores = scored({"m": ranked}, *rows)
    pairs = {(each.first, each.second): each for each in scores.comparisons if each.measure == "Hits@1"}
    assert set(pairs) == {
        ("m, verse-original", "m, verse-spis"),
        ("m, verse-original", "m, verse-spis-neutralized"),
        ("m, verse-spis", "m, verse-spis-neutralized"),
    }
    drop = pairs["m, verse-spis", "m, verse-spis-neutralized"]
    assert (drop.pairs, drop.difference) == (3, pytest.approx(-1 / 3))


def test_the_macro_average_is_over_the_three_subsets_that_are_all_there() -> None:
    rows = [instance(f"sage/{config}/1") for config in CONFIGS]
    worst = tuple(reversed(BEST_FIRST))
    ranked = {row.id: worst if row.id == "sage/vwsd/1" else BEST_FIRST for row in rows}
    macro = [each for each in scored({"m": ranked}, *rows).figures if "macro" in each.measure]
    assert [(each.value, each.rows) for each in macro] == [(pytest.approx(2 / 3), 3)]
    assert not [note for note in scored({"m": ranked}, *rows).notes if "macro" in note]
    del ranked["sage/wikidiverse/1"]
    without = scored({"m": ranked}, *rows)
    assert not [each for each in without.figures if "macro" in each.measure]
    assert [note for note in without.notes if "macro" in note] == [
        "m: no macro-average of vwsd, verse-spis, wikidiverse without rankings of wikidiverse"
    ]


def test_models_are_compared_and_their_order_over_subsets_too() -> None:
    rows = [instance(f"sage/{config}/{item}") for config in ("vwsd", "wikidiverse") for item in "ab"]
    worst = tuple(reversed(BEST_FIRST))
    good, bad = {row.id: BEST_FIRST for row in rows}, {row.id: worst for row in rows}
    scores = scored({"good": good, "bad": bad}, *rows)
    [tau] = [each for each in scores.comparisons if each.test == "Kendall tau-b"]
    assert (tau.first, tau.second, tau.pairs, tau.statistic) == ("vwsd", "wikidiverse", 2, pytest.approx(1.0))
    between = [each for each in scores.comparisons if each.first == "good, vwsd" and each.measure == "Hits@1"]
    assert [(each.second, each.difference) for each in between] == [("bad, vwsd", -1.0)]


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    first, second = BEST_FIRST, tuple(reversed(BEST_FIRST))
    [scores] = fused([{"a": first, "b": first}, {"a": second}]).values()
    assert scores[0] == pytest.approx(1 / 61 + 1 / 70)
    assert scores[4] == pytest.approx(1 / 65 + 1 / 66)
    [tied] = fused([{"a": (1.0,) * 10}]).values()
    assert tied == (pytest.approx(1 / 65.5),) * 10
    row = instance("sage/vwsd/a")
    assert "fusion of 2" in {
        each.model for each in scored({"x": {row.id: first}, "y": {row.id: first}}, row, fuse=True).figures
    }


@given(st.lists(st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0]), min_size=10, max_size=10), st.integers(0, 9), st.randoms())
def test_order_and_scale_have_no_weight(values: list[float], gold: int, shuffled: Any) -> None:
    rank = gold_rank(values, gold)
    order = list(range(10))
    shuffled.shuffle(order)
    assert gold_rank([values[place] for place in order], order.index(gold)) == rank
    assert gold_rank([3 * each + 7 for each in values], gold) == rank
    for value, (low, high) in ((rank.hit, rank.hit_bounds), (rank.reciprocal, rank.reciprocal_bounds)):
        assert low <= value + 1e-12
        assert value <= high + 1e-12
    assert rank.hit <= rank.reciprocal + 1e-12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [instance(f"sage/vwsd/{n}", n % 10, offset=100 * n) for n in range(4)]
    return plan_folder(tmp_path / "plan", "sage-vwsd", "sage_vwsd", rows)


def test_the_command_scores_a_plan(run: Any, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "pred.txt"
    path.write_text("".join("\t".join(f"{100 * n + (n + k) % 10}.jpg" for k in range(10)) + "\n" for n in range(4)))
    done = run("hannun", "eval", "score", "sage-vwsd", path, "--data", folder)
    assert done.returncode == 0, done.stderr
    assert "1.000000" in done.stdout
    wrong = lines(tmp_path / "wrong.jsonl", {"id": "sage/vwsd/7", "ranking": list(range(10))})
    refused = run("hannun", "eval", "score", "sage-vwsd", wrong, "--data", folder)
    assert refused.returncode == 2
    assert "no such row" in refused.stderr
    assert "line 1" in refused.stderr
    other = run("hannun", "eval", "score", "kona", path, "--data", folder)
    assert other.returncode == 2
    assert "holds no rows of kona" in other.stderr
    missing = run("hannun", "eval", "score", "sage-vwsd", path)
    assert missing.returncode == 2
    assert "--data DIR" in missing.stderr


KONA = ["original", "explicit", "neutralized", "original-noto", "explicit-noto", "neutralized-noto"]


def test_kona_is_compared_wording_by_wording_and_picture_by_picture() -> None:
    rows = [instance(f"kona/{config}/{item}", lemma="배") for config in KONA for item in "ab"]
    scores = selection_scores("kona", by_id(*rows), Rankings({"m": {row.id: BEST_FIRST for row in rows}}), KONA)
    pairs = {(each.first[3:], each.second[3:]) for each in scores.comparisons}
    wordings = [("original", "explicit"), ("original", "neutralized"), ("explicit", "neutralized")]
    assert pairs == {
        *wordings,
        *((f"{first}-noto", f"{second}-noto") for first, second in wordings),
        *((wording, f"{wording}-noto") for wording in KONA[:3]),
    }
    assert figure(scores, "Hits@1", "explicit", group="배").rows == 2


def test_a_split_that_is_not_ranked_does_not_count_and_is_told() -> None:
    rows = [
        instance("kona/original/a", split="validation"), instance("kona/original/b"), instance("kona/original/c"),
    ]  # fmt: skip
    ranked = {"kona/original/b": BEST_FIRST}
    scores = selection_scores("kona", by_id(*rows), Rankings({"m": ranked}), KONA)
    hits = figure(scores, "Hits@1", "original")
    assert (hits.value, hits.rows, hits.scored) == (0.5, 2, 1)
    assert figure(scores, "negatives above gold", "original", group="random").rows == 12
    assert "m, original: over test alone" in scores.notes
    both = selection_scores(
        "kona", by_id(*rows), Rankings({"m": {**ranked, "kona/original/a": BEST_FIRST}}), KONA
    )  # fmt: skip
    assert figure(both, "Hits@1", "original").rows == 3
    assert "m, original: over validation and test together" in both.notes


def test_fusion_takes_no_other_models_name_and_says_when_there_is_nothing_to_fuse() -> None:
    first, second = instance("sage/vwsd/a"), instance("sage/vwsd/b")
    named = scored({"fusion of 2": {first.id: BEST_FIRST}, "x": {first.id: BEST_FIRST}}, first, fuse=True)
    assert {row.model for row in named.rows} == {"fusion of 2", "x", "fusion of 2 (2)"}
    assert "k = 60" in named.settings["fusion"]
    for models in ({"x": {first.id: BEST_FIRST}}, {"x": {first.id: BEST_FIRST}, "y": {second.id: BEST_FIRST}}):
        alone = scored(models, first, second, fuse=True)
        assert {row.model for row in alone.rows} == set(models)
        assert any("nothing to fuse" in note for note in alone.notes)


@given(
    st.lists(st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0]), min_size=10, max_size=10), st.integers(0, 9), st.randoms()
)  # fmt: skip
def test_the_whole_result_knows_no_order_of_candidates(values: list[float], label: int, shuffled: Any) -> None:
    row = instance("sage/vwsd/a", label)
    order = list(range(10))
    shuffled.shuffle(order)
    moved = replace(row, candidates=tuple(row.candidates[place] for place in order), label=order.index(label))
    one = scored({"m": {row.id: tuple(values)}}, row)
    other = scored({"m": {row.id: tuple(values[place] ** 3 - 5 for place in order)}}, moved)
    assert one.figures == other.figures
    assert one.rows == other.rows
