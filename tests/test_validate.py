"""A built folder with one damage at a time: each is found, named, explained, and gives exit 1."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hannun.builders.features import arrow_schema, feature_dict
from hannun.schemas.errors import InputError
from hannun.validate.outputs import json as json_output
from hannun.validate.outputs import text as text_output
from hannun.validate.result import Part, Scope
from hannun.validate.rule import Level
from hannun.validate.target import validate
from pictures import png
from PIL import Image

TABLE = "original/test-00000-of-00001.parquet"


def rewritten(folder: Path, change: Callable[[list[dict[str, Any]]], object], table: str = TABLE) -> None:
    path = folder / table
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(feature_dict("kona"))), path)


def lines_changed(folder: Path, name: str, change: Callable[[list[Any]], object]) -> None:
    path = folder / name
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def cut(row: dict[str, Any]) -> None:
    row["images"][2]["bytes"] = row["images"][2]["bytes"][:200]


def other_picture(row: dict[str, Any]) -> None:
    row["images"][2]["bytes"] = png()


def changed_byte(row: dict[str, Any]) -> None:
    data = bytearray(row["images"][2]["bytes"])
    data[-5] ^= 1  # in the checksum of the last chunk: the pixels stay
    row["images"][2]["bytes"] = bytes(data)


def swapped(row: dict[str, Any]) -> None:
    row["images"][0], row["images"][1] = row["images"][1], row["images"][0]


def wrong_label(row: dict[str, Any]) -> None:
    row["label"] = (row["label"] + 1) % 10


def duplicated(row: dict[str, Any]) -> None:
    place = (row["label"] + 1) % 10
    row["candidates"][place] = dict(row["candidates"][(row["label"] + 2) % 10])


def nine(row: dict[str, Any]) -> None:
    place = (row["label"] + 1) % 10
    del row["candidates"][place], row["images"][place]


ROW_DAMAGES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("cut picture", cut, "image-decodes HN-IMG-002"),
    ("other picture", other_picture, "HN-IMG-003"),
    ("changed byte", changed_byte, "HN-IMG-003"),
    ("swapped pictures", swapped, "HN-IMG-003"),
    ("missing picture", lambda row: row["images"].pop(), "HN-IMG-006"),
    ("null picture", lambda row: row["images"].__setitem__(3, None), "HN-IMG-001"),
    ("empty bytes", lambda row: row["images"][3].update(bytes=b""), "HN-IMG-001"),
    ("path only", lambda row: row["images"][3].update(bytes=None, path="/home/me/a.png"), "HN-IMG-001"),
    ("path with folders", lambda row: row["images"][3].update(path="C:\\me\\a.png"), "HN-IMG-005"),
    ("unknown picture", lambda row: row["candidates"][0].update(image_id="twemoji:1f999"), "HN-IMG-004"),
    ("wrong label", wrong_label, "HN-ROW-006"),
    ("label out of range", lambda row: row.update(label=10), "HN-ROW-004"),
    ("no label", lambda row: row.update(label=None), "HN-SCH-001"),
    ("duplicated candidate", duplicated, "HN-ROW-003"),
    ("nine candidates", nine, "HN-ROW-002"),
    ("no gold", lambda row: [each.update(kind="near") for each in row["candidates"]], "HN-ROW-005"),
    ("unknown kind", lambda row: row["candidates"][0].update(kind="easy"), "HN-SCH-001"),
    ("spare in use", lambda row: row["spares"][0].update(row["candidates"][0]), "HN-ROW-008"),
    ("empty context", lambda row: row.update(context=""), "HN-SCH-001"),
    ("span moved", lambda row: row.update(target_span=[each + 1 for each in row["target_span"]]), "HN-ROW-011"),
    ("span outside", lambda row: row.update(target_span=[5, 5000]), "HN-ROW-010"),
    ("decomposed text", lambda row: row.update(context=unicodedata.normalize("NFD", row["context"])), "HN-ROW-012"),
    ("zero-width", lambda row: row.update(context=row["context"] + "\u200b"), "HN-TXT-002"),
    ("outer space", lambda row: row.update(context=row["context"] + " "), "HN-TXT-009"),
    ("other sense", lambda row: row["source"].update(sense="x"), "HN-ROW-015"),
    ("other noun", lambda row: row["source"].update(noun="말"), "HN-ROW-015"),
    ("unknown split", lambda row: row.update(split="train"), "HN-SCH-001"),
    ("malformed id", lambda row: row.update(id="bae"), "HN-SCH-001"),
    ("wordings differ", lambda row: row["candidates"].__setitem__(slice(0, 2), row["candidates"][1::-1]), "HN-ROW-014"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "code"), [d[1:] for d in ROW_DAMAGES], ids=[d[0] for d in ROW_DAMAGES])
def test_a_damaged_row_is_found_at_its_place(
    built: Path, damage: Callable[[dict[str, Any]], object], code: str
) -> None:
    rows = pq.read_table(built / TABLE, columns=["id"]).to_pylist()
    rewritten(built, lambda rows: damage(rows[4]))
    result = validate(str(built))
    found = [each for each in result.findings if each.rule.code == code.split()[-1]]
    assert found, [each.rule.code for each in result.findings]
    assert any(each.place.row_id == rows[4]["id"] or each.place.row == 4 for each in found)
    assert all(each.message and each.rule.todo for each in found)
    if found[0].rule.level is Level.ERROR:
        assert result.count(Level.ERROR) > 0


def removed(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def bytes_changed(name: str, place: float) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        at = int(len(data) * place)
        data[at : at + 8] = b"\xff" * 8
        (folder / name).write_bytes(bytes(data))

    return change


def text_changed(name: str, old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text("utf-8")
        assert re.search(old, text)
        (folder / name).write_text(re.sub(old, new, text, count=1), "utf-8")

    return change


def duplicate_row(folder: Path) -> None:
    rewritten(folder, lambda rows: rows.append(rows[0]))


def row_removed(folder: Path) -> None:
    rewritten(folder, lambda rows: rows.pop())


def older_list(folder: Path) -> None:
    table = pq.read_table(folder / TABLE)
    metadata = {
        b"huggingface": b'{"info":{"features":{"a":{"feature":{"dtype":"string","_type":"Value"},"_type":"List"}}}}'
    }
    pq.write_table(table.replace_schema_metadata(metadata), folder / TABLE)


def column_removed(folder: Path) -> None:
    pq.write_table(pq.read_table(folder / TABLE).drop_columns(["spares"]), folder / TABLE)


def column_retyped(folder: Path) -> None:
    table = pq.read_table(folder / TABLE)
    place = table.schema.get_field_index("label")
    pq.write_table(table.set_column(place, "label", table["label"].cast(pa.int32())), folder / TABLE)


FOLDER_DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("no card", removed("README.md"), "HN-CARD-001"),
    ("card without head", text_changed("README.md", "^---\n", ""), "HN-CARD-001"),
    ("card is no yaml", text_changed("README.md", "configs:", "configs: [}"), "HN-CARD-001"),
    ("other count", text_changed("README.md", r"num_examples: \d+", "num_examples: 23"), "HN-CARD-002"),
    ("table missing", removed(TABLE), "HN-FILE-004"),
    ("table damaged", bytes_changed(TABLE, 0.5), "HN-FILE-009 HN-IMG-003 HN-IMG-002"),
    ("table's foot damaged", bytes_changed(TABLE, 0.999), "HN-FILE-009"),
    ("duplicate row", duplicate_row, "HN-ROW-001"),
    ("row missing", row_removed, "HN-ROW-015"),
    ("list that 3.x cannot read", older_list, "HN-FILE-007"),
    ("column missing", column_removed, "HN-SCH-006"),
    ("column of another type", column_retyped, "HN-SCH-006"),
    ("lock missing", removed("images.lock.jsonl"), "HN-FILE-004"),
    ("lock line broken", text_changed("images.lock.jsonl", r"\}\n", "\n"), "HN-FILE-001"),
    ("lock digest changed", text_changed("images.lock.jsonl", r'"sha256":"[0-9a-f]{4}', '"sha256":"0000'), "HN-IMG-003"),
    ("lock digest malformed", text_changed("images.lock.jsonl", '"sha256":"', '"sha256":"X'), "HN-SCH-001"),
    ("lock entry twice", lambda f: lines_changed(f, "images.lock.jsonl", lambda rows: rows.append(rows[0])), "HN-ROW-001"),
    ("lock entry removed", lambda f: lines_changed(f, "images.lock.jsonl", lambda rows: rows.pop(0)), "HN-IMG-004"),
    ("rows missing", removed("instances.jsonl"), "HN-FILE-004"),
    ("row broken", text_changed("instances.jsonl", '"label":', '"label"'), "HN-FILE-001"),
    ("row with a key twice", text_changed("instances.jsonl", '"label":', '"label":1,"label":'), "HN-FILE-001"),
    ("row with NaN", text_changed("instances.jsonl", r'"label":\d', '"label":NaN'), "HN-FILE-001"),
    ("recipe broken", text_changed("recipe.json", r"^\{", ""), "HN-FILE-001"),
    ("recipe incomplete", text_changed("recipe.json", '"seed":', '"sead":'), "HN-SCH-001"),
    ("rows in another table", lambda f: rewritten(f, lambda rows: [r.update(split="validation") for r in rows[:2]]), "HN-SET-002"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "codes"), [d[1:] for d in FOLDER_DAMAGES], ids=[d[0] for d in FOLDER_DAMAGES])
def test_a_damaged_folder_is_found(built: Path, damage: Callable[[Path], object], codes: str) -> None:
    damage(built)
    result = validate(str(built))
    assert {each.rule.code for each in result.findings} & set(codes.split()), [e.rule.code for e in result.findings]
    if codes != "HN-FILE-007":
        assert result.count(Level.ERROR)


def test_an_undamaged_folder_has_nothing_to_say(built_once: Path) -> None:
    result = validate(str(built_once))
    assert result.findings == []
    assert result.unchecked == []
    assert result.rows >= 312
    assert result.baselines["random"] == 0.1
    assert 0 < result.baselines["first candidate"] < 0.3
    plan = validate(str(built_once / "plan"))
    assert plan.findings == []
    assert [each.what for each in plan.unchecked] == ["pictures"]


def test_a_level_selects(built: Path) -> None:
    rewritten(built, lambda rows: (cut(rows[1]), wrong_label(rows[2])))
    codes = {part: {each.rule.code for each in validate(str(built), scope=Scope(part)).findings} for part in Part}
    assert codes[Part.IMAGES] == {"HN-IMG-002"}
    assert {"HN-ROW-006", "HN-ROW-014", "HN-ROW-015"} <= codes[Part.ROWS]
    assert codes[Part.SCHEMA] == set()
    assert codes[Part.ALL] == codes[Part.IMAGES] | codes[Part.ROWS]


def test_outputs(built: Path) -> None:
    rewritten(built, lambda rows: [wrong_label(row) for row in rows])
    result = validate(str(built))
    text = list(text_output.lines(result, most=3))
    assert text[-1] == text_output.summary(result)
    assert text[-1].startswith(f"{built}: ")
    hidden = len([each for each in result.findings if each.rule.code == "HN-ROW-006"]) - 3
    assert f"  ... and {hidden:,} more" in text
    assert hidden > 0
    document = json_output.document(result)
    assert json.loads(json.dumps(document)) == document
    assert document["counts"]["error"] == result.count(Level.ERROR)
    assert document["findings"][0]["file"]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def codes_of(path: Path) -> list[str]:
    return [each.rule.code for each in validate(str(path)).findings]


def test_plain_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert codes_of(write(path, {"id": 1, "question": "무엇인가요?"}, {"id": 2, "question": "NA"})) == []
    assert codes_of(write(path, {"id": 1, "question": "가"}, {"id": 1, "question": "나"})) == ["HN-ROW-001"]
    assert codes_of(write(path, {"index": 1, "q": "가"}, {"index": 1, "q": "나"})) == ["HN-ROW-001"]
    assert codes_of(write(path, {"id": 1, "question": None})) == ["HN-SCH-003"]
    assert codes_of(write(path, {"id": 1, "question": "가"}, {"id": 2})) == ["HN-SCH-003"]
    assert codes_of(write(path, {"id": 1, "answer": ""})) == ["HN-SCH-004"]
    assert codes_of(write(path, {"id": 1, "answer": "가"}, {"id": 2})) == ["HN-SCH-002"]
    assert codes_of(write(path, {"id": 1, "n": 5}, {"id": 2, "n": "5"})) == ["HN-SCH-005"]
    assert codes_of(write(path, {"id": 1, "n": 5}, {"id": 2, "n": 5.5})) == []
    assert codes_of(write(path)) == ["HN-FILE-003"]
    assert codes_of(write(path, [1, 2])) == ["HN-FILE-001"]
    path.write_bytes(b'{"id":1}\n\xff\n{"id":2}\n{"id":\n')
    assert codes_of(path) == ["HN-FILE-001", "HN-FILE-001"]


def test_tables_whose_reading_depends_on_the_dialect(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('id\ttext\n1\t"열림\n2\t닫힘"\n', "utf-8")
    result = validate(str(path))
    assert [each.rule.code for each in result.findings] == ["HN-FILE-008"]
    assert result.findings[0].found == "plain: 2 rows; quoted: 1 rows"
    assert validate(str(path), dialect="plain").findings == []
    assert validate(str(path), dialect="plain").rows == 2
    path.write_text("id\ttext\n1\n", "utf-8")
    assert codes_of(path) == ["HN-FILE-001"]


def test_list_metadata_is_noted_and_does_not_change_what_is_read(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "checklist": [["가", "나"], []]})

    def described(kind: object) -> dict[bytes, bytes]:
        info = {"info": {"features": {"id": {"dtype": "int64", "_type": "Value"}, "checklist": kind}}}
        return {b"huggingface": json.dumps(info).encode()}

    value = {"dtype": "string", "_type": "Value"}
    nested = {"feature": {"inner": {"feature": value, "_type": "LargeList"}}, "_type": "Sequence"}
    forms = {
        "none": {}, "python": described([value]), "sequence": described({"feature": value, "_type": "Sequence"}),
        "list": described({"feature": value, "_type": "List"}), "nested": described(nested), "broken": {b"huggingface": b"{"},
    }  # fmt: skip
    notes = {}
    for name, metadata in forms.items():
        pq.write_table(table.replace_schema_metadata(metadata), tmp_path / f"{name}.parquet")
        result = validate(str(tmp_path / f"{name}.parquet"))
        assert result.rows == 2
        notes[name] = [(each.rule.code, each.rule.level) for each in result.findings]
    newer = [("HN-FILE-007", Level.NOTE)]
    assert notes == {"none": [], "python": [], "sequence": [], "list": newer, "nested": newer, "broken": []}


def test_image_cells_of_any_table(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(stream, "JPEG")
    cells = [
        {"bytes": png(), "path": "a.png"},
        {"bytes": None, "path": "/home/me/a.png"},
        {"bytes": b"", "path": "a.png"},
        {"bytes": stream.getvalue()[:-400], "path": "b.jpg"},
        {"bytes": png(), "path": "../a.png"},
        {"bytes": png(), "path": None},
    ]
    pq.write_table(
        pa.Table.from_pylist([{"id": n, "image": cell} for n, cell in enumerate(cells)]), tmp_path / "i.parquet"
    )
    found = [(each.place.row, each.rule.code) for each in validate(str(tmp_path / "i.parquet")).findings]
    assert found == [(1, "HN-IMG-005"), (1, "HN-IMG-001"), (2, "HN-IMG-001"), (3, "HN-IMG-002"), (4, "HN-IMG-005")]


def test_files_that_rows_name(tmp_path: Path) -> None:
    from hannun.schemas.digest import digests_of

    (tmp_path / "images").mkdir()
    (tmp_path / "images" / unicodedata.normalize("NFD", "강아지.png")).write_bytes(png())
    right, wrong = digests_of(png())["sha256"], "0" * 64
    rows = [
        {"id": 1, "file": "강아지.png", "sha256": right},
        {"id": 2, "file": "강아지.png", "sha256": wrong},
        {"id": 3, "file": "고양이.png", "sha256": right},
        {"id": 4, "file": "../../etc/passwd", "sha256": right},
    ]
    found = [(each.place.row_id, each.rule.code) for each in validate(str(write(tmp_path / "m.jsonl", *rows))).findings]
    assert found == [
        ("1", "HN-FILE-005"), ("2", "HN-FILE-005"), ("2", "HN-FILE-006"), ("3", "HN-FILE-004"), ("4", "HN-FILE-004"),
    ]  # fmt: skip


def test_what_cannot_be_read_is_bad_input_not_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes("번호\t답\n1\t가\n".encode("utf-16"))
    (tmp_path / "b.xyz").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    for name, says in (
        ("a.tsv", "UTF-16"),
        ("b.xyz", "not read"),
        ("none.jsonl", "no such file"),
        ("empty", "no tables"),
    ):
        with pytest.raises(InputError, match=says):
            validate(str(tmp_path / name))
