"""`hannun eval run` through an endpoint on loopback: answers, integers, kills, refusals, side files."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import questions
from builds import CONFIGS
from chat_server import Chat, Trouble, chatting, error
from click.testing import CliRunner
from hannun.evaluation.integer_score import integer_score
from hannun.evaluation.prompt import selection_prompts
from hannun.schemas import json_schema
from PIL import Image

from hannun.commands.eval_run import command

Run = Callable[..., subprocess.CompletedProcess[str]]


def rating(text: str, pictures: list[dict[str, Any]]) -> str:
    """A rating that the picture alone decides."""
    return str(_rated(base64.b64decode(pictures[0]["url"].split(",", 1)[1])))


def _rated(data: bytes) -> int:
    picture = Image.open(io.BytesIO(data)).convert("RGBA")
    on_white = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    return hashlib.sha256(on_white.tobytes()).digest()[0] % 101


@pytest.fixture
def chat() -> Iterator[Chat]:
    with chatting(lambda text, pictures: f"{len(pictures)} | {text}") as served:
        yield served


@pytest.fixture
def rater() -> Iterator[Chat]:
    with chatting(rating) as served:
        yield served


@pytest.fixture
def haerae(tmp_path: Path) -> Path:
    rows = questions.haerae_rows()
    return questions.build(tmp_path / "haerae", rows, questions.pictures_of(rows))


@pytest.fixture
def koffvqa(tmp_path: Path) -> Path:
    rows = questions.koffvqa_rows()
    return questions.build(tmp_path / "koffvqa", rows, questions.pictures_of(rows))


def lines(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for each in found:
        assert json_schema.problems("prediction", each) == []
    return found


def command_line(chat: Chat, name: str, data: Path, out: Path, *more: object) -> list[str]:
    return [name, "--data", str(data), "--model", "m", "--endpoint", chat.address, "--out", str(out), *map(str, more)]


def test_answers_of_every_question_in_both_wordings(run: Run, chat: Chat, haerae: Path, tmp_path: Path) -> None:
    done = run("hannun", "eval", "run", *command_line(chat, "haerae-vision", haerae, tmp_path / "preds.jsonl"))
    assert done.returncode == 0, done.stderr
    assert "hannun eval judge haerae-vision" in done.stdout
    found = {each["id"]: each for each in lines(tmp_path / "preds.jsonl")}
    wanted = {row.id: row for row in questions.haerae_rows() if "/paired/" not in row.id}
    assert {row_id: each["answer"] for row_id, each in found.items()} == {
        row_id: f"{len(row.images)} | {row.record['question']}" for row_id, row in wanted.items()
    }
    made = next(iter(found.values()))["made"]
    assert made["settings"]["sampling"] == {"temperature": 0.6, "top_p": 0.95, "max_tokens": 4096, "seed": 1}
    assert made["model"] == {"name": "m", "revision": None, "endpoint": chat.address}
    rows_digest = hashlib.sha256((haerae / "rows.jsonl").read_bytes()).hexdigest()
    assert made["data"]["rows"] == f"sha256:{rows_digest}"
    assert made["prompt"] == f"sha256:{hashlib.sha256(b'{question}').hexdigest()}"
    assert set(made["versions"]) == {"hannun", "python"}
    assert next(iter(found.values()))["server"] == "m-2026-11-01, fp_1"


def test_pictures_come_in_the_row_s_order(run: Run, chat: Chat, haerae: Path, tmp_path: Path) -> None:
    rows = questions.haerae_rows()
    pictures = questions.pictures_of(rows)
    run(
        "hannun",
        "eval",
        "run",
        *command_line(chat, "haerae-vision", haerae, tmp_path / "p.jsonl", "--config", "original"),
    )
    for body in chat.asked:
        *shown, text = body["messages"][0]["content"]
        row = next(row for row in rows if row.record.get("question") == text["text"] and "/original/" in row.id)
        sent = [base64.b64decode(each["image_url"]["url"].split(",", 1)[1]) for each in shown]
        assert sent == [pictures[image_id] for image_id in row.images]


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ((), (0.0, 1024)), (("--sampling", "paper"), (0.6, 4096)), (("--sampling", "upstream"), (0.2, 512)),
        (("--sampling", "paper", "--temperature", "1", "--max-tokens", "99"), (1.0, 99)),
    ],
)  # fmt: skip
def test_presets(chat: Chat, koffvqa: Path, tmp_path: Path, options: tuple[str, ...], sent: tuple[float, int]) -> None:
    arguments = command_line(chat, "koffvqa", koffvqa, tmp_path / "p.jsonl", *options)
    CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    assert {(body["temperature"], body["max_tokens"]) for body in chat.asked} == {sent}


def _kona(built: Path, config: str, count: int) -> list[dict[str, Any]]:
    table = pq.read_table(next((built / config).glob("test-*.parquet"))).slice(0, count)
    return table.to_pylist()


def test_integers_of_ten_candidates_in_their_order(run: Run, rater: Chat, built_once: Path, tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"
    options = ("--config", "original", "--limit", 4, "--batch-size", 3)
    done = run("hannun", "eval", "run", *command_line(rater, "kona", built_once, out, *options))
    assert done.returncode == 0, done.stderr
    by_id = {each["id"]: each for each in lines(out)}
    for row in _kona(built_once, "original", 4):
        expected = [_rated(cell["bytes"]) for cell in row["images"]]
        assert by_id[row["id"]]["scores"] == expected
        assert by_id[row["id"]]["replies"] == list(map(str, expected))
        assert by_id[row["id"]]["query"] == "context"
    prompt = selection_prompts("ko").rate_context
    asked = {part["text"] for body in rater.asked for part in body["messages"][0]["content"] if part["type"] == "text"}
    assert asked == {
        prompt.filled({"target": row["target"], "context": row["context"]}) for row in _kona(built_once, "original", 4)
    }
    scored = run("hannun", "eval", "score", "kona", out, "--data", built_once, "--json")
    hits = next(
        each
        for each in json.loads(scored.stdout)["figures"]
        if each["measure"] == "Hits@1" and each["group"] == "overall"
    )
    assert hits["scored"] == 4
    expected_hits = sum(_hit(by_id[row["id"]]["scores"], row["label"]) for row in _kona(built_once, "original", 4)) / 4
    assert hits["scored_only"] == pytest.approx(expected_hits)


def _hit(scores: list[float], label: int) -> float:
    best = max(scores)
    return (scores[label] == best) / scores.count(best)


def test_thinking_and_words_around_the_integer(rater: Chat, built_once: Path, tmp_path: Path) -> None:
    said = iter(
        [
            "<think>10 or 20?</think>35",
            "**70**",
            "점수: 12",
            "I cannot tell",
            "40 to 60",
            "100/100",
            "101",
            "-5",
            "",
            "<think>50",
        ]
    )
    rater.say = lambda _text, _pictures: next(said)
    out = tmp_path / "preds.jsonl"
    arguments = command_line(rater, "kona", built_once, out, "--config", "original", "--limit", 1, "--batch-size", 1)
    CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    [line] = lines(out)
    assert line["scores"] == [35, 70, 12, -1, -1, 100, -1, -1, -1, -1]
    assert line["unreadable"] == [3, 4, 6, 7, 8, 9]
    assert line["replies"][3] == "I cannot tell"


@pytest.mark.parametrize("number", [0, 7, 42, 100])
@pytest.mark.parametrize(
    "form", ["{}", " {}\n", "Score: {}", "{}/100", "**{}**", "{}점", "100점 만점에 {}점", "{}.0", "{} out of 100"]
)
def test_forms_of_an_integer(number: int, form: str) -> None:
    assert integer_score(form.format(number)) == number


@pytest.mark.parametrize("text", ["", "no", "7.5", "-1", "101", "1 2", "between 3 and 5", "²", "1,5"])
def test_what_states_no_integer(text: str) -> None:
    assert integer_score(text) is None


def _process(arguments: list[str]) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name("hannun")
    return subprocess.Popen([program, "eval", "run", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _until_lines(path: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, "the run ended before it was to be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_run_again_no_row_is_lost_or_asked_twice(
    run: Run, chat: Chat, built_once: Path, tmp_path: Path, how: signal.Signals
) -> None:
    out = tmp_path / "preds.jsonl"
    chat.say = lambda _text, _pictures: "50"
    chat.trouble = lambda _text, _times: Trouble(seconds=0.02)
    arguments = command_line(chat, "kona", built_once, out, "--config", "neutralized", "--limit", 30, "--batch-size", 4)
    process = _process(arguments)
    _until_lines(out, 3, process)
    process.send_signal(how)
    code = process.wait(20)
    assert code == (-9 if how is signal.SIGKILL else 130)
    if how is signal.SIGKILL:
        # A kill can leave half of a line.
        with out.open("ab") as stream:
            stream.write(b'{"id":"kona/neutralized/ba')
    before = {each["id"] for each in map(json.loads, out.read_bytes().split(b"\n")[:-1])}
    assert 3 <= len(before) < 30
    asked_before = len(chat.asked)
    done = run("hannun", "eval", "run", *arguments)
    assert done.returncode == 0, done.stderr
    assert f"{len(before):,} were there" in done.stdout
    whole = lines(out)
    assert len(whole) == len({each["id"] for each in whole}) == 30
    assert len(chat.asked) - asked_before == 10 * (30 - len(before))
    again = run("hannun", "eval", "run", *arguments)
    assert again.returncode == 0
    assert len(chat.asked) - asked_before == 10 * (30 - len(before))
    scored = run("hannun", "eval", "score", "kona", out, "--data", built_once)
    assert scored.returncode == 0, scored.stderr


def test_a_server_that_goes_away_ends_the_run_and_the_next_one_continues(
    run: Run, chat: Chat, built_once: Path, tmp_path: Path
) -> None:
    out = tmp_path / "preds.jsonl"
    chat.say = lambda _text, _pictures: "50"
    long_wait = error(503, "maintenance", **{"Retry-After": "900"})
    chat.trouble = lambda _text, _times: long_wait if len(chat.asked) > 25 else None
    arguments = command_line(chat, "kona", built_once, out, "--config", "original", "--limit", 60, "--batch-size", 2)
    done = run("hannun", "eval", "run", *arguments)
    assert done.returncode == 3
    assert "900 s" in done.stderr
    assert "run the same again" in done.stderr
    there = len(lines(out))
    assert 1 <= there < 5
    assert len(chat.asked) < 150, "a run ends where nothing can be reached any more"
    chat.trouble = lambda _text, _times: None
    assert run("hannun", "eval", "run", *arguments).returncode == 0
    assert len(lines(out)) == 60


def test_a_row_that_is_refused_has_its_line_and_counts_as_nothing(
    run: Run, chat: Chat, built_once: Path, tmp_path: Path
) -> None:
    out = tmp_path / "preds.jsonl"
    chat.say = lambda _text, _pictures: "50"
    bad = _kona(built_once, "original", 3)[1]
    chat.trouble = lambda text, _times: error(400, "content filter") if bad["context"] in text else None
    arguments = command_line(chat, "kona", built_once, out, "--config", "original", "--limit", 3)
    done = run("hannun", "eval", "run", *arguments)
    assert done.returncode == 1
    assert "1 rows were refused" in done.stdout
    by_id = {each["id"]: each for each in lines(out)}
    assert by_id[bad["id"]]["error"] == "400: content filter"
    assert run("hannun", "eval", "run", *arguments).returncode == 0, "a refused row is settled"
    scored = run("hannun", "eval", "score", "kona", out, "--data", built_once)
    assert scored.returncode == 0, scored.stderr
    assert "refused 1 rows, which count as nothing" in scored.stdout


@pytest.mark.parametrize("limit", [1, 20])
def test_where_everything_is_refused_nothing_is_written(
    run: Run, chat: Chat, built_once: Path, tmp_path: Path, limit: int
) -> None:
    chat.trouble = lambda _text, _times: error(400, "temperature must be 1")
    out = tmp_path / "preds.jsonl"
    arguments = command_line(chat, "kona", built_once, out, "--config", "original", "--limit", limit)
    done = run("hannun", "eval", "run", *arguments)
    assert done.returncode == 2
    assert "temperature must be 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
    assert len(chat.asked) <= 100


def test_lines_that_were_made_otherwise_are_not_mixed(run: Run, chat: Chat, koffvqa: Path, tmp_path: Path) -> None:
    out = tmp_path / "preds.jsonl"
    chat.trouble = lambda text, _times: error(503, "x", **{"Retry-After": "99"}) if "그림 3" in text else None
    assert run("hannun", "eval", "run", *command_line(chat, "koffvqa", koffvqa, out)).returncode == 3
    before = out.read_bytes()
    done = run("hannun", "eval", "run", *command_line(chat, "koffvqa", koffvqa, out, "--temperature", "0.5"))
    assert done.returncode == 2
    assert "temperature 0.5" in done.stderr
    assert out.read_bytes() == before
    other_data = tmp_path / "other"
    rows = questions.koffvqa_rows()[:2]
    questions.build(other_data, rows, questions.pictures_of(rows))
    assert run("hannun", "eval", "run", *command_line(chat, "koffvqa", other_data, out)).returncode == 2
    chat.trouble = lambda _text, _times: None
    done = run(
        "hannun", "eval", "run", *command_line(chat, "koffvqa", koffvqa, out, "--batch-size", 2, "--deadline", 99)
    )
    assert done.returncode == 0, done.stderr
    assert len(lines(out)) == 3


def test_a_file_of_something_else_is_left_alone(run: Run, chat: Chat, koffvqa: Path, tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    out.write_text('{"note": "mine"}\n', "utf-8")
    done = run("hannun", "eval", "run", *command_line(chat, "koffvqa", koffvqa, out))
    assert done.returncode == 2
    assert "line 1" in done.stderr
    assert out.read_text("utf-8") == '{"note": "mine"}\n'


def _side(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def test_definitions_are_the_query_and_the_annotation_s_own_is_told(
    run: Run, rater: Chat, built_once: Path, tmp_path: Path
) -> None:
    rows = _kona(built_once, "original", 2)
    gloss = rows[0]["source"]["gloss"]
    file = _side(
        tmp_path / "d.jsonl",
        [{"id": rows[0]["id"], "definition": f" {gloss}"}, {"id": rows[1]["id"], "definition": "물 위를 다니는 것"}],
    )
    out = tmp_path / "preds.jsonl"
    arguments = command_line(
        rater, "kona", built_once, out, "--config", "original", "--limit", 2, "--definitions", file
    )
    done = run("hannun", "eval", "run", *arguments)
    assert done.returncode == 0, done.stderr
    assert "1 definitions are the annotation's own gloss: labelled oracle" in done.stdout
    by_id = {each["id"]: each for each in lines(out)}
    assert by_id[rows[0]["id"]]["query"] == "oracle"
    assert by_id[rows[1]["id"]]["query"] == "definition"
    assert {each["model"] for each in by_id.values()} == {"m (oracle definitions)"}
    assert by_id[rows[0]["id"]]["made"]["side_file"] == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    asked = {part["text"] for body in rater.asked for part in body["messages"][0]["content"] if part["type"] == "text"}
    assert any("물 위를 다니는 것" in text for text in asked)
    assert not any(rows[1]["context"] in text for text in asked)
    base = tmp_path / "base.jsonl"
    run("hannun", "eval", "run", *command_line(rater, "kona", built_once, base, "--config", "original", "--limit", 2))
    fused = run("hannun", "eval", "score", "kona", base, out, "--fuse", "--data", built_once)
    assert fused.returncode == 0, fused.stderr
    assert "fusion of 2" in fused.stdout


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no line"), ([{"id": "kona/original/none", "definition": "x"}], "no such row"),
        ([{"id": "kona/original/bae-pear-1", "definition": "x"}] * 2, "twice"),
        ([{"id": "kona/original/bae-pear-1"}], "definition"), ([{"id": "kona/original/bae-pear-1", "definition": " "}], "definition"),
        ([{"id": "kona/original/bae-pear-1", "definition": "x"}], "has no line for"),
    ],
)  # fmt: skip
def test_definitions_that_do_not_fit(
    run: Run, rater: Chat, built_once: Path, tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    file = _side(tmp_path / "d.jsonl", rows)
    out = tmp_path / "preds.jsonl"
    done = run("hannun", "eval", "run", *command_line(rater, "kona", built_once, out, "--definitions", file))
    assert done.returncode == 2
    assert said in done.stderr
    assert str(file) in done.stderr
    assert not out.exists()
    assert not rater.asked


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--config", "none"), "no config"), (("--config", "paired"), "two things a row"), (("--split", "train"), "no split"),
        (("--definitions", "SIDE"), "for rankings"), (("--endpoint", "nowhere"), "no http or https address"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_before_anything_is_asked(
    run: Run, chat: Chat, haerae: Path, tmp_path: Path, options: tuple[str, str], said: str
) -> None:
    side = _side(tmp_path / "side.jsonl", [{"id": "haerae-vision/original/2", "definition": "x"}])
    given = [str(side) if each == "SIDE" else each for each in options]
    out = tmp_path / "p.jsonl"
    done = run("hannun", "eval", "run", *command_line(chat, "haerae-vision", haerae, out, *given))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
    assert not chat.asked


def test_constraints_need_yes_and_no(run: Run, rater: Chat, built_once: Path, tmp_path: Path) -> None:
    row = _kona(built_once, "original", 1)[0]
    file = _side(tmp_path / "c.jsonl", [{"id": row["id"], "object": "배가 있나요?"}])
    options = ("--config", "original", "--limit", 1, "--constraints", file)
    done = run("hannun", "eval", "run", *command_line(rater, "kona", built_once, tmp_path / "p.jsonl", *options))
    assert done.returncode == 2
    assert "YES and NO" in done.stderr
    both = run(
        "hannun",
        "eval",
        "run",
        *command_line(rater, "kona", built_once, tmp_path / "p.jsonl", *options, "--definitions", file),
    )
    assert both.returncode == 2
    assert "--fuse" in both.stderr


def test_a_plan_or_nothing_in_place_of_a_build(run: Run, chat: Chat, built_once: Path, tmp_path: Path) -> None:
    done = run("hannun", "eval", "run", *command_line(chat, "kona", built_once / "plan", tmp_path / "p.jsonl"))
    assert done.returncode == 2
    assert "a plan holds no pictures" in done.stderr
    done = run(
        "hannun", "eval", "run", "koffvqa", "--model", "m", "--endpoint", chat.address, "--out", tmp_path / "p.jsonl"
    )
    assert done.returncode == 2
    assert "hannun build koffvqa" in done.stderr


def test_without_the_extra_a_line_says_what_to_install(built_once: Path, tmp_path: Path) -> None:
    hide = (
        "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n, p=None: None if n == 'torch' else f(n, p)"
    )
    start = f"{hide}; import sys; from hannun.commands.main import hannun; sys.argv[0] = 'hannun'; hannun()"
    arguments = ["eval", "run", "kona", "--data", str(built_once), "--model", "x", "--out", str(tmp_path / "p.jsonl")]
    done = subprocess.run([sys.executable, "-c", start, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'hannun[eval]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_key_comes_from_the_environment_and_stays_out_of_the_file(
    run: Run, chat: Chat, koffvqa: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.jsonl"
    env = {**os.environ, "OPENAI_API_KEY": "sk-two", "HANNUN_API_KEY": "sk-one"}
    run("hannun", "eval", "run", *command_line(chat, "koffvqa", koffvqa, out), env=env)
    assert {each["Authorization"] for each in chat.headers} == {"Bearer sk-one"}
    assert "sk-" not in out.read_text("utf-8")


def test_pictures_by_id_and_every_part_of_sage(
    run: Run, rater: Chat, built_all: dict[str, Path], tmp_path: Path
) -> None:
    for name, folder in (("kona", "kona-by-id"), ("sage", "sage"), ("sage-verse-spis", "sage-verse-spis")):
        out = tmp_path / f"{folder}.jsonl"
        done = run("hannun", "eval", "run", *command_line(rater, name, built_all[folder], out, "--limit", 2))
        assert done.returncode == 0, done.stderr
        assert {each["id"].split("/")[1] for each in lines(out)} <= set(CONFIGS[folder])
        scored = run("hannun", "eval", "score", name, out, "--data", built_all[folder])
        assert scored.returncode == 0, scored.stderr
    asked = [part["text"] for body in rater.asked for part in body["messages"][0]["content"] if part["type"] == "text"]
    assert any(text.startswith("How well does the picture") for text in asked), "SAGE is asked in English"


def test_two_runs_do_not_write_one_file(run: Run, chat: Chat, koffvqa: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    chat.trouble = lambda text, times: Trouble(seconds=4.0) if "그림 3" in text and times == 1 else None
    arguments = command_line(chat, "koffvqa", koffvqa, out, "--batch-size", 1)
    process = _process(arguments)
    _until_lines(out, 2, process)
    other = run("hannun", "eval", "run", *arguments)
    assert other.returncode == 2
    assert "another run is writing the file" in other.stderr
    assert process.wait(30) == 0
    assert len(lines(out)) == 3
