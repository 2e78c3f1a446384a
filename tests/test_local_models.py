"""Models of this machine, tiny and random: likelihoods, similarities and answers against a direct computation."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import questions
from hannun.evaluation.prompt import selection_prompts
from hannun.evaluation.yes_no_tokens import yes_no_tokens
from hannun.schemas.errors import InputError
from PIL import Image

torch = pytest.importorskip("torch", reason="the extra [eval] is not installed")
transformers = pytest.importorskip("transformers", reason="the extra [eval] is not installed")

import tiny_models  # noqa: E402
from hannun.evaluation.models.chat_model import ChatModel  # noqa: E402
from hannun.evaluation.models.dual_encoder import DualEncoder  # noqa: E402
from hannun.evaluation.models.loading import Kind, Place, load, place  # noqa: E402
from hannun.evaluation.reply import Refused, Reply, Turn  # noqa: E402
from hannun.evaluation.sampling import Sampling  # noqa: E402

Run = Callable[..., subprocess.CompletedProcess[str]]
CPU = Place("cpu", "float32")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    makers = {"clip": tiny_models.clip, "vlm": tiny_models.vision_language, "judge": tiny_models.causal}
    return {name: make(folder / name) for name, make in makers.items()}


def kona(built: Path, config: str, count: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        pq.read_table(next((built / config).glob("test-*.parquet"))).slice(0, count).to_pylist()
    )
    return rows


def predict(name: str, model: Path, data: Path, out: Path, *more: object) -> list[dict[str, Any]]:
    arguments = ["eval", "run", name, "--model", model, "--data", data, "--out", out, "--device", "cpu", *more]
    done = subprocess.run(
        [Path(sys.executable).with_name("hannun"), *map(str, arguments)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def on_white(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data)).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


def first_token_probabilities(folder: Path, text: str, data: bytes) -> Any:
    """Of every token, computed alone and with nothing of the product's."""
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    message = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}]
    prompt = processor.apply_chat_template(message, add_generation_prompt=True)
    inputs = processor(text=prompt, images=on_white(data), return_tensors="pt")
    with torch.no_grad():
        return torch.softmax(model(**inputs).logits[0, -1].double(), -1), processor.tokenizer


def sides(tokenizer: Any, yes: set[str], no: set[str]) -> tuple[list[int], list[int]]:
    texts = [tokenizer.decode([token_id]).strip().lower() for token_id in range(len(tokenizer))]
    return [at for at, text in enumerate(texts) if text in yes], [at for at, text in enumerate(texts) if text in no]


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [("ko", {"예", "네"}, {"아니오", "아니요", "아니"}), ("en", {"yes"}, {"no"})],
)
def test_yes_and_no_equal_a_direct_computation(
    models: dict[str, Path], built_all: dict[str, Path], tmp_path: Path, language: str, yes: set[str], no: set[str]
) -> None:
    name, folder, config = {"ko": ("kona", "kona", "original"), "en": ("sage", "sage", "verse-spis")}[language]
    out = tmp_path / "p.jsonl"
    by_id = {e["id"]: e for e in predict(name, models["vlm"], built_all[folder], out, "--config", config, "--limit", 2)}
    prompt = selection_prompts(language).context
    for row in kona(built_all[folder], config, 2):
        text = prompt.filled({"target": row["target"], "context": row["context"]})
        for place_, cell in enumerate(row["images"]):
            probabilities, tokenizer = first_token_probabilities(models["vlm"], text, cell["bytes"])
            of_yes, of_no = (float(probabilities[ids].sum()) for ids in sides(tokenizer, yes, no))
            line = by_id[row["id"]]
            assert line["scores"][place_] == pytest.approx(of_yes / (of_yes + of_no), rel=1e-4)
            assert line["mass"][place_] == pytest.approx(of_yes + of_no, rel=1e-4)
    assert len(by_id) == 2


@pytest.mark.parametrize("model", ["clip", "vlm"])
def test_batches_of_one_and_eight_give_the_same(
    models: dict[str, Path], built_once: Path, tmp_path: Path, model: str
) -> None:
    one, eight = (
        predict(
            "kona",
            models[model],
            built_once,
            tmp_path / f"{size}.jsonl",
            "--config",
            "original",
            "--limit",
            4,
            "--batch-size",
            size,
        )
        for size in (1, 8)
    )
    assert [each["id"] for each in one] == [each["id"] for each in eight]
    for a, b in zip(one, eight, strict=True):
        assert a["scores"] == pytest.approx(b["scores"], abs=1e-5)
        assert len({round(score, 7) for score in a["scores"]}) > 5, "scores tell candidates apart"


