"""Small damages to good builds of KOFFVQA, HAERAE-Vision and SAGE: every one is found, where it is (KoNA's: test_validate)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from haerae_source import upstream_rows, write_parquet
from hannun.validate.rule import Level
from hannun.validate.target import validate
from pictures import jpeg, png
from test_koffvqa import table as koffvqa_table
from test_koffvqa import tsv
from test_sage_vwsd import files as vwsd_files

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Built:
    """A good build: a table of it, its column of pictures, a text, and the file of rows."""

    folder: Path
    config: str
    images: str
    text: str
    rows_file: str

    @property
    def table(self) -> Path:
        return self.folder / self.config / "test-00000-of-00001.parquet"

    def change(self, change: Callable[[Rows], object]) -> None:
        """Rewrite the table's rows, its schema and metadata as they are."""
        table = pq.read_table(self.table)
        rows = table.to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), self.table)

    def change_lines(self, name: str, change: Callable[[list[Any]], object]) -> None:
        path = self.folder / name
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        change(rows)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")

    def change_text(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text("utf-8")
        assert old in text
        (self.folder / name).write_text(text.replace(old, new, 1), "utf-8")

    def cell(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row's first picture."""
        value: dict[str, Any] = row[self.images][0] if self.images == "images" else row[self.images]
        return value

    def key(self, row: dict[str, Any]) -> str:
        return str(next(row[name] for name in ("id", "index", "question_idx") if name in row))


def run(name: str, folder: Path, *sources: str) -> Path:
    program = Path(sys.executable).with_name("sage-reconstruct")
    given = [part for each in sources for part in ("--source", each)]
    command = [program, "run", name, *given, "--out", folder / "built", "--store", folder / "store", "--quiet"]
    done = subprocess.run([*map(str, command)], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "built"


def koffvqa(folder: Path) -> Path:
    rows, _ = koffvqa_table()
    (folder / "KOFFVQA.tsv").write_text(tsv(rows), "utf-8")
    return run("koffvqa", folder, f"koffvqa={folder / 'KOFFVQA.tsv'}")


def haerae_vision(folder: Path) -> Path:
    rows = [
        {
            **row,
            "images": [{"bytes": png((number, 7, n), size=(9 + n, 7)), "path": "a.png"} for n in range(1 + number % 3)],
        }
        for number, row in enumerate(upstream_rows(165))
    ]
    return run("haerae-vision", folder, f"haerae-vision={write_parquet(folder / 'hub', rows)}")


def sage_vwsd(folder: Path) -> Path:
    data, gold = vwsd_files()
    (folder / "data.txt").write_text(data)
    (folder / "gold.txt").write_text(gold)
    names = sorted({name for line in data.splitlines() for name in line.split("\t")[2:]})
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, png((number, 90, 9)) if name.endswith("png") else jpeg((number, 90, 9)))
    return run(
        "sage-vwsd",
        folder,
        *(f"vwsd-{k}={folder / v}" for k, v in (("data", "data.txt"), ("gold", "gold.txt"), ("images", "images.zip"))),
    )


GOOD: dict[str, tuple[Callable[[Path], Path], str, str, str, str]] = {
    "koffvqa": (koffvqa, "default", "image", "question", "rows.jsonl"),
    "haerae-vision": (haerae_vision, "original", "images", "question", "rows.jsonl"),
    "sage-vwsd": (sage_vwsd, "vwsd", "images", "context", "instances.jsonl"),
}


@pytest.fixture(scope="module", params=list(GOOD))
def good(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    make, *what = GOOD[request.param]
    return Built(make(tmp_path_factory.mktemp(request.param)), *what)


def copy_of(good: Built, folder: Path) -> Built:
    return Built(shutil.copytree(good.folder, folder / "built"), good.config, good.images, good.text, good.rows_file)


def test_the_undamaged_build_is_clean(good: Built) -> None:
    result = validate(str(good.folder))
    assert [each for each in result.findings if each.rule.level is not Level.NOTE] == []


Damage = Callable[[Built, dict[str, Any]], object]


def set_bytes(data: Callable[[bytes], bytes | None]) -> Damage:
    def damage(built: Built, row: dict[str, Any]) -> None:
        cell = built.cell(row)
        cell["bytes"] = data(cell["bytes"])

    return damage


def flipped(data: bytes) -> bytes:
    return data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]


def set_text(change: Callable[[str], str | None]) -> Damage:
    return lambda built, row: row.__setitem__(built.text, change(row[built.text]))


# Name -> what is done to row 4, and the codes of which one must say so.
ROW_DAMAGES: dict[str, tuple[Damage, str]] = {
    "cut picture": (set_bytes(lambda data: data[: len(data) // 2]), "HN-IMG-002"),
    "other picture": (set_bytes(lambda _: png((9, 9, 9), size=(31, 30))), "HN-IMG-003"),
    "changed byte": (set_bytes(flipped), "HN-IMG-003 HN-IMG-002"),
    "text for a picture": (set_bytes(lambda _: b"<!doctype html><html>"), "HN-IMG-002"),
    "empty bytes": (set_bytes(lambda _: b""), "HN-IMG-001"),
    "no bytes": (set_bytes(lambda _: None), "HN-IMG-001"),
    "path with folders": (lambda built, row: built.cell(row).update(path="/home/me/a.png"), "HN-IMG-005"),
    "decomposed text": (set_text(lambda text: unicodedata.normalize("NFD", text + "é")), "HN-TXT-001 HN-ROW-012"),
    "zero-width": (set_text(lambda text: text[:1] + "\u200b" + text[1:]), "HN-TXT-002"),
    "control character": (set_text(lambda text: text + "\x08"), "HN-TXT-007"),
    "lost character": (set_text(lambda text: text + "\ufffd"), "HN-TXT-008"),
    "outer space": (set_text(lambda text: text + " "), "HN-TXT-009"),
    "other word": (set_text(lambda text: text + " not"), "HN-ROW-015"),
    "no text": (set_text(lambda _: None), "HN-SCH-001"),
    "empty text": (set_text(lambda _: ""), "HN-SCH-001 HN-SCH-003"),
}


@pytest.mark.parametrize("name", ROW_DAMAGES)
def test_a_damaged_row_is_found_at_its_place(good: Built, tmp_path: Path, name: str) -> None:
    damage, codes = ROW_DAMAGES[name]
    built = copy_of(good, tmp_path)
    key = built.key(pq.read_table(built.table).to_pylist()[4])
    built.change(lambda rows: damage(built, rows[4]))
    result = validate(str(built.folder))
    there = [each for each in result.findings if each.rule.code in codes.split()]
    assert there, [(each.rule.code, str(each.place)) for each in result.findings]
    assert any(
        each.place.row == 4 or str(each.place.row_id).rpartition("/")[2] == key.rpartition("/")[2] for each in there
    )
    assert any(each.rule.level is not Level.NOTE for each in there)


def swap(rows: Rows) -> None:
    rows[2], rows[3] = rows[3], rows[2]


def without_column(built: Built) -> None:
    pq.write_table(pq.read_table(built.table).drop_columns([built.text]), built.table)


def other_type(built: Built) -> None:
    table = pq.read_table(built.table)
    place = table.schema.get_field_index(built.text)
    pq.write_table(table.set_column(place, built.text, table[built.text].cast(pa.large_string())), built.table)


def further_column(built: Built) -> None:
    table = pq.read_table(built.table)
    pq.write_table(table.append_column("remark", pa.array(["x"] * len(table))), built.table)


def truncated(built: Built) -> None:
    built.table.write_bytes(built.table.read_bytes()[:-50])


FOLDER_DAMAGES: dict[str, tuple[Callable[[Built], object], str]] = {
    "row missing": (lambda b: b.change(lambda rows: rows.pop(5)), "HN-ROW-015 HN-CARD-002"),
    "row twice": (lambda b: b.change(lambda rows: rows.append(rows[0])), "HN-ROW-001 HN-CARD-002"),
    "rows swapped": (lambda b: b.change(swap), "HN-ROW-016"),
    "column missing": (without_column, "HN-SCH-006"),
    "column of another type": (other_type, "HN-SCH-006"),
    "column too many": (further_column, "HN-SCH-006"),
    "table cut": (truncated, "HN-FILE-009"),
    "table missing": (lambda b: b.table.unlink(), "HN-FILE-004"),
    "card missing": (lambda b: (b.folder / "README.md").unlink(), "HN-CARD-001"),
    "card without head": (lambda b: b.change_text("README.md", "---\n", ""), "HN-CARD-001"),
    "card of another count": (lambda b: b.change_text("README.md", "num_examples: ", "num_examples: 9"), "HN-CARD-002"),
    "lock missing": (lambda b: (b.folder / "images.lock.jsonl").unlink(), "HN-FILE-004"),
    "lock entry missing": (lambda b: b.change_lines("images.lock.jsonl", lambda rows: rows.pop(0)), "HN-IMG-004"),
    "lock entry twice": (
        lambda b: b.change_lines("images.lock.jsonl", lambda rows: rows.append(rows[0])),
        "HN-ROW-001",
    ),
    "lock of another digest": (
        lambda b: b.change_lines("images.lock.jsonl", lambda rows: rows[0]["digests"].update(sha256="0" * 64)),
        "HN-IMG-003",
    ),
    "lock line broken": (lambda b: b.change_text("images.lock.jsonl", "}\n", "\n"), "HN-FILE-001"),
    "rows file missing": (lambda b: (b.folder / b.rows_file).unlink(), "HN-FILE-004"),
    "rows file broken": (lambda b: b.change_text(b.rows_file, '"split":', '"split"'), "HN-FILE-001"),
    "rows file with a key twice": (
        lambda b: b.change_text(b.rows_file, '"split":', '"split":"test","split":'),
        "HN-FILE-001",
    ),
    "rows file with a row less": (lambda b: b.change_lines(b.rows_file, lambda rows: rows.pop(3)), "HN-ROW-015"),
    "unknown split": (lambda b: b.change_lines(b.rows_file, lambda rows: rows[3].update(split="dev")), "HN-SCH-001"),
    "recipe missing": (lambda b: b.change_text("recipe.json", '"seed":', '"sead":'), "HN-SCH-001"),
}


@pytest.mark.parametrize("name", FOLDER_DAMAGES)
def test_a_damaged_folder_is_found(good: Built, tmp_path: Path, name: str) -> None:
    damage, codes = FOLDER_DAMAGES[name]
    built = copy_of(good, tmp_path)
    damage(built)
    result = validate(str(built.folder))
    assert {each.rule.code for each in result.findings} & set(codes.split()), [e.rule.code for e in result.findings]
    assert result.count(Level.ERROR)


def criteria_changed(rows: Rows) -> None:
    rows[4]["criteria"][0]["points"] += 1


OWN_DAMAGES: dict[str, list[tuple[Callable[[Rows], object], str]]] = {
    "koffvqa": [
        (criteria_changed, "HN-ROW-015"),
        (lambda rows: rows[4]["criteria"].pop(), "HN-ROW-015"),
        (lambda rows: rows[4].update(criteria_raw="* 없음"), "HN-ROW-015"),
        (lambda rows: rows[4].update(category="Other"), "HN-ROW-015"),
        (lambda rows: rows[4].update(main_category=None), "HN-ROW-015"),
        (lambda rows: rows[4]["criteria"][0].update(kind="both"), "HN-SCH-001"),
        (lambda rows: rows[4].update(index="5000"), "HN-ROW-015"),
    ],
    "haerae-vision": [
        (lambda rows: rows[4]["checklist"].pop(), "HN-HV-003 HN-ROW-015"),
        (lambda rows: rows[4]["checklist"].append(rows[4]["checklist"][0]), "HN-HV-003 HN-HV-005"),
        (lambda rows: rows[4].update(checklist=[]), "HN-HV-003 HN-HV-004"),
        (lambda rows: rows[4].update(checklist_raw="[]"), "HN-HV-003 HN-ROW-015"),
        (lambda rows: rows[4].update(category="game"), "HN-HV-007 HN-HV-001 HN-ROW-015"),
        (lambda rows: rows[4]["images"].pop(), "HN-IMG-006"),
        (lambda rows: rows[4]["images"].reverse(), "HN-IMG-003"),
        (lambda rows: rows[4].update(source=""), "HN-HV-001 HN-ROW-015"),
    ],
    "sage-vwsd": [
        (lambda rows: rows[4].update(label=(rows[4]["label"] + 1) % 10), "HN-ROW-006"),
        (lambda rows: rows[4].update(label=10), "HN-ROW-004"),
        (lambda rows: rows[4]["candidates"][0].update(rows[4]["candidates"][1]), "HN-ROW-003 HN-ROW-005"),
        (lambda rows: rows[4]["candidates"].pop(), "HN-ROW-002"),
        (lambda rows: rows[4]["images"].reverse(), "HN-IMG-003"),
        (lambda rows: rows[4].update(target_span=[0, 1]), "HN-ROW-011"),
        (lambda rows: rows[4]["candidates"][0].update(image_id="vwsd:image.9999.jpg"), "HN-IMG-004"),
        (lambda rows: rows[4]["source"].update(lemma="x"), "HN-ROW-015"),
    ],
}  # fmt: skip


def test_damages_of_its_own_kind_are_found(good: Built, tmp_path: Path) -> None:
    [name] = [each for each in GOOD if each in str(good.folder)]
    for number, (damage, codes) in enumerate(OWN_DAMAGES[name]):
        built = copy_of(good, tmp_path / str(number))
        key = built.key(pq.read_table(built.table).to_pylist()[4])
        built.change(damage)
        found = [each for each in validate(str(built.folder)).findings if each.rule.code in codes.split()]
        assert found, (name, number)
        at_row = [
            each for each in found if each.place.row == 4 or str(each.place.row_id).endswith(key.rpartition("/")[2])
        ]
        assert at_row, (name, number, [str(each.place) for each in found])
