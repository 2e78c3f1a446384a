"""SAGE's nouns: small files in the true layout, the real ones where they are at hand, and a whole run."""

from __future__ import annotations

import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.download import downloaded
from hannun.reconstruct.recipes.sage_vwsd import plan
from hannun.reconstruct.source import Source
from hannun.reconstruct.transfer import Reach
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError, SourceError
from hannun.schemas.plan import Planned
from hannun.validate.target import validate
from loopback import Answer, serving
from pictures import jpeg, png

VWSD = catalogue.benchmark("sage-vwsd")
REAL = Path(__file__).parents[2] / "shared" / "data" / "vwsd_test"
WORDS = ("torch", "goal", "Bank", "pitch")


def files(rows: int = 24) -> tuple[str, str]:
    """Data and gold in the task's layout: no header, tabs, one gold a line, extensions of several kinds."""
    rng = random.Random(rows)
    data, gold = [], []
    for row in range(rows):
        kinds = ("jpg", "png", "JPG", "jpeg")
        images = [f"image.{number}.{kinds[number % 4]}" for number in rng.sample(range(60), 10)]
        word = WORDS[row % len(WORDS)]
        data.append("\t".join([word, f"{'wild' if row % 2 else 'old'} {word.lower()} {row}", *images]))
        gold.append(images[row % 10])
    return "\n".join(data) + "\n", "\n".join(gold) + "\n"


def planned(data: str, gold: str) -> Planned:
    sources = {
        name: Source(name, f"{name}.txt", text.encode()) for name, text in (("vwsd-data", data), ("vwsd-gold", gold))
    }
    return plan(VWSD, sources, {"seed": 1})


def test_rows_are_the_tasks_own() -> None:
    data, gold = files()
    result = planned(data, gold)
    assert len(result.rows) == 24
    by_id = {row.id: row for row in result.rows}
    for number, (line, right) in enumerate(zip(data.splitlines(), gold.splitlines(), strict=True)):
        row, fields = by_id[f"sage/vwsd/{number}"], line.split("\t")
        assert row.context == fields[1]
        assert [c.image_id for c in row.candidates] == [f"vwsd:{name}" for name in fields[2:]]
        assert row.gold == f"vwsd:{right}"
        assert row.context[slice(*row.target_span)] == row.target
        assert row.target.lower() == fields[0].lower()
        assert Counter(c.kind for c in row.candidates) == {"gold": 1, "given": 9}
        assert {key: value for key, value in row.source.items() if value is not None} == {
            "row": number,
            "lemma": fields[0],
        }
        assert row.spares == ()
    assert all(entry.locations == (f"archive:vwsd-images!{entry.image_id[5:]}",) for entry in result.images)


def test_line_ends_marks_and_decomposed_names_make_no_difference() -> None:
    data, gold = files()
    assert planned("\ufeff" + data.replace("\n", "\r\n"), gold.replace("\n", "\r\n")) == planned(data, gold)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data, gold: (data, gold.partition("\n")[2]), "not as many lines"),
        (lambda data, gold: (data.replace("\timage", " image", 1), gold), "line 1"),
        (lambda data, gold: (data, gold.replace("image", "picture", 1)), "not one of the candidates"),
        (lambda data, gold: ("goal" + data[5:], gold), "no word of its phrase"),
        (lambda data, gold: ("", ""), "an empty file"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    change: Callable[[str, str], tuple[str, str]], says: str, tmp_path: Path
) -> None:
    from hannun.pipeline import PlanRequest, make_plan

    given = {}
    for name, text in zip(("vwsd-data", "vwsd-gold"), change(*files()), strict=True):
        given[name] = tmp_path / f"{name}.txt"
        given[name].write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        make_plan(PlanRequest("sage-vwsd", given), tmp_path / "plan")
    assert says in str(caught.value)


