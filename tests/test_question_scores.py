"""KOFFVQA's and HAERAE-Vision's scores: by hand, with failures in the denominator, and as a command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.haerae_vision import haerae_vision_scores
from hannun.evaluation.judged_answer import JudgedAnswer, read_judged_answers
from hannun.evaluation.koffvqa import koffvqa_scores
from hannun.evaluation.score import OVERALL, Figure, Scores, State
from hannun.schemas import json_schema
from hannun.schemas.errors import InputError
from hannun.schemas.question import Question
from questions import build, haerae_rows, koffvqa_rows, pictures_of
from rankings import lines

HAERAE = {row.id: row for row in haerae_rows()}
KOFFVQA = {
    f"koffvqa/default/{number}": Question(
        f"koffvqa/default/{number}", "test", ("koffvqa:1",), {"category": category, "main_category": main}
    )
    for number, (category, main) in enumerate(
        [("KO-OCR", "Perception"), ("Table", "Reasoning"), ("Table", "Reasoning")]
    )
}


def judged(row_id: str, judge: str | None, answer: str | None = "빨간색입니다.", **more: Any) -> JudgedAnswer:
    given: dict[str, Any] = {"model": "m", "run": 0, "judge_score": None, "judge_error": None, **more}
    return JudgedAnswer(
        row_id,
        row_id.split("/")[1],
        given["model"],
        given["run"],
        answer,
        judge,
        given["judge_score"],
        given["judge_error"],
    )


def figure(scores: Scores, group: str = OVERALL, config: str = "default", model: str = "m") -> Figure:
    [found] = [e for e in scores.figures if (e.group, e.config, e.model) == (group, config, model)]
    return found


def points(number: int) -> str:
    return f"최종 점수: 10점 만점에 {number}점"


def test_koffvqa_by_hand() -> None:
    pytest.importorskip("py3langid")
    scores = koffvqa_scores(
        [
            judged("koffvqa/default/0", points(10)),
            # Right, and not in Korean.
            judged("koffvqa/default/1", points(8), "It is a red umbrella."),
            # A score that the published rule misreads.
            judged("koffvqa/default/2", "최종 점수: 6/10"),
        ],
        KOFFVQA,
    )
    assert figure(scores).value == pytest.approx(100 * (1 + 0 + 0.6) / 3)
    assert figure(scores).published == pytest.approx(100 * (1 + 0 + 1) / 3)
    assert figure(scores, "KO-OCR").value == 100
    assert figure(scores, "Table").value == pytest.approx(30)
    assert figure(scores, "Reasoning (main category)").value == pytest.approx(30)
    assert figure(scores).most == 100
    assert [row.flag for row in scores.rows] == [None, "not Korean", "reference-differs"]
    assert scores.differences == 1
    assert any("turns the scores of 1 rows to 0" in note for note in scores.notes)
    assert "py3langid" in scores.settings["language rule"]


def test_failures_stay_in_the_denominator_and_apart_from_a_zero() -> None:
    scores = koffvqa_scores(
        [
            judged("koffvqa/default/0", points(0)),
            judged("koffvqa/default/1", None, judge_error="timeout after 3 tries"),
        ],
        KOFFVQA,
    )
    assert [row.state for row in scores.rows] == [State.SCORED, State.JUDGE_ERROR, State.MISSING]
    overall = figure(scores)
    assert (overall.rows, overall.scored, overall.value, overall.scored_only) == (3, 1, 0, 0)
    assert (overall.low, overall.high) == (0, pytest.approx(200 / 3))
    assert overall.published == 0
    assert scores.flags == {"judge-error": 1, "missing": 1}
    assert scores.rows[1].note == "timeout after 3 tries"


def test_what_scores_nothing_is_not_asked_for_its_language() -> None:
    scores = koffvqa_scores([judged("koffvqa/default/0", points(0), "It is red.")], KOFFVQA)
    assert scores.settings["language rule"] == "not asked"


def test_an_answer_in_decomposed_korean_is_korean_to_the_careful_reading() -> None:
    import unicodedata

    pytest.importorskip("py3langid")
    scores = koffvqa_scores(
        [judged("koffvqa/default/0", points(9), unicodedata.normalize("NFD", "빨간색입니다."))], None
    )
    [row] = scores.rows
    assert (row.values["score"], (row.published or {})["score"], row.flag) == (0.9, 0.0, "language in doubt")
    assert "of its NFC form ko" in (row.note or "")
    assert any("missing cannot be known" in note for note in scores.notes)


def met(points_: float, of: int) -> str:
    return f"<score>{points_:g}/{of}</score>"


def test_haerae_vision_by_hand_over_three_runs() -> None:
    answers = []
    for run, (first, second) in enumerate([(1, 1), (2, 0), (0, 1)]):
        answers += [
            judged("haerae-vision/original/2", met(first, 2), run=run),
            judged("haerae-vision/original/10", met(second, 1), run=run),
            judged("haerae-vision/original/11", met(1.5, 3), run=run),
            judged("haerae-vision/explicit/2", met(2, 2), run=run),
            judged("haerae-vision/explicit/10", met(second, 1), run=run),
            judged("haerae-vision/explicit/11", "<score>3/4</score>", run=run),
        ]
    scores = haerae_vision_scores(answers, HAERAE)
    original, explicit = figure(scores, config="original"), figure(scores, config="explicit")
    runs = [(0.5 + 1 + 0.5) / 3, (1 + 0 + 0.5) / 3, (0 + 1 + 0.5) / 3]
    middle = sum(runs) / 3
    assert original.value == pytest.approx(middle)
    assert original.se == pytest.approx((sum((each - middle) ** 2 for each in runs) / 2 / 3) ** 0.5)
    assert (original.rows, original.scored) == (9, 9)
    # A checklist of three criteria is not judged out of four.
    assert (explicit.scored, explicit.published) == (6, pytest.approx((1 + 2 / 3 + 0.75) / 3))
    [between] = scores.comparisons
    assert (between.first, between.second, between.pairs) == ("m, original", "m, explicit", 3)
    assert between.difference == pytest.approx((0.5 + 0 - 0.5) / 3)
    assert figure(scores, "게임", "original").value == 0.5
    assert scores.flags == {"other-maximum": 3}


def test_what_the_published_rule_cannot_read_counts_as_nothing_to_it_too() -> None:
    scores = haerae_vision_scores(
        [
            judged("haerae-vision/original/2", met(2, 2)),
            judged("haerae-vision/original/10", "<score>1/1</score> <score>0/1</score>"),
            judged("haerae-vision/original/11", None, judge_error="timeout"),
        ],
        HAERAE,
    )
    published = {row.id.rpartition("/")[2]: row.published for row in scores.rows}
    assert published == {"2": {"S_final": 1.0}, "10": {}, "11": {}}
    assert figure(scores, config="original").published == pytest.approx(1 / 3)


def test_files_say_the_same_under_both_names(tmp_path: Path) -> None:
    own = lines(tmp_path / "own.jsonl", {"id": "koffvqa/default/1", "answer": "a", "judge": "b", "model": "m"})
    upstream = lines(tmp_path / "up.jsonl", {"index": 1, "prediction": "a", "review": "b", "category": "Table"})
    [one], [other] = (read_judged_answers([path], KOFFVQA, "m") for path in (own, upstream))
    assert one == other
    haerae = lines(
        tmp_path / "h.jsonl",
        {"question_idx": "2", "question_type": "explicit", "response": "a", "judge_response": "<score>1/2</score>"},
    )
    [read] = read_judged_answers([haerae], HAERAE, "m")
    assert (read.row_id, read.config, read.answer) == ("haerae-vision/explicit/2", "explicit", "a")


def test_files_without_run_numbers_are_runs_each(tmp_path: Path) -> None:
    row = {"id": 0, "judge": points(3)}
    first, second = lines(tmp_path / "a.jsonl", row), lines(tmp_path / "b.jsonl", row)
    assert [each.run for each in read_judged_answers([first, second], KOFFVQA, "m")] == [0, 1]
    twice = lines(tmp_path / "c.jsonl", {**row, "run": 5}, {**row, "run": 6})
    assert [each.run for each in read_judged_answers([twice], KOFFVQA, "m")] == [5, 6]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": 1}, "no judgement"),
        ({"id": 1, "judge": None, "answer": "a"}, "no judgement"),
        ({"judge": "b"}, "not a judged answer"),
        ({"id": [1], "judge": "b"}, "not a judged answer"),
        ({"id": 1, "judge": 7}, "not a judged answer"),
        ({"id": 1, "judge": "b", "run": -1}, "not a judged answer"),
        ({"id": 1, "judge": "b", "model": " "}, "not a judged answer"),
        ({"id": 99, "judge": "b"}, "no such row"),
        ({"id": 0, "judge": "b"}, "answered twice"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    path = lines(tmp_path / "a.jsonl", {"id": 0, "judge": "b"}, row)
    with pytest.raises(InputError, match=says) as caught:
        read_judged_answers([path], KOFFVQA, "m")
    assert "a.jsonl, line 2" in str(caught.value.where)
    assert caught.value.todo


def test_a_file_without_answers_and_an_id_of_several_configs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no judged answer"):
        read_judged_answers([lines(tmp_path / "a.jsonl")], KOFFVQA, "m")
    with pytest.raises(InputError, match="which config") as caught:
        read_judged_answers([lines(tmp_path / "b.jsonl", {"id": "2", "judge": "b"})], HAERAE, "m")
    assert "haerae-vision/original/2" in str(caught.value.expected)


@pytest.mark.parametrize(
    ("given", "score", "flag"), [(7, 0.7, None), (11, None, "out-of-range"), (7.5, None, "not-an-integer")]
)
def test_scores_that_are_read_already_are_held_to_the_rule(given: float, score: float | None, flag: str | None) -> None:
    [row] = koffvqa_scores([judged("koffvqa/default/0", None, None, judge_score=given)], None).rows
    assert (row.values.get("score"), row.flag) == (score, flag)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = koffvqa_rows()
    return build(tmp_path_factory.mktemp("built") / "koffvqa", rows, pictures_of(rows))


def test_the_command_in_every_form(run: Any, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    ids = [row.id for row in koffvqa_rows()]
    path = lines(tmp_path / "a.jsonl", *({"id": each, "answer": "빨간색입니다.", "judge": points(6)} for each in ids))
    other = lines(tmp_path / "b.jsonl", *({"id": each, "answer": "빨간색입니다.", "judge": "8/10"} for each in ids))
    command = ("hannun", "eval", "score", "koffvqa", path, "--data", folder, "--compare", other)
    told = run(*command)
    assert told.returncode == 0, told.stderr
    assert "60.00" in told.stdout
    assert "reference-differs" in told.stdout
    document = json.loads(run(*command, "--json").stdout)
    assert json_schema.problems("scores", document) == []
    [between] = document["comparisons"]
    assert (between["first"], between["second"], between["difference"]) == (
        "a, default",
        "b, default",
        pytest.approx(20),
    )
    assert len(document["files"]) == 2
    rows = list(csv.DictReader(io.StringIO(run(*command, "--csv").stdout)))
    told_of = {
        row["model"]: (float(row["value"]), float(row["published"])) for row in rows if row["group"] == "overall"
    }
    assert told_of == {"a": pytest.approx((60, 60)), "b": pytest.approx((80, 100))}
    page = tmp_path / "scores.html"
    assert run(*command, "--html", "--out", page).returncode == 0
    assert "KOFFVQA: scores" in page.read_text("utf-8")
    assert run(*command, "--html", cwd=tmp_path).returncode == 0
    assert (tmp_path / "koffvqa-scores.html").is_file()


def test_wrong_use_of_the_command(run: Any, folder: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"id": 1, "judge": points(6)})
    for arguments, says in (
        (("koffvqa", path, "--data", folder, "--out", tmp_path / "x"), "--out needs one of"),
        (("koffvqa", tmp_path / "none.jsonl", "--data", folder), "no such file"),
        (("nothing", path), "no benchmark named"),
        (("haerae-vision", path, "--data", folder), "holds no rows of haerae-vision"),
        (("koffvqa",), "Missing argument"),
    ):
        done = run("hannun", "eval", "score", *arguments)
        assert done.returncode == 2, arguments
        assert says in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_scoring_loads_no_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    pytest.importorskip("py3langid")
    path = lines(tmp_path / "a.jsonl", {"id": 1, "answer": "빨간색입니다.", "judge": points(6)})
    code = (
        "import sys; from pathlib import Path; from hannun.scoring import score;"
        f" score('koffvqa', [Path({str(path)!r})]).page(); print(*sorted(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"torch", "transformers", "datasets"} & set(loaded)