def test_similarities_equal_a_direct_computation(models: dict[str, Path], built_once: Path, tmp_path: Path) -> None:
    lines = predict("kona", models["clip"], built_once, tmp_path / "p.jsonl", "--config", "explicit", "--limit", 3)
    processor = transformers.AutoProcessor.from_pretrained(models["clip"])
    model = transformers.AutoModel.from_pretrained(models["clip"])
    for row, line in zip(kona(built_once, "explicit", 3), lines, strict=True):
        assert line["id"] == row["id"]
        images = [on_white(cell["bytes"]) for cell in row["images"]]
        inputs = processor(
            text=[row["context"]],
            images=images,
            return_tensors="pt",
            padding="max_length",
            truncation=True,
            max_length=77,
        )
        with torch.no_grad():
            whole = model(**inputs)
        # What CLIP itself calls logits is the similarity times its scale.
        expected = (whole.logits_per_text[0] / model.logit_scale.exp()).tolist()
        assert line["scores"] == pytest.approx(expected, abs=1e-5)
        assert line["made"]["interface"] == "similarity"


def test_a_picture_is_embedded_once(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = DualEncoder(load(str(models["clip"]), CPU), batch_size=4, side=64)
    embedded: list[int] = []
    of_pictures = encoder._pictures
    monkeypatch.setattr(encoder, "_pictures", lambda images: embedded.append(len(images)) or of_pictures(images))
    pictures = [(f"img:{n}", questions.png((n * 20, 0, 0), (30, 30))) for n in range(6)]
    first = encoder.similarities("배", pictures)
    assert encoder.similarities("배", pictures[::-1]) == pytest.approx(first[::-1], abs=1e-6)
    assert embedded == [4, 2]


def test_constraints_are_the_mean_over_the_axes_that_apply(
    models: dict[str, Path], built_once: Path, tmp_path: Path
) -> None:
    rows = kona(built_once, "original", 2)
    asked = [{"object": "배가 있나요?", "attribute": None, "state": "물 위에 있나요?"}, {"object": "배가 있나요?"}]
    file = tmp_path / "c.jsonl"
    file.write_text(
        "".join(json.dumps({"id": row["id"], **each}) + "\n" for row, each in zip(rows, asked, strict=True)), "utf-8"
    )
    lines = predict(
        "kona",
        models["vlm"],
        built_once,
        tmp_path / "p.jsonl",
        "--config",
        "original",
        "--limit",
        2,
        "--constraints",
        file,
    )
    assert list(lines[0]["axes"]) == ["object", "state"]
    assert list(lines[1]["axes"]) == ["object"]
    assert lines[0]["model"].endswith("(constraints)")
    prompt = selection_prompts("ko").constraint
    for row, line, questions_ in zip(rows, lines, asked, strict=True):
        for place_ in (0, 9):
            found = []
            for text in (each for each in questions_.values() if each):
                probabilities, tokenizer = first_token_probabilities(
                    models["vlm"], prompt.filled({"question": text}), row["images"][place_]["bytes"]
                )
                yes, no = (
                    float(probabilities[ids].sum())
                    for ids in sides(tokenizer, {"예", "네"}, {"아니오", "아니요", "아니"})
                )
                found.append(yes / (yes + no))
            assert line["scores"][place_] == pytest.approx(sum(found) / len(found), rel=1e-4)


def chat_model(folder: Path, batch_size: int = 4) -> ChatModel:
    return ChatModel(load(str(folder), CPU), batch_size=batch_size, side=64)


def replies(model: ChatModel, turns: Iterable[Turn], sampling: Sampling) -> list[Any]:
    done = list(model.answers(enumerate(turns), sampling))
    assert [each.key for each in done] == list(range(len(done)))
    return [each.value for each in done]


TURNS = [
    Turn("짧은 글", (questions.png((200, 0, 0), (30, 20)),)),
    Turn(
        "훨씬 더 긴 글입니다. 무엇이 보이나요? " * 4,
        (questions.png((0, 0, 200), (20, 30)), questions.png((0, 200, 0), (20, 20))),
    ),
    Turn("그림 없는 글"),
    Turn("Yes", (questions.png((9, 9, 9), (8, 8)),)),
    Turn("예", (questions.png((90, 9, 9), (8, 8)),)),
]


def test_greedy_answers_do_not_depend_on_the_batch(models: dict[str, Path]) -> None:
    greedy = Sampling(0.0, 1.0, 12)
    alone = replies(chat_model(models["vlm"], 1), TURNS, greedy)
    assert alone == replies(chat_model(models["vlm"], 4), TURNS, greedy)
    assert len({each.text for each in alone}) == len(TURNS)


def test_a_greedy_answer_equals_a_direct_one(models: dict[str, Path]) -> None:
    processor = transformers.AutoProcessor.from_pretrained(models["vlm"])
    model = transformers.AutoModelForImageTextToText.from_pretrained(models["vlm"], dtype=torch.float32)
    message = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": TURNS[0].text}]}]
    prompt = processor.apply_chat_template(message, add_generation_prompt=True)
    inputs = processor(text=prompt, images=on_white(TURNS[0].pictures[0]), return_tensors="pt")
    ids = model.generate(**inputs, do_sample=False, max_new_tokens=12)[0, inputs["input_ids"].shape[1] :]
    [reply] = replies(chat_model(models["vlm"]), TURNS[:1], Sampling(0.0, 1.0, 12))
    assert reply.text == processor.tokenizer.decode(ids, skip_special_tokens=True)
    assert reply.cut is (processor.tokenizer.eos_token_id not in ids.tolist())


def test_sampling_is_repeatable_and_follows_its_seed(models: dict[str, Path]) -> None:
    model = chat_model(models["judge"])
    turns = [Turn("가나다"), Turn("라마바")]
    first, again, other = (replies(model, turns, Sampling(1.0, 0.95, 16, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_text_model_sees_no_picture(models: dict[str, Path]) -> None:
    done = replies(chat_model(models["judge"]), [TURNS[0], TURNS[2]], Sampling(0.0, 1.0, 4))
    assert done[0] == Refused("the model reads texts only")
    assert isinstance(done[1], Reply)


def test_what_is_no_picture_is_refused_alone(models: dict[str, Path]) -> None:
    turns = [Turn("a", (b"<html>",)), TURNS[3]]
    done = replies(chat_model(models["vlm"]), turns, Sampling(0.0, 1.0, 4))
    assert isinstance(done[0], Refused)
    assert isinstance(done[1], Reply)


def test_kinds_and_revision(models: dict[str, Path], tmp_path: Path) -> None:
    kinds = {name: load(str(folder), CPU) for name, folder in models.items()}
    assert {name: each.kind for name, each in kinds.items()} == {
        "clip": Kind.DUAL_ENCODER, "vlm": Kind.VISION_LANGUAGE, "judge": Kind.TEXT,
    }  # fmt: skip
    other = tiny_models.causal(tmp_path / "other", seed=9)
    assert load(str(other), CPU).revision != kinds["judge"].revision
    assert load(str(models["judge"]), CPU).revision == kinds["judge"].revision


@pytest.mark.parametrize(
    ("name", "model", "said"),
    [
        ("kona", "judge", "reads texts only"), ("koffvqa", "clip", "answers nothing"), ("kona", "nowhere", "cannot be loaded"),
        ("kona", "/nowhere", "no such folder"), ("kona", "broken", "cannot be loaded"), ("kona", "bert", "of a kind that is not run here"),
    ],
)  # fmt: skip
def test_models_that_do_not_fit(
    run: Run, models: dict[str, Path], built_once: Path, tmp_path: Path, name: str, model: str, said: str
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", "utf-8")
    (tmp_path / "bert").mkdir()
    transformers.BertConfig(architectures=["BertModel"]).save_pretrained(tmp_path / "bert")
    rows = questions.koffvqa_rows()
    data = built_once if name == "kona" else questions.build(tmp_path / "k", rows, questions.pictures_of(rows))
    named = models.get(model) or (tmp_path / model if model in ("broken", "bert") else model)
    done = run("hannun", "eval", "run", name, "--model", named, "--data", data, "--out", tmp_path / "p.jsonl")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "p.jsonl").exists()


def test_a_vocabulary_that_writes_a_side_in_pieces() -> None:
    vocabulary = ["<pad>", "Yes", " yes", "n", "o", "아", "니오", "예"]

    def encode(text: str) -> Sequence[int]:
        return [3, 4] if text.lower() == "no" else [5, 6] if text.startswith("아") else [7]

    found = yes_no_tokens(vocabulary, encode, "en")
    assert (found.yes, found.no, found.partial) == ((1, 2), (3,), ("no",))
    found = yes_no_tokens(vocabulary, encode, "ko")
    assert (found.yes, found.no, found.partial) == ((7,), (5,), ("no",))


def test_a_vocabulary_that_does_not_tell_the_sides_apart() -> None:
    # Bytes of 예 and of 아니오 begin alike.
    with pytest.raises(InputError, match="does not tell yes from no"):
        yes_no_tokens(["\ufffd", "\ufffd"], lambda _: [0, 1], "ko")


def test_no_gpu_where_one_is_asked_for() -> None:
    if torch.cuda.is_available():
        pytest.skip("a GPU is at hand")
    with pytest.raises(InputError, match="no GPU"):
        place("cuda", "auto")
    assert place("auto", "auto") == CPU


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is at hand")
@pytest.mark.parametrize("model", ["clip", "vlm"])
def test_on_a_gpu_the_order_is_that_of_the_cpu(
    models: dict[str, Path], built_once: Path, tmp_path: Path, model: str
) -> None:
    options = ("--config", "original", "--limit", 20)
    on_cpu = predict("kona", models[model], built_once, tmp_path / "cpu.jsonl", *options)
    on_gpu = predict("kona", models[model], built_once, tmp_path / "gpu.jsonl", *options, "--device", "cuda")
    assert on_gpu[0]["made"]["settings"]["dtype"] == "bfloat16"
    for a, b in zip(on_cpu, on_gpu, strict=True):
        assert a["scores"] == pytest.approx(b["scores"], abs=0.02)


@pytest.mark.parametrize("name", ["kona", "sage", "koffvqa", "haerae-vision"])
def test_from_a_run_that_is_killed_to_the_score(
    run: Run, models: dict[str, Path], built_all: dict[str, Path], tmp_path: Path, name: str
) -> None:
    data, out = built_all[name], tmp_path / "preds.jsonl"
    model = models["clip" if name == "sage" else "vlm"]
    options = ["--max-tokens", "8", "--sampling", "greedy", "--batch-size", "1", "--limit", "12"]
    arguments = ["eval", "run", name, "--model", model, "--data", data, "--out", out, *options]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("hannun"), *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not out.exists() or out.read_bytes().count(b"\n") < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None or out.exists()
        time.sleep(0.002)
    process.kill()
    process.wait()
    before = [json.loads(line)["id"] for line in out.read_bytes().split(b"\n")[:-1]]
    done = run("hannun", *arguments)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    ids = [each["id"] for each in lines]
    assert ids[: len(before)] == before
    assert len(ids) == len(set(ids))
    if name in ("koffvqa", "haerae-vision"):
        judged = tmp_path / "judged.jsonl"
        done = run(
            "hannun",
            "eval",
            "judge",
            name,
            out,
            "--judge",
            models["judge"],
            "--data",
            data,
            "--max-tokens",
            8,
            "--out",
            judged,
        )
        assert done.returncode == 0, done.stderr
        out = judged
        assert len(judged.read_text("utf-8").splitlines()) == len(ids)
    scored = run("hannun", "eval", "score", name, out, "--data", data, "--json")
    assert scored.returncode == 0, scored.stderr
    states = [row["state"] for row in json.loads(scored.stdout)["rows"] if row["id"] in ids]
    assert len(states) == len(ids)
    assert "missing" not in states


def test_the_library_s_own_talk_is_not_printed(
    run: Run, models: dict[str, Path], built_once: Path, tmp_path: Path
) -> None:
    env = {name: value for name, value in os.environ.items() if name != "TRANSFORMERS_VERBOSITY"}
    done = run(
        "hannun",
        "eval",
        "run",
        "kona",
        "--model",
        models["vlm"],
        "--data",
        built_once,
        "--limit",
        1,
        "--config",
        "original",
        "--out",
        tmp_path / "p.jsonl",
        "--quiet",
        env=env,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