def test_the_real_files_give_what_is_known_of_them(run: Callable[..., Any], tmp_path: Path) -> None:
    if not REAL.is_dir():
        pytest.skip("shared/data/vwsd_test is not at hand")
    made = run(
        "sage-reconstruct", "plan", "sage-vwsd", "--out", tmp_path / "plan",
        "--source", f"vwsd-data={REAL / 'en.test.data.v1.1.txt'}", "--source", f"vwsd-gold={REAL / 'en.test.gold.v1.1.txt'}",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "463 instances, 4,090 distinct images, 0 dropped" in made.stdout
    rows = [json.loads(line) for line in (tmp_path / "plan" / "instances.jsonl").read_text("utf-8").splitlines()]
    assert next(row for row in rows if row["source"]["row"] == 129)["context"] == "wild torch"
    recipe = json.loads((tmp_path / "plan" / "recipe.json").read_text())
    assert {each["name"]: each["digest"] for each in recipe["sources"]} == {
        name: VWSD.sources[name].digest for name in ("vwsd-data", "vwsd-gold")
    }
    assert [fact["value"] for fact in VWSD.facts] == [463, 4090]
    assert validate(str(tmp_path / "plan")).findings == []


def test_a_whole_run_from_a_zip(run: Callable[..., Any], tmp_path: Path) -> None:
    data, gold = files()
    (tmp_path / "data.txt").write_text(data)
    (tmp_path / "gold.txt").write_text(gold)
    names = sorted({name for line in data.splitlines() for name in line.split("\t")[2:]})
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        for number, name in enumerate(names[1:], 1):
            picture = png((number, 90, 9)) if name.endswith("png") else jpeg((number, 90, 9))
            archive.writestr(f"test_images_resized/{name}", picture)
    out = tmp_path / "built"
    arguments = ["run", "sage-vwsd", "--out", out, "--store", tmp_path / "store"]
    for name, file in (("data", "data.txt"), ("gold", "gold.txt"), ("images", "images.zip")):
        arguments += ["--source", f"vwsd-{name}={tmp_path / file}"]
    done = run("sage-reconstruct", *arguments)
    # One image is not in the zip: its rows are left out and listed, never filled up.
    without = [row for row, line in enumerate(data.splitlines()) if names[0] in line.split("\t")]
    assert done.returncode == 1, done.stderr
    assert f"dropped sage/vwsd/{without[0]}" in done.stdout
    checked = validate(str(out))
    assert [each.message for each in checked.findings] == []
    assert checked.rows == 24 - len(without)
    page = run("sage-reconstruct", "gallery", out)
    assert page.returncode == 0, page.stderr
    text = (out / "gallery.html").read_text("utf-8")
    assert text.count('<article class="item"') == 24 - len(without)
    assert 'value="near"' not in text
    import datasets

    rows = datasets.load_dataset(str(out), "vwsd", split="test", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == 24 - len(without)
    assert rows[0]["images"][rows[0]["label"]].size in ((64, 48), (12, 8))
    card = (out / "README.md").read_text("utf-8")
    assert "CC BY-NC 4.0" in card
    assert "not by an earlier paper" not in card


def test_a_source_is_downloaded_once_and_must_be_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from hannun.schemas.digest import digests_of

    monkeypatch.setenv("HANNUN_HOME", str(tmp_path / "home"))
    text = files()[0].encode()
    with serving() as server:
        reach = Reach(mirrors={"raw.githubusercontent.com": server.address})
        path = VWSD.sources["vwsd-data"].address.partition("githubusercontent.com")[2]
        server.answer(path, Answer(text))
        pinned = replace(VWSD.sources["vwsd-data"], digest="sha256:" + digests_of(text)["sha256"])
        for _ in range(2):
            assert downloaded(pinned, reach).path.read_bytes() == text
        assert server.count(path) == 1
        with pytest.raises(SourceError, match="could not be downloaded") as caught:
            downloaded(VWSD.sources["vwsd-data"], reach)
        assert caught.value.expected == VWSD.sources["vwsd-data"].digest
        assert "--source vwsd-data=PATH" in str(caught.value.todo)
        server.answer(path, Answer(status=404))
        with pytest.raises(SourceError, match="gone"):
            downloaded(VWSD.sources["vwsd-data"], reach)
