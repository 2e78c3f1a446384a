"""The built folder and every way of loading it, with the `datasets` at hand; tests/versions.py has the others."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hannun.builders import features
from hannun.builders.folder import write_splits
from hannun.builders.layout import Layout, table_features
from hannun.schemas import catalogue, json_schema
from hannun.schemas.digest import digests_of
from pictures import png


def python(code: str, *arguments: object, cwd: Path | None = None, **environment: str) -> str:
    import os

    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_features_follow_the_schema() -> None:
    described = features.feature_dict("kona")
    assert described["images"] == [{"_type": "Image"}]
    assert described["target_span"] == [{"dtype": "int64", "_type": "Value"}]
    assert described["source"]["noun"] == {"dtype": "string", "_type": "Value"}
    assert set(described) == set(json_schema.merged_properties("kona"))
    schema = features.arrow_schema(described)
    assert schema.field("images").type == pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    assert json.loads(schema.metadata[b"huggingface"])["info"]["features"] == described
    assert schema == features.features("kona").arrow_schema


@pytest.mark.parametrize(
    "schema",
    [{}, {"type": ["string", "integer"]}, {"type": "array"}, {"type": "object"}, {"enum": ["a"]}, {"type": "null"}],
)
def test_what_the_mapping_does_not_know_is_an_error(monkeypatch: pytest.MonkeyPatch, schema: dict) -> None:
    monkeypatch.setattr(features, "merged_properties", lambda _: {"x": schema})
    with pytest.raises(ValueError, match=r"r\.x: no feature"):
        features.feature_dict("r")


def test_row_groups_are_cut_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hannun.builders import folder

    monkeypatch.setattr(folder, "GROUP_BYTES", 50_000)
    monkeypatch.setattr(folder, "SHARD_BYTES", 120_000)

    def records(config: str, split: str) -> list[dict]:
        if (config, split) != ("original", "test"):
            return []
        cell = {"bytes": b"x" * 2_000, "path": "x.png"}
        return [
            {
                "id": f"kona/original/{n}", "split": "test", "context": "배", "target": "배", "target_span": [0, 1],
                "candidates": [], "label": 0, "spares": [], "images": [cell] * 10,
                "source": {"item": "i", "noun": "배", "sense": "s", "gloss": "g"},
            }
            for n in range(13)
        ]  # fmt: skip

    kona = catalogue.benchmark("kona")
    splits = {config.name: config.splits for config in kona.configs}
    sizes = write_splits(tmp_path, splits, table_features(kona, Layout.EMBEDDED), records)
    files = sorted(tmp_path.glob("original/*"))
    assert [path.name for path in files] == [f"test-{n:05d}-of-00003.parquet" for n in range(3)]
    assert sizes == {"original": {"test": sizes["original"]["test"]}}
    assert sizes["original"]["test"].rows == 13
    groups = [
        pq.ParquetFile(path).metadata.row_group(n).num_rows
        for path in files
        for n in range(pq.ParquetFile(path).num_row_groups)
    ]
    assert sum(groups) == 13
    assert max(groups) == 2


def test_the_folder_is_self_contained_and_says_what_it_is(built_once: Path) -> None:
    names = {path.name for path in built_once.iterdir()}
    expected = {
        "README.md",
        "recipe.json",
        "instances.jsonl",
        "images.lock.jsonl",
        "substitutions.jsonl",
        "sample.webp",
    }
    if importlib.util.find_spec("mlcroissant") is not None:
        expected.add("croissant.json")
    assert names == expected | {"plan", "original", "explicit", "neutralized"}
    card = (built_once / "README.md").read_text("utf-8")
    assert "no earlier paper" in card
    assert "CC BY 4.0" in card
    assert "&id" not in card
    locked = [json.loads(line) for line in (built_once / "images.lock.jsonl").read_text().splitlines()]
    assert all(entry["digests"]["sha256"] and entry["pixels"] and entry["width"] == 72 for entry in locked)
    assert not [each for entry in locked for each in json_schema.problems("lock", entry)]
    plan = (built_once / "plan" / "images.lock.jsonl").read_text()
    assert '"pixels":null' in plan
    for line in (built_once / "plan" / "observed.jsonl").read_text().splitlines():
        assert json_schema.problems("observed", json.loads(line)) == []
    report = json.loads((built_once / "plan" / "report.json").read_text())
    assert json_schema.problems("report", report) == []
    assert report["counts"]["outcomes"] == {"exact": report["counts"]["images"]}
    assert json_schema.problems("recipe", json.loads((built_once / "recipe.json").read_text())) == []


def test_load_dataset_by_path_gives_what_was_put_in(built_once: Path) -> None:
    out = python(
        """
        import json, sys
        from datasets import Image, load_dataset
        for config in ("original", "explicit", "neutralized"):
            for split in ("validation", "test"):
                rows = load_dataset(sys.argv[1], config, split=split)
                for row in rows.with_format("arrow"):
                    for each in row.to_pylist():
                        print(json.dumps(each, default=lambda value: value.hex()))
        picture = load_dataset(sys.argv[1], split="test")[0]["images"][0]
        assert picture.size == (72, 72), picture
        streamed = next(iter(load_dataset(sys.argv[1], "explicit", split="test", streaming=True)))
        assert len(streamed["images"]) == 10
        """,
        built_once,
    )
    loaded = {row["id"]: row for row in map(json.loads, out.splitlines())}
    written = [json.loads(line) for line in (built_once / "instances.jsonl").read_text("utf-8").splitlines()]
    locked = {}
    for line in (built_once / "images.lock.jsonl").read_text().splitlines():
        entry = json.loads(line)
        locked[entry["image_id"]] = entry["digests"]["sha256"]
    assert len(loaded) == len(written)
    for row in written:
        images = loaded[row["id"]].pop("images")
        assert loaded[row["id"]] == row
        digests = [digests_of(bytes.fromhex(image["bytes"]))["sha256"] for image in images]
        assert digests == [locked[candidate["image_id"]] for candidate in row["candidates"]]
        assert all("/" not in image["path"] for image in images)


def test_hannun_loads_by_name_and_by_path(tmp_path: Path) -> None:
    out = python(
        """
        import sys
        import hannun
        assert "datasets" not in sys.modules and "pyarrow" not in sys.modules
        path = hannun.path("kona")
        assert isinstance(path, str)
        rows = hannun.load_dataset("kona", "explicit", split="validation")
        print(path, len(rows), rows[0]["id"])
        try:
            hannun.load_dataset("kono")
        except Exception as error:
            print(type(error).__name__, error)
        """,
        HANNUN_HOME=str(tmp_path / "home"),
    )
    first, *rest = out.splitlines()
    assert first.startswith(str(tmp_path / "home" / "built" / "kona"))
    assert "kona/explicit/" in first
    assert rest[0] == "InputError no benchmark named 'kono'"


def test_datasets_loads_by_name_offline_from_an_empty_folder(tmp_path: Path, run) -> None:
    import os

    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HANNUN_HOME": str(tmp_path / "home")}
    built = run("hannun", "build", "kona", "--quiet", env=environment)
    assert built.returncode == 0, built.stderr
    code = """
        from datasets import load_dataset
        rows = load_dataset("hannun/kona", "original", split="test")
        assert all(image.size == (72, 72) for row in rows for image in row["images"])
        print([[candidate["image_id"] for candidate in row["candidates"]] for row in rows])
    """
    (tmp_path / "empty").mkdir()
    # A file of a picture's name must not take the place of its bytes.
    (tmp_path / "empty" / "1f350.png").write_bytes(png())
    offline = {"cwd": tmp_path / "empty", "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    first = python(code, **offline)
    # A build of other content takes its place; the first content, built again, wins it back.
    other = run("hannun", "build", "kona", "--quiet", "--out", tmp_path / "b", "--set", "seed=7", env=environment)
    assert other.returncode == 0, other.stderr
    assert python(code, **offline) != first
    assert run("hannun", "build", "kona", "--quiet", env=environment).returncode == 0
    assert python(code, **offline) == first


def test_a_build_replaces_a_build_and_keeps_its_plan(built: Path, run) -> None:
    before = (built / "README.md").read_text()
    (built / "original" / "stale-00000-of-00001.parquet").write_bytes(b"old")
    (built / "README.md").unlink()
    again = run("sage-reconstruct", "run", "kona", "--out", built)
    assert again.returncode == 0, again.stderr
    assert (built / "README.md").read_text() == before
    assert not (built / "original" / "stale-00000-of-00001.parquet").exists()
    assert [path.name for path in built.parent.iterdir() if path.name.startswith(".")] == []
