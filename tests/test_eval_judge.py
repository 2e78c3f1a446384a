"""`hannun eval judge` through an endpoint on loopback: prompts, repeats, people's points, kills, refusals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import questions
from chat_server import Chat, Trouble, chatting, error
from hannun.evaluation.judge_points import as_people, by_answer, points_of, spread
from hannun.evaluation.prompt import Prompt
from hannun.schemas import json_schema
from hypothesis import given
from hypothesis import strategies as st

Run = Callable[..., subprocess.CompletedProcess[str]]

POINTS = {"1": 4, "2": 10, "3": 7}
"""Points that the judge gives to the answers of each question."""


def index_of(text: str) -> str:
    """The question's number, which its answer repeats."""
    return re.findall(r"답(\d+)", text)[-1]


def judging(text: str, pictures: list[dict[str, Any]]) -> str:
    return f"기준을 보면 {len(pictures)}.\n최종 점수: 10점 만점에 {POINTS[index_of(text)]}점"


@pytest.fixture
def judge() -> Iterator[Chat]:
    with chatting(judging) as served:
        yield served


@pytest.fixture
def koffvqa(tmp_path: Path) -> Path:
    rows = questions.koffvqa_rows()
    return questions.build(tmp_path / "koffvqa", rows, questions.pictures_of(rows))


@pytest.fixture
def haerae(tmp_path: Path) -> Path:
    rows = questions.haerae_rows()
    return questions.build(tmp_path / "haerae", rows, questions.pictures_of(rows))


def answers(path: Path, **said: Any) -> Path:
    """Answers of one model to KOFFVQA's three questions."""
    texts = {index: said.get(f"q{index}", f"답{index}") for index in POINTS}
    lines = [{"id": f"koffvqa/default/{index}", "model": "m", "answer": text} for index, text in texts.items()]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def side(path: Path, field: str, values: dict[str, Any], **more: Any) -> Path:
    lines = [{"id": f"koffvqa/default/{index}", field: value, **more} for index, value in values.items()]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def command_line(judge: Chat, data: Path, preds: Path, out: Path, *more: object, name: str = "koffvqa") -> list[str]:
    options = ["--data", data, "--judge", "j", "--endpoint", judge.address, "--out", out, *more]
    return ["hannun", "eval", "judge", name, *map(str, [preds, *options])]


