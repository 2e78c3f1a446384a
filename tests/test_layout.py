"""The layout by-id: instances that name their pictures, and each picture once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hannun.builders.built import built_pictures
from hannun.schemas.digest import digests_of
from hannun.validate.target import validate


@pytest.fixture(scope="module")
def by_id_once(built_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A KoNA in the layout by-id that no test may change."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("by-id") / "kona"
    program = Path(sys.executable).with_name("sage-reconstruct")
    subprocess.run([program, "run", "kona", "--out", folder, "--layout", "by-id", "--quiet"], check=True)
    return folder


@pytest.fixture
def by_id(by_id_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(by_id_once, tmp_path / "kona")


def test_both_layouts_hold_the_same_rows_and_pictures(built_once: Path, by_id_once: Path, tmp_path: Path) -> None:
    import datasets

    for name in ("instances.jsonl", "images.lock.jsonl", "recipe.json"):
        assert (built_once / name).read_bytes() == (by_id_once / name).read_bytes()
    pictures = datasets.load_dataset(str(by_id_once), "images", split="test", cache_dir=str(tmp_path))
    place = {image_id: number for number, image_id in enumerate(pictures["image_id"])}
    raw = pictures.cast_column("image", datasets.Image(decode=False))
    locked = {
        entry["image_id"]: entry
        for entry in map(json.loads, (by_id_once / "images.lock.jsonl").read_text().splitlines())
    }
    assert set(place) == set(locked)
    for row in raw:
        assert digests_of(row["image"]["bytes"])["sha256"] == locked[row["image_id"]]["digests"]["sha256"]
        assert row["licence"] == "CC-BY-4.0"
        assert row["attribution"] == locked[row["image_id"]]["attribution"]
    for config in ("original", "explicit", "neutralized"):
        for split in ("validation", "test"):
            rows = datasets.load_dataset(str(by_id_once), config, split=split, cache_dir=str(tmp_path))
            embedded = datasets.load_dataset(str(built_once), config, split=split, cache_dir=str(tmp_path))
            assert rows.to_list() == embedded.remove_columns("images").to_list()
            assert all(candidate["image_id"] in place for row in rows for candidate in row["candidates"])
    assert pictures[0]["image"].size == (72, 72)
    size = {
        folder: sum(path.stat().st_size for path in folder.glob("*/*.parquet")) for folder in (built_once, by_id_once)
    }
    assert size[by_id_once] * 3 < size[built_once]


def test_the_card_says_how_rows_find_their_pictures(by_id_once: Path, tmp_path: Path) -> None:
    card = (by_id_once / "README.md").read_text("utf-8")
    assert "Every picture once" in card
    blocks = [block.partition("```")[0] for block in card.split("```python\n")]
    program = next(each for each in blocks if "PATH_OF" in each).replace("PATH_OF_THIS_FOLDER", str(by_id_once))
    held: dict[str, Any] = {}
    exec(program, held)
    assert [picture.size for picture in held["first_row"]] == [(72, 72)] * 10


def test_an_undamaged_folder_has_nothing_to_say(by_id_once: Path) -> None:
    result = validate(str(by_id_once))
    assert result.findings == []
    assert result.rows == 378 * 3


def test_pages_and_builds_read_it(by_id: Path, built_once: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    for folder, out in ((by_id, "a.html"), (built_once, "b.html")):
        done = run("hannun", "gallery", folder, "--out", tmp_path / out, "--store", tmp_path / "empty")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    # The other layout takes its place whole.
    assert run("sage-reconstruct", "run", "kona", "--out", by_id).returncode == 0
    assert dict(built_pictures(by_id)) == dict(built_pictures(built_once))
    assert validate(str(by_id)).findings == []


def images_table(folder: Path) -> Path:
    [path] = (folder / "images").glob("*.parquet")
    return path


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> str:
    """Change the rows of the table of pictures; the image id of its sixth one."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    named = str(rows[5]["image_id"])
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    return named


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda rows: rows.pop(5), {"HN-IMG-008", "HN-CARD-002"}),
        (lambda rows: rows.append(dict(rows[5])), {"HN-ROW-001", "HN-CARD-002"}),
        (lambda rows: rows[5].update(image_id="twemoji:none"), {"HN-IMG-008", "HN-IMG-004"}),
        (lambda rows: rows[5]["image"].update(bytes=rows[6]["image"]["bytes"]), {"HN-IMG-003"}),
        (lambda rows: rows[5]["image"].update(bytes=rows[5]["image"]["bytes"][:99]), {"HN-IMG-002"}),
        (lambda rows: rows[5].update(image=None), {"HN-IMG-001"}),
        (lambda rows: rows[5].update(image_id="no id"), {"HN-SCH-001", "HN-IMG-004", "HN-IMG-008"}),
    ],
)
def test_damage_to_the_pictures_is_found(by_id: Path, change: Callable[..., Any], codes: set[str]) -> None:
    rewrite(images_table(by_id), change)
    found = validate(str(by_id)).findings
    assert {each.rule.code for each in found} == codes


def test_a_missing_table_of_pictures_is_found(by_id: Path) -> None:
    images_table(by_id).unlink()
    assert "HN-FILE-004" in {each.rule.code for each in validate(str(by_id)).findings}
    (by_id / "images").rmdir()
    assert "HN-FILE-004" in {each.rule.code for each in validate(str(by_id)).findings}


def test_it_is_kept_beside_the_embedded_one(run: Callable[..., Any], tmp_path: Path) -> None:
    import os

    environment = {**os.environ, "HANNUN_HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf")}
    done = run("hannun", "build", "kona", "--layout", "by-id", env=environment)
    assert done.returncode == 0, done.stderr
    assert "by name" not in done.stdout
    assert (tmp_path / "home" / "built" / "kona-by-id" / "images").is_dir()
    assert not (tmp_path / "home" / "built" / "kona").exists()
