"""Inputs of public bug reports with their right values, where they are at hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hannun.schemas.text import compare_texts
from hannun.validate.rule import Level
from hannun.validate.target import validate


def expected(case: Path) -> dict:
    return json.loads((case / "case.json").read_text("utf-8"))["expected"]


def rows_with_errors(path: Path) -> set[str]:
    return {str(each.place.row_id) for each in validate(str(path)).findings if each.rule.level is Level.ERROR}


@pytest.mark.parametrize("case", ["B03"], indirect=True)
def test_broken_instances(case: Path) -> None:
    wanted = expected(case)
    zero = validate(str(case / "all_at_zero.jsonl"))
    assert [each.message for each in zero.findings] == [wanted["all_at_zero.jsonl"]["error"]]
    assert zero.baselines["first candidate"] == wanted["all_at_zero.jsonl"]["first_candidate_baseline_hits1"]
    assert validate(str(case / "spread.jsonl")).findings == []
    assert rows_with_errors(case / "broken.jsonl") == {"1", "2", "3", "4", "5"}


@pytest.mark.parametrize("case", ["C01"], indirect=True)
def test_exit_codes(case: Path) -> None:
    program = Path(sys.executable).with_name("hannun")

    def code(*arguments: object) -> int:
        return subprocess.run([program, "validate", *map(str, arguments)], check=False, capture_output=True).returncode

    for name, wanted in expected(case).items():
        if name == "warn.jsonl":
            assert code(case / name) == wanted["default"]
            assert code(case / name, "--strict") == wanted["--strict"]
        elif name.endswith(".jsonl"):
            assert code(case / name) == wanted
        elif name == "--no-such-option":
            assert code(case / "good.jsonl", name) == wanted


@pytest.mark.parametrize("case", ["T01"], indirect=True)
def test_byte_order_marks(case: Path) -> None:
    from hannun.schemas.errors import InputError
    from hannun.schemas.table import parse_table

    wanted = expected(case)
    table = parse_table((case / "bom.tsv").read_bytes(), "bom.tsv")
    assert list(table.columns) == wanted["bom.tsv"]["columns"]
    assert "BOM" in table.notes[0]
    lines = validate(str(case / "bom.jsonl"))
    assert lines.rows == wanted["bom.jsonl"]["rows"]
    assert [each.rule.code for each in lines.findings] == ["HN-FILE-002"]
    [middle] = validate(str(case / "midbom.jsonl")).findings
    assert f"line {wanted['midbom.jsonl']['error_line']}" in middle.message
    with pytest.raises(InputError, match="UTF-16 BOM") as caught:
        validate(str(case / "utf16.tsv"))
    assert caught.value.what == wanted["utf16.tsv"]["error"]


@pytest.mark.parametrize("case", ["T05"], indirect=True)
def test_unicode_identity(case: Path) -> None:
    wanted = expected(case)["pairs"]
    pairs = [json.loads(line) for line in (case / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert {pair["id"]: compare_texts(pair["a"], pair["b"]).same for pair in pairs} == {
        name: answer["same"] for name, answer in wanted.items()
    }
    flagged = {each.place.row_id for each in validate(str(case / "pairs.jsonl")).findings}
    assert flagged == {pair["id"] for pair in pairs} - {"emoji"}
    [note] = validate(str(case / "manifest.jsonl")).findings
    assert (note.rule.level, "on disk" in note.message) == (Level.NOTE, True)


@pytest.mark.parametrize("case", ["D01"], indirect=True)
def test_list_and_sequence(case: Path) -> None:
    import pyarrow.parquet as pq

    wanted = expected(case)
    tables = {}
    for name in ("list.parquet", "sequence.parquet", "no_metadata.parquet"):
        result = validate(str(case / name))
        assert result.rows == wanted["rows"]
        notes = ["HN-FILE-007"] if name == "list.parquet" else []
        assert [each.rule.code for each in result.findings] == notes
        tables[name] = pq.read_table(case / name).to_pylist()
    assert [len(row["checklist"]) for row in tables["list.parquet"]] == wanted["checklist_lengths"]
    assert tables["list.parquet"] == tables["sequence.parquet"] == tables["no_metadata.parquet"]


@pytest.mark.parametrize("case", ["D05"], indirect=True)
def test_image_cells(case: Path) -> None:
    wanted = expected(case)
    found: dict[str, list[int | None]] = {}
    for each in validate(str(case / "images.parquet")).findings:
        found.setdefault(each.rule.code, []).append(each.place.row)
    assert found["HN-IMG-001"] == [*wanted["no_bytes"], *wanted["null"], *wanted["empty"]]
    assert found["HN-IMG-002"] == wanted["undecodable"]
    assert set(wanted["path_not_basename"]) <= set(found["HN-IMG-005"])
    assert not {row for rows in found.values() for row in rows} & set(wanted["ok"])
    plain = [(each.rule.code, each.place.row) for each in validate(str(case / "plain_binary.parquet")).findings]
    assert ("HN-IMG-010", None) in plain
    assert [row for code, row in plain if code == "HN-IMG-001"] == wanted["plain_binary.parquet"]["null"]
