"""Exports: upstream's columns and nothing else, whole or not at all, and the same records when they are read again."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hannun.builders import export as exports
from hannun.builders.export import FORMATS, PUBLISHED, Format, export
from hannun.reconstruct.records import Records
from hannun.schemas.errors import InputError
from hannun.schemas.question import Question
from hannun.schemas.strict_json import dump_lines, dumps, loads
from pictures import jpeg
from questions import build, haerae_rows, koffvqa_rows, lines, pictures_of


@pytest.fixture(scope="module")
def koffvqa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built KOFFVQA of three questions that no test may change, one picture longer than csv's cells."""
    rows = koffvqa_rows()
    pictures = {**pictures_of(rows), "koffvqa:2": jpeg(size=(3000, 2400), quality=95)}
    assert len(base64.b64encode(pictures["koffvqa:2"])) > 131_072
    return build(tmp_path_factory.mktemp("koffvqa") / "built", rows, pictures)


@pytest.fixture(scope="module")
def haerae(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = haerae_rows()
    return build(tmp_path_factory.mktemp("haerae") / "built", rows, pictures_of(rows))


def as_upstream_reads(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def test_koffvqa_is_upstreams_table(koffvqa: Path, tmp_path: Path) -> None:
    path = export(koffvqa, "tsv", tmp_path / "KOFFVQA.tsv")
    rows = koffvqa_rows()
    assert path.read_bytes().startswith(b"index\timage\tquestion\tanswer\tcategory\n")
    read = as_upstream_reads(path)
    assert [row["index"] for row in read] == ["1", "2", "3"]
    assert [row["answer"] for row in read] == [row.record["criteria_raw"] for row in rows]
    assert [row["question"] for row in read] == [row.record["question"] for row in rows]
    held = pq.read_table(koffvqa / "default" / "test-00000-of-00001.parquet").to_pylist()
    assert [base64.b64decode(row["image"], validate=True) for row in read] == [row["image"]["bytes"] for row in held]


def test_plain_tables_are_quoted_as_csv_writes_them(koffvqa: Path, tmp_path: Path) -> None:
    data = export(koffvqa, "tsv", tmp_path / "t.tsv").read_bytes().decode()
    with io.StringIO(newline="") as stream:
        # With this line end csv quotes every CR and LF.
        writer = csv.writer(stream, delimiter="\t", lineterminator="\r\n")
        read = as_upstream_reads(tmp_path / "t.tsv")
        writer.writerow(read[0])
        writer.writerows(row.values() for row in read)
        # The one CR LF inside a cell stays.
        assert data.count("\r\n") == 1
        assert data.replace("\r\n", "\n") == stream.getvalue().replace("\r\n", "\n")


def test_a_lone_carriage_return_stays_in_its_cell(tmp_path: Path) -> None:
    rows = koffvqa_rows()[:1]
    rows = [Question(row.id, row.split, row.images, {**row.record, "criteria_raw": 'a\rb\t"c"\n'}) for row in rows]
    path = export(build(tmp_path / "k", rows, pictures_of(rows)), "tsv", tmp_path)
    assert as_upstream_reads(path)[0]["answer"] == 'a\rb\t"c"\n'
    assert path.name == "koffvqa-default.tsv"


def test_haerae_vision_is_upstreams_parquet(haerae: Path, tmp_path: Path) -> None:
    path = export(haerae, "parquet", tmp_path / "data.parquet")
    table = pq.read_table(path)
    assert table.column_names == [
        "question_idx", "question_original", "question_explicit", "category", "source", "images", "checklist",
    ]  # fmt: skip
    described = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert described["images"] == [{"_type": "Image"}]
    assert described["checklist"] == [{"dtype": "string", "_type": "Value"}]
    rows = [row for row in haerae_rows() if "/paired/" in row.id]
    held = pq.read_table(haerae / "paired" / "test-00000-of-00001.parquet").to_pylist()
    for row, got, built in zip(rows, table.to_pylist(), held, strict=True):
        assert got["question_explicit"] == row.record["question_explicit"]
        assert got["checklist"] == json.loads(row.record["checklist_raw"])
        assert got["images"] == built["images"]
    import datasets

    loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded[0]["images"][0].size == (240, 200)


def test_answers_stand_there_only_where_there_are_any(tmp_path: Path) -> None:
    rows = haerae_rows({"10": "세 번째 줄의 괄호가 빠졌습니다."})
    folder = build(tmp_path / "h", rows, pictures_of(rows))
    for form in FORMATS:
        answers = [row["answer"] for row in Records(export(folder, form, tmp_path))]
        assert answers == ["세 번째 줄의 괄호가 빠졌습니다.", *(["", ""] if form == "tsv" else [None, None])]


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_both_layouts_give_the_same_export(
    koffvqa: Path, haerae: Path, tmp_path: Path, form: Format, by_id: bool
) -> None:
    for folder, rows in ((koffvqa, koffvqa_rows()), (haerae, haerae_rows())):
        pictures = pictures_of(rows)
        if folder == koffvqa:
            pictures["koffvqa:2"] = jpeg(size=(3000, 2400), quality=95)
        name = folder.parent.name
        other = build(tmp_path / name, rows, pictures, by_id=by_id)
        first = export(folder, form, tmp_path / f"{name}-1.{form}")
        second = export(other, form, tmp_path / f"{name}-2.{form}")
        if form == "parquet":
            assert pq.read_table(first).equals(pq.read_table(second))
        else:
            assert first.read_bytes() == second.read_bytes()


def test_lines_and_tables_hold_lists_and_pictures_as_text(haerae: Path, tmp_path: Path) -> None:
    [line, *_] = lines(export(haerae, "jsonl", tmp_path))
    assert line["checklist"] == ["1. 오류의 원인을 설명한다."]
    assert len(line["images"]) == 3
    cells = as_upstream_reads(export(haerae, "tsv", tmp_path))[0]
    assert loads(cells["images"], "images") == line["images"]
    assert loads(cells["checklist"], "checklist") == line["checklist"]
    assert "answer" not in cells
    one = lines(export(haerae, "jsonl", tmp_path, "original"))[0]
    assert set(one) == {"question_idx", "question", "category", "source", "images", "checklist"}
    assert (tmp_path / "haerae-vision-original.jsonl").is_file()


def planner(run: Callable[..., Any], benchmark: str, folder: Path) -> Callable[[Path, str], bytes]:
    """Plans a benchmark from a source into a folder of that name; the bytes of its rows."""

    def planned(source: Path, name: str) -> bytes:
        out = folder / name
        done = run("sage-reconstruct", "plan", benchmark, "--source", f"{benchmark}={source}", "--out", out)
        assert done.returncode == 0, done.stderr
        return (out / "rows.jsonl").read_bytes()

    return planned


@pytest.mark.parametrize("form", FORMATS)
def test_a_plan_from_an_export_has_the_same_records(
    run: Callable[..., Any], koffvqa: Path, tmp_path: Path, form: Format
) -> None:
    planned = planner(run, "koffvqa", tmp_path)
    # What the recipe makes of upstream's own table, built and exported, gives the same rows and bytes.
    upstream = export(koffvqa, "tsv", tmp_path / "upstream.tsv")
    done = run(
        "hannun", "build", "koffvqa", "--source", f"koffvqa={upstream}", "--out", tmp_path / "built", "--no-register"
    )
    assert done.returncode == 0, done.stderr
    exported = export(tmp_path / "built", form, tmp_path / f"again.{form}")
    assert planned(exported, "again") == planned(upstream, "first")
    locks = [(tmp_path / name / "images.lock.jsonl").read_bytes() for name in ("again", "first")]
    assert locks[0] == locks[1]
    if form == "tsv":
        assert exported.read_bytes() == upstream.read_bytes()


@pytest.mark.parametrize(
    ("published", "exact"),
    [
        (lambda items: [f"{place}. {item}" for place, item in enumerate(items, 1)], FORMATS),
        (dumps, FORMATS),
        (lambda items: None, FORMATS),
        # A list cannot hold a text as it was.
        (lambda items: "\n".join(f"{place}) {item}" for place, item in enumerate(items, 1)), ("tsv",)),
    ],
)
def test_checklists_come_back_as_they_were_published(
    run: Callable[..., Any], tmp_path: Path, published: Callable[[list[str]], Any], exact: tuple[Format, ...]
) -> None:
    planned = planner(run, "haerae-vision", tmp_path)
    paired = [row for row in haerae_rows() if "/paired/" in row.id]
    pictures = pictures_of(paired)
    upstream = tmp_path / "upstream.jsonl"
    texts = [
        {
            **{name: value for name, value in row.record.items() if name != "checklist_raw"},
            "checklist": published(row.record["checklist"]),
            "images": [base64.b64encode(pictures[each]).decode() for each in row.images],
        }
        for row in paired
    ]
    upstream.write_text(dump_lines(texts), "utf-8")
    first = planned(upstream, "first")
    source = f"haerae-vision={upstream}"
    done = run("hannun", "build", "haerae-vision", "--source", source, "--out", tmp_path / "built", "--no-register")
    assert done.returncode == 0, done.stderr
    for form in FORMATS:
        again = planned(export(tmp_path / "built", form, tmp_path / f"again.{form}"), form)
        assert (again == first) == (form in exact)
        assert without_raw(again) == without_raw(first)


def without_raw(rows: bytes) -> list[dict[str, Any]]:
    """Records as JSON but for the checklist's text."""
    records = [json.loads(line)["record"] for line in rows.splitlines()]
    return [{name: value for name, value in record.items() if name != "checklist_raw"} for record in records]


def test_instances_are_lines_and_their_folder_is_the_parquet(built_once: Path, tmp_path: Path) -> None:
    path = export(built_once, "jsonl", tmp_path, "explicit")
    assert path.name == "kona-explicit.jsonl"
    rows = lines(path)
    assert len(rows) == 378
    assert all("/explicit/" in row["id"] and "images" not in row and len(row["candidates"]) == 10 for row in rows)
    assert (
        export(built_once, "jsonl", tmp_path / "all.jsonl").read_bytes()
        == (built_once / "instances.jsonl").read_bytes()
    )
    with pytest.raises(InputError, match="parquet already") as caught:
        export(built_once, "parquet", tmp_path)
    assert str(built_once) in str(caught.value.todo)
    with pytest.raises(InputError, match="plain table"):
        export(built_once, "tsv", tmp_path)


def test_what_is_refused_leaves_nothing(koffvqa: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export(koffvqa, "tsv", out)
    before = (out / "koffvqa-default.tsv").read_bytes()
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("not overwritten", lambda: export(koffvqa, "tsv", out)),
        ("no config 'paired'", lambda: export(koffvqa, "tsv", out / "p.tsv", "paired")),
        ("another format", lambda: export(koffvqa, "tsv", out / "p.parquet")),
        ("cannot be written", lambda: export(koffvqa, "parquet", out / "no" / "p.parquet")),
        ("no build here", lambda: export(out, "tsv", out / "p.tsv")),
        ("no such folder", lambda: export(out / "nowhere", "tsv", out / "p.tsv")),
    ]
    for says, attempt in refused:
        with pytest.raises(InputError, match=says):
            attempt()
    monkeypatch.setitem(exports.PUBLISHED, "koffvqa", PUBLISHED["haerae-vision"])
    monkeypatch.delitem(exports.PUBLISHED, "koffvqa")
    with pytest.raises(InputError, match="is not known"):
        export(koffvqa, "tsv", out / "p.tsv")
    assert [path.name for path in out.iterdir()] == ["koffvqa-default.tsv"]
    assert (out / "koffvqa-default.tsv").read_bytes() == before


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_that_is_broken_off_leaves_nothing(tmp_path: Path, form: Format) -> None:
    rows = koffvqa_rows()
    folder = build(tmp_path / "k", rows, pictures_of(rows))
    text = (folder / "rows.jsonl").read_text("utf-8")
    (folder / "rows.jsonl").write_text(text + text.splitlines()[0].replace("default/1", "default/9") + "\n", "utf-8")
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="do not hold the rows"):
        export(folder, form, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_memory_does_not_grow_with_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written as they are read: never more than a row group of pictures is held."""
    from hannun.builders import folder as folders

    monkeypatch.setattr(folders, "GROUP_BYTES", 1_000_000)
    rows = [
        Question(
            f"koffvqa/default/{n:03d}", "test", (f"koffvqa:{n:03d}",), {**koffvqa_rows()[0].record, "index": str(n)}
        )
        for n in range(60)
    ]
    built = build(tmp_path / "k", rows, {row.images[0]: os.urandom(400_000) for row in rows})
    import tracemalloc

    for form in FORMATS:
        tracemalloc.start()
        path = export(built, form, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert path.stat().st_size > 20_000_000
        assert peak < 12_000_000, form


def test_the_command_takes_a_name_or_a_folder(run: Callable[..., Any], koffvqa: Path, tmp_path: Path) -> None:
    done = run("hannun", "export", koffvqa, "--format", "tsv", "--out", tmp_path / "k.tsv")
    assert done.returncode == 0, done.stderr
    assert "k.tsv" in done.stdout
    here = run("hannun", "export", koffvqa, "--format", "jsonl", cwd=tmp_path)
    assert here.returncode == 0, here.stderr
    assert (tmp_path / "koffvqa-default.jsonl").is_file()
    home = tmp_path / "home"
    (home / "built").mkdir(parents=True)
    (home / "built" / "koffvqa").symlink_to(koffvqa)
    environment = {**os.environ, "HANNUN_HOME": str(home)}
    named = run("hannun", "export", "koffvqa", "--format", "tsv", "--out", tmp_path / "n.tsv", env=environment)
    assert named.returncode == 0, named.stderr
    assert (tmp_path / "n.tsv").read_bytes() == (tmp_path / "k.tsv").read_bytes()
    wrong = [
        (["kona", "--format", "jsonl"], "kona is not built here"),
        (["nothing", "--format", "jsonl"], "no such file or folder"),
        ([koffvqa], "choose one"),
        ([koffvqa, "--format", "tsv", "--for", "annotators"], "choose one"),
        ([koffvqa, "--for", "annotators"], "forms need a folder"),
        ([koffvqa, "--for", "annotators", "--out", tmp_path / "forms"], "instances only"),
        ([koffvqa, "--format", "tsv", "--config", "default", "--config", "b"], "one config"),
    ]
    for arguments, says in wrong:
        refused = run("hannun", "export", *arguments, env=environment)
        assert refused.returncode == 2, arguments
        assert says in refused.stderr
        assert "Traceback" not in refused.stderr
