"""croissant.json of every benchmark, read by mlcroissant; skipped where the extra is not installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from builds import CONFIGS
from hannun.cards import croissant
from hannun.cards.facts import read_facts
from hannun.schemas.digest import digests_of_file
from hannun.schemas.errors import InputError

mlc = pytest.importorskip("mlcroissant", reason="mlcroissant (the extra croissant) is not installed")


@pytest.mark.parametrize("name", CONFIGS)
def test_the_first_row_of_every_config_is_read_with_its_pictures(built_all: dict[str, Path], name: str) -> None:
    folder = built_all[name]
    read = mlc.Dataset(jsonld=str(folder / "croissant.json"))
    assert list(read.metadata.issues.errors) == []
    files = {each.content_url: each.sha256 for each in read.metadata.distribution if hasattr(each, "sha256")}
    assert len([each for each in files if each.endswith(".parquet")]) == len(list(folder.glob("*/*.parquet")))
    assert files == {each: digests_of_file(folder / each, ["sha256"])["sha256"] for each in files}
    assert {"recipe.json", "images.lock.jsonl"} <= files.keys()
    assert [each.id for each in read.metadata.record_sets] == CONFIGS[name]
    for config in CONFIGS[name]:
        row = next(iter(read.records(config)))
        first = pq.read_table(min((folder / config).glob("*.parquet"))).slice(0, 1).to_pylist()[0]
        assert {key.partition("/")[2] for key in row} == set(first)
        for column, value in first.items():
            got = row[f"{config}/{column}"]
            if column in ("image", "images"):
                cells = value if isinstance(value, list) else [value]
                pictures = got if isinstance(got, list) else [got]
                assert len(pictures) == len(cells)
                assert all(picture.width > 0 and picture.format for picture in pictures)
            elif isinstance(value, str):
                assert got.decode() == value
            elif isinstance(value, (int, type(None))):
                assert got == value


def test_another_file_is_found(built_all: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    facts = read_facts(folder)
    assert list(croissant.stale_croissant(folder, facts)) == []
    config = "explicit-noto"
    path = folder / config / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path), path, compression="gzip")
    [stale] = croissant.stale_croissant(folder, facts)
    assert stale.what == f"croissant.json: {config}/{path.name}"
    assert stale.folder == digests_of_file(path, ["sha256"])["sha256"]
    # mlcroissant refuses it too.
    with pytest.raises(Exception, match="Download"):
        next(iter(mlc.Dataset(jsonld=str(folder / "croissant.json")).records(config)))
    croissant.write_croissant(folder, facts)
    assert list(croissant.stale_croissant(folder, facts)) == []


def _without_config(document: dict[str, Any]) -> None:
    document["recordSet"].pop()


def _without_file(document: dict[str, Any]) -> None:
    document["distribution"] = [each for each in document["distribution"] if each["@id"] != "recipe.json"]


def _of_another_kind(document: dict[str, Any]) -> None:
    del document["recordSet"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_without_config, "croissant.json: config neutralized-noto"),
        (_without_file, "croissant.json: recipe.json"),
        (_of_another_kind, "croissant.json"),
    ],
)
def test_a_description_that_lacks_something_is_stale(
    built_all: dict[str, Path], tmp_path: Path, change: Callable[[dict[str, Any]], None], what: str
) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    document = json.loads((folder / "croissant.json").read_text())
    change(document)
    (folder / "croissant.json").write_text(json.dumps(document))
    facts = read_facts(folder)
    assert [each.what for each in croissant.stale_croissant(folder, facts)] == [what]
    (folder / "croissant.json").unlink()
    assert list(croissant.stale_croissant(folder, facts)) == []
    [demanded] = croissant.stale_croissant(folder, facts, demanded=True)
    assert demanded.card == "not there"


def test_without_the_extra_it_is_explained(
    built_all: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(croissant, "is_installed", lambda: False)
    with pytest.raises(InputError, match="needs mlcroissant") as caught:
        croissant.write_croissant(tmp_path, read_facts(built_all["kona-noto"]))
    assert caught.value.todo == "pip install 'hannun[croissant]'"
