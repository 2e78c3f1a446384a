"""Public bug reports about scores: the published value reproduced, the careful one right, every difference flagged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation import yes_no
from hannun.evaluation.answer_language import languages
from hannun.evaluation.gold_rank import gold_rank
from hannun.evaluation.judge_text import read_judge_text
from hannun.evaluation.ranking_file import Rankings
from hannun.evaluation.score import OVERALL
from hannun.evaluation.score_tag import read_score_tag
from hannun.evaluation.selection import selection_scores
from rankings import instance


def expected(case: Path) -> Any:
    return json.loads((case / "case.json").read_text("utf-8"))["expected"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", ["S01", "S02", "S03", "S05"], indirect=True)
def test_judge_texts(case: Path, run: Any) -> None:
    wanted = {row["id"]: row for row in expected(case)["rows"]}
    for line in lines(case / "judge.jsonl"):
        row, reading = wanted[line["id"]], read_judge_text(line["review"])
        assert (reading.published, reading.careful) == (row["reference"], row["careful"]), line
        flag, _, found = (row["flag"] or "").partition(" (")
        assert (reading.flag or "") == flag, line
        assert not found or reading.found == found.rstrip(")"), line
    scored = json.loads(run("hannun", "eval", "score", "koffvqa", case / "judge.jsonl", "--json").stdout)
    by_id = {row["id"]: row for row in scored["rows"]}
    assert {name: by_id[name]["values"].get("score") for name in wanted} == {
        name: None if row["careful"] is None else row["careful"] / 10 for name, row in wanted.items()
    }
    assert {name: by_id[name]["published"]["score"] for name in wanted} == {
        name: row["reference"] / 10 for name, row in wanted.items()
    }
    [figure] = scored["figures"]
    assert figure["rows"] == len(wanted)
    assert figure["published"] == pytest.approx(10 * sum(row["reference"] for row in wanted.values()) / len(wanted))


@pytest.mark.parametrize("case", ["S05"], indirect=True)
def test_thinking_before_score_tags(case: Path) -> None:
    wanted = expected(case)["tags"]
    for line in lines(case / "tags.jsonl"):
        reading = read_score_tag(line["text"], 5)
        row = wanted[line["id"]]
        assert reading.careful == row["careful"]
        assert reading.published == (None if "None" in str(row["reference"]) else row["reference"])
        assert row.get("flag") in (None, reading.flag)


@pytest.mark.parametrize("case", ["S08"], indirect=True)
def test_the_language_rule(case: Path) -> None:
    pytest.importorskip("py3langid")
    wanted = expected(case)
    answers = {str(line["id"]): line["prediction"] for line in lines(case / "answers.jsonl")}
    said = {name: languages(answers.values())[answer] for name, answer in answers.items()}
    labels = wanted["py3langid_0.2.2_and_0.3.0_labels_for_some"]
    assert {name: said[name].label for name in labels} == labels
    assert {int(name) for name, each in said.items() if each.only_digits} == set(wanted["always_kept_by_digit_rule"])
    doubtful = {int(name) for name, each in said.items() if each.flag == "language in doubt"}
    assert doubtful == set(wanted["contains_hangul_but_risky"])
    assert said["20"].flag == "empty answer"
    assert (said["29"].kept, said["29"].kept_nfc, said["31"].kept) == (False, True, True)


@pytest.mark.parametrize("case", ["S09"], indirect=True)
def test_ties(case: Path) -> None:
    wanted = expected(case)
    rows, ranked = {}, {}
    for line in lines(case / "instances.jsonl"):
        row_id = f"sage/vwsd/{line['id']}"
        rows[row_id], ranked[row_id] = instance(row_id, line["gold_index"]), tuple(line["scores"])
        rank, row = gold_rank(line["scores"], line["gold_index"]), wanted["instances"][line["id"]]
        assert (rank.better, rank.tied) == (row["better"], row["tied_including_gold"])
        for measure, value, bounds in (
            ("hits1", rank.hit, rank.hit_bounds),
            ("rr", rank.reciprocal, rank.reciprocal_bounds),
        ):
            told = row[measure]
            assert [value, *bounds] == pytest.approx(
                [told["expected"], told["pessimistic"], told["optimistic"]], abs=1e-6
            )
    scores = selection_scores("sage", rows, Rankings({"m": ranked}), ["vwsd"])
    for measure, name in (("Hits@1", "hits1"), ("MRR", "rr")):
        [figure] = [each for each in scores.figures if (each.measure, each.group) == (measure, OVERALL)]
        told = wanted["means"][name]
        assert [figure.value, figure.low, figure.high] == pytest.approx(
            [told["expected"], told["pessimistic"], told["optimistic"]], abs=1e-6
        )
    assert any(f"in {wanted['tie_share']:.1%} of the instances" in note for note in scores.notes)


@pytest.mark.parametrize("case", ["S11"], indirect=True)
def test_yes_and_no(case: Path) -> None:
    wanted = expected(case)
    for name, table in json.loads((case / "next_token.json").read_text("utf-8")).items():
        answer, told = yes_no.of_probabilities(table), wanted["tables"][name]
        assert (answer.yes, answer.no, answer.mass) == pytest.approx((told["yes"], told["no"], told["mass"]))
        assert answer.p_yes == (None if told["p_yes"] is None else pytest.approx(told["p_yes"], abs=1e-6))
        assert answer.flag == told["flag"]
    logits = json.loads((case / "logits.json").read_text("utf-8"))
    assert yes_no.of_logits(logits).p_yes == pytest.approx(wanted["logits.json"]["p_yes"], abs=1e-6)