def lines(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for each in found:
        assert json_schema.problems("judged_answer", each) == []
    return found


def asked(judge: Chat) -> dict[str, str]:
    """Question's number -> the text that the judge read."""
    return {index_of(text): text for text in (body["messages"][-1]["content"] for body in judge.asked)}


def test_koffvqa_s_judge_sees_question_criteria_and_answer(
    run: Run, judge: Chat, koffvqa: Path, tmp_path: Path
) -> None:
    preds = answers(tmp_path / "p.jsonl", q2="<think>세 마리?\n답9</think>\n\n답2 세 마리입니다.")
    out = tmp_path / "j.jsonl"
    done = run(*command_line(judge, koffvqa, preds, out))
    assert done.returncode == 0, done.stderr
    assert "next: hannun eval score koffvqa" in done.stdout
    texts = asked(judge)
    for index, (_, raw, _) in questions.CRITERIA.items():
        assert f"그림 {index}에는 무엇이 보이나요?" in texts[index]
        assert raw in texts[index], "criteria verbatim, line ends too"
    assert "답9" not in texts["2"]
    assert "답2 세 마리입니다." in texts["2"]
    assert {body["temperature"] for body in judge.asked} == {0.0}
    found = {each["id"].rsplit("/", 1)[1]: each for each in lines(out)}
    assert {index: each["judge"] for index, each in found.items()} == {
        index: f"기준을 보면 0.\n최종 점수: 10점 만점에 {points}점" for index, points in POINTS.items()
    }
    assert found["2"]["answer"] == "답2 세 마리입니다."
    assert found["2"]["answer_as_it_came"].startswith("<think>")
    assert {each["judge_model"] for each in found.values()} == {"j"}
    made = found["1"]["made"]
    assert made["settings"]["with_image"] is False
    assert made["settings"]["sampling"]["temperature"] == 0.0
    scored = run("hannun", "eval", "score", "koffvqa", out, "--data", koffvqa, "--json")
    points = {row["id"].rsplit("/", 1)[1]: row for row in json.loads(scored.stdout)["rows"]}
    assert set(points) == set(POINTS)
    assert all(row["state"] != "missing" for row in points.values())


def test_haerae_vision_s_judge_sees_the_checklist(run: Run, haerae: Path, tmp_path: Path) -> None:
    preds, out = tmp_path / "p.jsonl", tmp_path / "j.jsonl"
    ids = [row.id for row in questions.haerae_rows() if "/paired/" not in row.id]
    preds.write_text("".join(json.dumps({"id": each, "model": "m", "answer": f"답 {each}"}) + "\n" for each in ids))

    def half(text: str, pictures: list[dict[str, Any]]) -> str:
        count = int(re.findall(r"<score>K/(\d+)</score>", text)[0])
        return f"항목마다 절반.\n<score>{count / 2:g}/{count}</score>"

    with chatting(half) as judge:
        done = run(*command_line(judge, haerae, preds, out, name="haerae-vision"))
    assert done.returncode == 0, done.stderr
    texts = [body["messages"][-1]["content"] for body in judge.asked]
    for item, checklist in questions.CHECKLISTS.items():
        numbered = "\n".join(f"{n}. {text}" for n, text in enumerate(checklist, 1))
        of_item = [text for text in texts if numbered in text]
        assert len(of_item) == 2, "the original and the explicit wording"
        assert all(f"{len(checklist)}개 항목" in text for text in of_item), item
    assert len(lines(out)) == len(ids)
    scored = run("hannun", "eval", "score", "haerae-vision", out, "--data", haerae, "--json")
    assert scored.returncode == 0, scored.stderr
    rows = json.loads(scored.stdout)["rows"]
    assert {score for row in rows for score in row["values"].values()} == {0.5}


def test_pictures_and_a_reference_only_when_asked_for(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path) -> None:
    preds = answers(tmp_path / "p.jsonl")
    references = side(tmp_path / "r.jsonl", "reference", {index: f"참고{index}" for index in POINTS})
    out = tmp_path / "j.jsonl"
    done = run(*command_line(judge, koffvqa, preds, out, "--with-image", "--reference", references))
    assert done.returncode == 0, done.stderr
    assert {each["judge"].splitlines()[0] for each in lines(out)} == {"기준을 보면 1."}
    texts = [
        next(part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text") for body in judge.asked
    ]
    assert all(f"[참고 답변]\n참고{index_of(text)}\n" in text for text in texts)
    made = lines(out)[0]["made"]
    assert made["settings"]["with_image"] is True
    assert made["side_file"].startswith("sha256:")


def test_a_reference_that_is_lacking_is_said_before_anything_is_asked(
    run: Run, judge: Chat, koffvqa: Path, tmp_path: Path
) -> None:
    references = side(tmp_path / "r.jsonl", "reference", {"1": "참고"})
    done = run(
        *command_line(judge, koffvqa, answers(tmp_path / "p.jsonl"), tmp_path / "j.jsonl", "--reference", references)
    )
    assert done.returncode == 2
    assert "no reference for 2 of 3 answers" in done.stderr
    assert not judge.asked
    assert not (tmp_path / "j.jsonl").exists()


def test_a_prompt_of_one_s_own(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text('{"json": {}} {question}\n{answer} of {count}', "utf-8")
    preds = answers(tmp_path / "p.jsonl", q1="{criteria} {question} 답1")
    done = run(*command_line(judge, koffvqa, preds, tmp_path / "j.jsonl", "--prompt-file", prompt))
    assert done.returncode == 0, done.stderr
    # What an answer says in braces stays what it says.
    assert asked(judge)["1"] == '{"json": {}} 그림 1에는 무엇이 보이나요?\n{criteria} {question} 답1 of 2'


@pytest.mark.parametrize(
    ("text", "said"),
    [("{question}", "does not show the judge the answer"), ("{answer} {rubric}", "names what does not exist"), (None, "prompt.txt")],
)  # fmt: skip
def test_prompts_that_cannot_be(
    run: Run, judge: Chat, koffvqa: Path, tmp_path: Path, text: str | None, said: str
) -> None:
    prompt = tmp_path / "prompt.txt"
    if text is not None:
        prompt.write_text(text, "utf-8")
    done = run(
        *command_line(judge, koffvqa, answers(tmp_path / "p.jsonl"), tmp_path / "j.jsonl", "--prompt-file", prompt)
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not judge.asked


def test_repeats_are_runs_whose_spread_is_told(run: Run, koffvqa: Path, tmp_path: Path) -> None:
    given_: Counter[str] = Counter()
    series = {"1": [4, 6, 5], "2": [10, 10, 10], "3": [0, 3, 9]}

    def varying(text: str, pictures: list[dict[str, Any]]) -> str:
        index = index_of(text)
        given_[index] += 1
        return f"최종 점수: 10점 만점에 {series[index][given_[index] - 1]}점"

    out = tmp_path / "j.jsonl"
    people = side(tmp_path / "h.jsonl", "points", {"1": 5, "2": 10, "3": 4})
    with chatting(varying) as judge:
        arguments = command_line(
            judge, koffvqa, answers(tmp_path / "p.jsonl"), out, "--repeat", 3, "--human", people, "--temperature", 0.7,
            "--json",
        )  # fmt: skip
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        # By hand: 4, 6, 5 have a variance of 2/3 over N and 1 over N - 1; 0, 3, 9 have 14 and 21.
        assert told["spread"]["population"] == pytest.approx(((2 / 3) ** 0.5 + 0 + 14**0.5) / 3)
        assert told["spread"]["sample"] == pytest.approx((1 + 0 + 21**0.5) / 3)
        # As people did: one of three, three of three, none of three.
        assert told["as_people"]["share"] == pytest.approx(4 / 9)
        assert told["as_people"]["mean_difference"] == pytest.approx(fmean([1, 1, 0, 0, 0, 0, 4, 1, 5]))
        assert sorted((each["id"], each["run"]) for each in lines(out)) == sorted(
            (f"koffvqa/default/{index}", number) for index in POINTS for number in range(3)
        )
        seeds = {index: set() for index in POINTS}
        for body in judge.asked:
            seeds[index_of(body["messages"][-1]["content"])].add(body["seed"])
        assert all(len(each) == 3 for each in seeds.values()), "each repeat has a seed of its own"
        again = run(*arguments)
        assert json.loads(again.stdout)["spread"] == told["spread"], "told of what is there, too"
        assert len(judge.asked) == 9


def test_answers_with_an_error_are_not_asked_about(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path) -> None:
    preds = answers(tmp_path / "p.jsonl")
    kept = preds.read_text("utf-8").splitlines()[:2]
    kept.append(json.dumps({"id": "koffvqa/default/3", "model": "m", "error": "the picture is too large"}))
    preds.write_text("\n".join(kept) + "\n", "utf-8")
    out = tmp_path / "j.jsonl"
    done = run(*command_line(judge, koffvqa, preds, out))
    assert done.returncode == 1, done.stderr
    assert len(judge.asked) == 2
    [broken] = [each for each in lines(out) if "judge_error" in each]
    assert broken["judge_error"] == "no answer: the picture is too large"
    assert broken["answer"] is None


def test_a_kill_loses_nothing_and_nothing_is_judged_twice(run: Run, koffvqa: Path, tmp_path: Path) -> None:
    out = tmp_path / "j.jsonl"
    with chatting(judging) as judge:
        judge.trouble = lambda _text, _times: Trouble(seconds=0.15)
        arguments = command_line(
            judge, koffvqa, answers(tmp_path / "p.jsonl"), out, "--repeat", 8, "--batch-size", 1
        )  # fmt: skip
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("hannun")), *arguments[1:]], stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not out.exists() or out.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = out.read_bytes()
        with out.open("ab") as stream:
            stream.write(b'{"id": "koffvqa/default/1", "mod')
        asked_before = len(judge.asked)
        judge.trouble = lambda _text, _times: None
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
        whole = before[: before.rindex(b"\n") + 1]
        assert out.read_bytes().startswith(whole)
        keys = [(each["id"], each["run"]) for each in lines(out)]
        assert len(keys) == len(set(keys)) == 24
        # What was in flight when it died is asked once more, all else once.
        assert len(judge.asked) - asked_before == 24 - whole.count(b"\n")


def test_a_judge_that_is_busy_cut_off_and_thinks(run: Run, koffvqa: Path, tmp_path: Path) -> None:
    def thinking(text: str, pictures: list[dict[str, Any]]) -> str:
        return f"<think>10점? 0점?</think>\n{judging(text, pictures)}"

    troubles = {
        "1": error(429, "slow down", **{"Retry-After": "0"}),
        "2": Trouble(cut=True),
        "3": error(503, "busy", **{"Retry-After": "0"}),
    }

    def trouble(text: str, times: int) -> Trouble | None:
        return troubles[index_of(text)] if times == 1 else None

    out = tmp_path / "j.jsonl"
    with chatting(thinking) as judge:
        judge.trouble = trouble
        done = run(*command_line(judge, koffvqa, answers(tmp_path / "p.jsonl"), out))
        assert done.returncode == 0, done.stderr
        assert set(judge.tries.values()) == {2}
    assert all(each["judge"].startswith("<think>") for each in lines(out)), "raw text kept"
    scored = json.loads(run("hannun", "eval", "score", "koffvqa", out, "--data", koffvqa, "--json").stdout)
    assert {row["id"].rsplit("/", 1)[1]: row["values"]["score"] for row in scored["rows"]} == {
        index: points / 10 for index, points in POINTS.items()
    }


def test_another_judge_does_not_continue_the_file(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path) -> None:
    preds, out = answers(tmp_path / "p.jsonl"), tmp_path / "j.jsonl"
    assert run(*command_line(judge, koffvqa, preds, out)).returncode == 0
    before = out.read_bytes()
    done = run(*command_line(judge, koffvqa, preds, out, "--with-image"))
    assert done.returncode == 2
    assert "--out" in done.stderr
    assert out.read_bytes() == before


@pytest.mark.parametrize("name", ["sage", "kona"])
def test_rankings_have_no_judge(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path, name: str) -> None:
    done = run(*command_line(judge, koffvqa, answers(tmp_path / "p.jsonl"), tmp_path / "j.jsonl", name=name))
    assert done.returncode == 2
    assert f"{name} has no judge" in done.stderr
    assert f"hannun eval score {name}" in done.stderr


def test_the_default_file_stands_beside_the_answers(run: Run, judge: Chat, koffvqa: Path, tmp_path: Path) -> None:
    preds = answers(tmp_path / "p.jsonl")
    arguments = ["--data", koffvqa, "--judge", "j", "--endpoint", judge.address, "--quiet"]
    done = run("hannun", "eval", "judge", "koffvqa", preds, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(lines(tmp_path / "p-judged.jsonl")) == 3


@given(
    st.dictionaries(st.sampled_from(["question", "answer", "criteria"]), st.text(max_size=30), min_size=3),
    st.lists(
        st.sampled_from(["{question}", "{answer}", "{criteria}", "{other}", "{}", "{ answer }", "글"]), max_size=8
    ),
)
def test_what_is_filled_in_is_not_looked_at_again(values: dict[str, str], parts: list[str]) -> None:
    expected = "".join(values.get(part[1:-1], part) if part.startswith("{") else part for part in parts)
    assert Prompt("".join(parts)).filled(values) == expected


KEY = ("koffvqa/default/1", "m", 0)


@given(st.lists(st.one_of(st.none(), st.floats(0, 10)), max_size=6))
def test_spread_is_that_of_the_points_that_were_read(points: list[float | None]) -> None:
    found = spread(by_answer((KEY, each) for each in points))
    read = [each for each in points if each is not None]
    if len(read) < 2:
        assert found is None
        return
    mean = sum(read) / len(read)
    squares = sum((each - mean) ** 2 for each in read)
    assert found is not None
    assert found.population == pytest.approx((squares / len(read)) ** 0.5, abs=1e-9)
    assert found.sample == pytest.approx((squares / (len(read) - 1)) ** 0.5, abs=1e-9)
    assert (found.questions, found.left_out) == (1, 0)


def test_people_s_points_of_a_model_come_before_those_of_all() -> None:
    points = {("q", "a", 0): [5.0, None], ("q", "b", 0): [5.0], ("r", "a", 0): [1.0]}
    found = as_people(points, {("q", None): 4.0, ("q", "a"): 5.0})
    assert found is not None
    assert (found.share, found.judgements, found.unread) == (1 / 3, 3, 1)
    assert found.mean_difference == pytest.approx(0.5)
    assert as_people(points, {("s", None): 1.0}) is None


@pytest.mark.parametrize(
    ("benchmark", "text", "criteria", "points"),
    [
        ("koffvqa", "최종 점수: 10점 만점에 8점", 3, 8), ("koffvqa", "모르겠습니다", 3, None),
        ("haerae-vision", "<score>1.5/3</score>", 3, 1.5), ("haerae-vision", "좋은 답변입니다", 3, None),
    ],
)  # fmt: skip
def test_points_of_a_judge_s_text(benchmark: str, text: str, criteria: int, points: float | None) -> None:
    found = points_of(benchmark, text, criteria)
    assert found == (None if points is None else pytest.approx(points))
