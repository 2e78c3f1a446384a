"""Error annotations: one schema, the taxonomies that are known or given, and errors by line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.error_annotations import ErrorAnnotation, Vocabulary, read_error_annotations
from hannun.schemas import catalogue
from hannun.schemas.error_taxonomy import Taxonomy, read_taxonomy, taxonomy
from hannun.schemas.errors import InputError

HAERAE: dict[str, Any] = {
    "item": "22", "benchmark": "haerae-vision", "config": "original", "model": "a/model", "annotator": "anna",
    "root_cause": "cultural_knowledge", "errors": ["object_recognition", "lack_of_explicitness"],
    "severity": "moderate", "note": "한복을 기모노라고 했다, \"분명히\"",
}  # fmt: skip
SAGE: dict[str, Any] = {
    "item": "fly-279677", "benchmark": "sage", "config": "verse-spis", "model": "m", "errors": ["새 낱말"],
}  # fmt: skip
COLUMNS = ["item", "benchmark", "config", "model", "annotator", "root_cause", "errors", "severity", "note"]


def write(path: Path, rows: list[dict[str, Any]], encoding: str = "utf-8") -> Path:
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, delimiter="," if path.suffix == ".csv" else "\t")
        writer.writerow(COLUMNS)
        for row in rows:
            cells = {**row, "errors": "; ".join(row["errors"])}
            writer.writerow([cells.get(name, "") for name in COLUMNS])
        text = stream.getvalue()
    path.write_bytes(text.encode(encoding))
    return path


def test_haerae_visions_taxonomy_is_that_of_its_paper() -> None:
    known = taxonomy("haerae-vision")
    assert known is not None
    assert "Table 17" in known.source
    assert known.root_causes == ("language", "cultural_knowledge", "general_reasoning")
    assert len(known.errors) == 7
    assert known.severities == ("minor", "moderate", "severe")
    # Nobody wrote these down from memory.
    for name in catalogue.names():
        assert (taxonomy(name) is not None) == (name == "haerae-vision")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv"])
def test_every_form_of_file_reads_the_same(tmp_path: Path, name: str) -> None:
    rows = [HAERAE, {**HAERAE, "annotator": None, "note": None}, SAGE]
    first, second, third = read_error_annotations(write(tmp_path / name, rows))
    assert first == ErrorAnnotation(**{**HAERAE, "errors": tuple(HAERAE["errors"])}, vocabulary=Vocabulary.PUBLISHED)
    assert (second.annotator, second.note) == (None, None)
    assert third == ErrorAnnotation("fly-279677", "sage", "verse-spis", "m", ("새 낱말",))
    assert third.vocabulary is Vocabulary.UNKNOWN


def test_tables_as_korean_spreadsheets_save_them_are_read(tmp_path: Path) -> None:
    for encoding in ("cp949", "utf-8-sig"):
        [read] = read_error_annotations(write(tmp_path / f"{encoding}.csv", [HAERAE], encoding))
        assert read.note == HAERAE["note"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"root_cause": "vision"}, "not a word of the taxonomy for root_cause"),
        ({"root_cause": None}, "no root_cause"),
        ({"severity": "Severe"}, "not a word of the taxonomy for severity"),
        ({"severity": None}, "no severity"),
        ({"errors": ["other", "hallucination"]}, "not a word of the taxonomy for errors"),
        ({"errors": []}, "not an error annotation"),
        ({"errors": ["other", "other"]}, "not an error annotation"),
        (
            {"errors": ["other", "object_recognition", "spatial_reasoning", "procedural_reasoning"]},
            "not an error annotation",
        ),
        ({"item": "haerae-vision/original/22"}, "not an error annotation"),
        ({"model": " "}, "not an error annotation"),
        ({"benchmark": None}, "not an error annotation"),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, name: str, change: dict[str, Any], says: str) -> None:
    rows = [HAERAE, {**HAERAE, "model": "b", **change}]
    with pytest.raises(InputError, match=says) as caught:
        read_error_annotations(write(tmp_path / name, rows))
    assert f"{name}, line {2 if name == 'a.jsonl' else 3}" in str(caught.value.where)
    assert caught.value.todo


def test_an_answer_judged_twice_is_found(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judged twice") as caught:
        read_error_annotations(write(tmp_path / "a.jsonl", [HAERAE, SAGE, {**HAERAE, "severity": "minor"}]))
    assert "line 3" in str(caught.value.where)
    assert "line 1" in str(caught.value.got)
    assert len(read_error_annotations(write(tmp_path / "a.jsonl", [HAERAE, {**HAERAE, "annotator": "ben"}]))) == 2


def test_a_given_taxonomy_is_held_to(tmp_path: Path) -> None:
    path = tmp_path / "sage.toml"
    path.write_text('benchmark = "sage"\nsource = "mine"\nerrors = ["새 낱말", "b"]\nseverities = ["low"]\n', "utf-8")
    given = read_taxonomy(path)
    assert given == Taxonomy("sage", "mine", ("새 낱말", "b"), (), ("low",))
    [read] = read_error_annotations(write(tmp_path / "a.jsonl", [{**SAGE, "severity": "low"}]), given=given)
    assert read.vocabulary is Vocabulary.GIVEN
    for change, says in (({}, "no severity"), ({"severity": "low", "root_cause": "x"}, "root_cause")):
        with pytest.raises(InputError, match=says) as caught:
            read_error_annotations(write(tmp_path / "a.jsonl", [{**SAGE, **change}]), given=given)
        assert "mine" in str(caught.value.todo)
    # It is of one benchmark only.
    [other] = read_error_annotations(write(tmp_path / "a.jsonl", [HAERAE]), given=given)
    assert other.vocabulary is Vocabulary.PUBLISHED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("errors = [", "not TOML"),
        ('benchmark = "sage"\nsource = "s"\n', "not a taxonomy"),
        ('benchmark = "sage"\nsource = "s"\nerrors = []\n', "not a taxonomy"),
        ('benchmark = "sage"\nsource = "s"\nerrors = ["a", "a"]\n', "not a taxonomy"),
        ('benchmark = "sage"\nsource = "s"\nerrors = ["a"]\nkinds = ["b"]\n', "not a taxonomy"),
    ],
)
def test_a_broken_taxonomy_is_explained(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=says):
        read_taxonomy(path)


def test_other_files_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kind of file"):
        read_error_annotations(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="no such file"):
        read_error_annotations(tmp_path / "a.jsonl")
    (tmp_path / "b.csv").write_text("item,model\n1,m\n", "utf-8")
    with pytest.raises(InputError, match="missing column"):
        read_error_annotations(tmp_path / "b.csv")
    (tmp_path / "c.jsonl").write_text('{"item": NaN}\n', "utf-8")
    with pytest.raises(InputError, match="NaN") as caught:
        read_error_annotations(tmp_path / "c.jsonl")
    assert "line 1" in str(caught.value.where)
