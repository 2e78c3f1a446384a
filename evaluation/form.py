"""Forms that people fill: rows without their answers, in an order of their own, and the answers read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash
from hannun.reconstruct.rank import ranked
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Instance
from hannun.schemas.table import TableRow, parse_table
from hannun.schemas.text_file import decode, read_bytes

COLUMNS = ("number", "item", "sentence", "target", "choice", "also", "natural", "remark")
NONE = ("none", "없음")
_UNNATURAL = ("no", "n", "아니오", "어색함")


@dataclass(frozen=True)
class Question:
    """One row of a form. `item` stands for the row's id, which would name the sense."""

    number: int
    item: str
    row: Instance

    @property
    def sentence(self) -> str:
        """The context with its target in corner brackets."""
        start, end = self.row.target_span
        context = self.row.context
        return f"{context[:start]}「{context[start:end]}」{context[end:]}"


@dataclass(frozen=True)
class Answer:
    """What one person said of one row: `choice` and `also` are places, -1 is "none of them"."""

    choice: int
    also: int | None
    natural: bool
    remark: str


def questions(rows: Sequence[Instance], seed: int) -> list[Question]:
    """The rows of one config in an order that their ids do not tell."""
    by_item = {item_of(row): row for row in rows}
    order = ranked(seed, "form", "", by_item)
    return [Question(number, item, by_item[item]) for number, item in enumerate(order, 1)]


def item_of(row: Instance) -> str:
    """What stands for a row's id in forms: the same in each, so that forms can be put together."""
    return xxhash.xxh3_64_hexdigest(row.id.encode())[:10]


def form_csv(asked: Sequence[Question]) -> bytes:
    """An empty form as CSV; a byte-order mark tells spreadsheets that it is UTF-8."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for each in asked:
        writer.writerow([each.number, each.item, each.sentence, each.row.target, "", "", "", ""])
    return buffer.getvalue().encode("utf-8-sig")


def read_form(path: Path, rows: Mapping[str, Instance]) -> dict[str, Answer]:
    """A filled form: row id -> answer, for the rows that were answered.

    Parameters
    ----------
    rows
        `item_of` a row -> the row.

    Raises
    ------
    InputError
        The file is no form, names an unknown item, or holds a choice that is none of the ten places.
    """
    table = parse_table(utf8_bytes(path), str(path), columns=("item", "choice"), dialect="quoted", delimiter=",")
    answers: dict[str, Answer] = {}
    for line in table.rows:
        if not line["choice"].strip():
            continue
        row = rows.get(line["item"].strip())
        if row is None:
            raise _error(path, line, "no such item in the data set", "an item of its forms", line["item"])
        if row.id in answers:
            raise _error(path, line, "an item is answered twice", "every item once", line["item"])
        also = line.cells.get("also", "").strip()
        answers[row.id] = Answer(
            choice=_place(path, line, line["choice"]),
            also=_place(path, line, also) if also and also != "-" else None,
            natural=line.cells.get("natural", "").strip().lower() not in _UNNATURAL,
            remark=line.cells.get("remark", "").strip(),
        )
    return answers


def utf8_bytes(path: Path) -> bytes:
    """The file's bytes in UTF-8; Korean spreadsheets save CSV as CP949."""
    data = read_bytes(path)
    try:
        decode(data, str(path))
    except InputError:
        try:
            return data.decode("cp949").encode()
        except UnicodeDecodeError:
            pass
    return data


def _place(path: Path, line: TableRow, text: str) -> int:
    text = text.strip().lower()
    if text in NONE:
        return -1
    if text.isdecimal() and int(text) < CANDIDATES:
        return int(text)
    raise _error(path, line, "no such picture", f"0 to {CANDIDATES - 1}, or {' or '.join(NONE)}", text)


def _error(path: Path, line: TableRow, what: str, expected: str, got: str) -> InputError:
    return InputError(what, where=f"{path}, line {line.line}", expected=expected, got=got, todo="correct the form")
