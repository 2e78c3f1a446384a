"""KOFFVQA: upstream's table row by row, its criteria read, its pictures where they stand in it.

Nothing is chosen here, so nothing depends on the seed. Rows and images keep the table's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannun.reconstruct.image_cell import image_bytes
from hannun.reconstruct.location import Row as Cell
from hannun.reconstruct.picture import refused_by_header
from hannun.reconstruct.recipes.criteria import parse_criteria
from hannun.reconstruct.recipes.koffvqa_categories import main_category
from hannun.reconstruct.source import Source
from hannun.reconstruct.transfer import Failed
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Drop, Planned
from hannun.schemas.question import Question
from hannun.schemas.text import comparison_key, nfc

VERSION = 1
OPTIONS: Mapping[str, int | tuple[str, ...]] = {"seed": 1}

SOURCE = "koffvqa"
COLUMNS = ("index", "image", "question", "answer", "category")
"""Of upstream's table; `answer` holds the grading criteria. Some files have `l2-category` too."""

_COARSER = "l2-category"
_GIVE = "give data/KOFFVQA.tsv of maum-ai/KOFFVQA_Data as published"


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:  # noqa: ARG001
    """Rows and images of the table.

    A row without a question, criteria or a picture that can be used is dropped, under its place and index.
    The question is put into NFC; criteria and category stay as stored beside what was read of them.

    Raises
    ------
    InputError
        The table lacks a column, an index stands in two rows or is none, or a text is of another type; the
        message names the row, counted from 0.
    """
    source = sources[SOURCE]
    assert source.records is not None
    rows: list[Question] = []
    images: list[LockEntry] = []
    dropped: list[Drop] = []
    first: dict[str, int] = {}
    for number, cells in enumerate(source.records):
        where = f"{source.where}, row {number}"
        _refuse_missing_columns(cells, where)
        index = _index(cells["index"], where)
        _refuse_repeated(index, number, first, where)
        texts = {name: _text(cells.get(name), name, where) for name in (*COLUMNS[2:], _COARSER)}
        why = next((f"no {what}" for name, what in _NEEDED.items() if not texts[name].strip()), None)
        picture = why or _picture(cells["image"])
        if isinstance(picture, str):
            dropped.append(Drop(f"row {number} (index {index})", picture))
            continue
        entry = _lock_entry(benchmark, index, number, picture)
        rows.append(_question(index, entry.image_id, texts))
        images.append(entry)
    dropped.sort(key=lambda drop: (drop.reason, drop.item))
    return Planned(rows=tuple(rows), images=tuple(images), dropped=tuple(dropped))


_NEEDED = {"question": "question", "answer": "grading criteria"}
"""Columns without which a row cannot be asked or graded, and what they hold."""


def _question(index: str, image_id: str, texts: Mapping[str, str]) -> Question:
    return Question(
        id=f"koffvqa/default/{index}",
        split="test",
        images=(image_id,),
        record={
            "index": index,
            "question": nfc(texts["question"]),
            "criteria": [each.to_json() for each in parse_criteria(nfc(texts["answer"]))],
            "criteria_raw": texts["answer"],
            "category": texts["category"],
            "main_category": main_category(texts["category"], texts[_COARSER]),
        },
    )


def _lock_entry(benchmark: Benchmark, index: str, number: int, picture: bytes) -> LockEntry:
    return LockEntry(
        image_id=f"koffvqa:{index}",
        locations=(str(Cell(SOURCE, number, "image")),),
        digests=digests_of(picture),
        bytes=len(picture),
        licence=benchmark.image_licence.for_lock(),
    )


def _picture(cell: Any) -> bytes | str:
    """The picture's bytes, or why there are none that can be used."""
    try:
        data, _ = image_bytes(cell)
    except Failed as failure:
        return f"image {failure.outcome.value}: {failure.note}"
    problem = refused_by_header(data)
    return data if problem is None else f"image {problem.outcome.value}: {problem.note}"


def _index(cell: Any, where: str) -> str:
    """The index as text: parquet and JSON may hold it as a number, 3.0 where some rows have none."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = nfc(str(cell)).strip() if isinstance(cell, str | int) and not isinstance(cell, bool) else ""
    if not text or "/" in text or any(map(str.isspace, text)) or comparison_key(text) != text:
        raise InputError(
            "not an index",
            where=where,
            expected="a number or a word, without white space, slashes and what cannot be seen",
            got=ascii(cell)[:80],
            todo=_GIVE,
        )
    return text


def _text(cell: Any, name: str, where: str) -> str:
    """A cell's text; only an empty one is empty: NA, null and None are words."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise InputError(f"{name} is not text", where=where, expected="text", got=ascii(cell)[:80], todo=_GIVE)
    return cell


def _refuse_missing_columns(cells: Mapping[str, Any], where: str) -> None:
    missing = [name for name in COLUMNS if name not in cells]
    if missing:
        raise InputError(
            f"no column {', '.join(missing)}",
            where=where,
            expected=", ".join(COLUMNS),
            got=", ".join(cells)[:200],
            todo=_GIVE,
        )


def _refuse_repeated(index: str, number: int, first: dict[str, int], where: str) -> None:
    if first.setdefault(index, number) != number:
        raise InputError(
            f"index {index} stands in two rows",
            where=where,
            expected="every index once",
            got=f"rows {first[index]} and {number}",
            todo=_GIVE,
        )
