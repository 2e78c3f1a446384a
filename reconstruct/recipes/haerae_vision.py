"""HAERAE-Vision: every published row as three questions, in each wording and in both.

Nothing is chosen here, so nothing depends on the seed. The table is read once; of a picture only its
digests are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from hannun.reconstruct.image_cell import image_bytes, picture_cells
from hannun.reconstruct.location import Row
from hannun.reconstruct.picture import sniff
from hannun.reconstruct.recipes.checklist import Checklist, read_checklist
from hannun.reconstruct.source import Source
from hannun.reconstruct.transfer import Failed
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome
from hannun.schemas.plan import Drop, Planned
from hannun.schemas.question import Question
from hannun.schemas.text import nfc

VERSION = 1
OPTIONS: Mapping[str, int | tuple[str, ...]] = {"seed": 1}

SOURCE = "haerae-vision"
WORDINGS = {"original": "question_original", "explicit": "question_explicit"}
"""Config -> the column of its question."""
PAIRED = "paired"
COUNTS = {653: "the whole set of the paper", 165: "the public part that its README names"}
"""Number of rows -> what a table of so many is."""

_IMAGES = "images"
_COLUMNS = ("question_idx", *WORDINGS.values(), "category", "source", _IMAGES, "checklist")
_ANSWER = "answer"
"""Not in the public set; upstream's own code takes it where it is there."""
_UNSAFE = re.compile(r"[/%\s]+")
_TODO = "give the table as published"


@dataclass
class _Rows:
    """What was made of the rows so far; `records` by config."""

    records: dict[str, list[Question]] = field(default_factory=lambda: {config: [] for config in (*WORDINGS, PAIRED)})
    images: list[LockEntry] = field(default_factory=list)
    dropped: list[Drop] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    forms: Counter[str] = field(default_factory=Counter)


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:  # noqa: ARG001
    """Questions and pictures of the published table, in its order.

    A row without a question or a usable picture is dropped, with the reason. A picture that is cut is kept: its
    bytes are the published ones (upstream turns on LOAD_TRUNCATED_IMAGES).

    Raises
    ------
    InputError
        A column is missing, a `question_idx` stands in two rows, or a cell cannot be read; the message names
        the row, counted from 0.
    """
    source = sources[SOURCE]
    assert source.records is not None  # the catalogue says that it holds records
    made = _Rows()
    licence = benchmark.image_licence.for_lock()
    for number, row in enumerate(source.records.rows((*_COLUMNS, _ANSWER))):
        _add(made, number, row, f"{source.where}, row {number}", licence)
    return Planned(
        rows=tuple(question for config in benchmark.configs for question in made.records[config.name]),
        images=tuple(made.images),
        dropped=tuple(sorted(made.dropped, key=lambda drop: (drop.reason, drop.item))),
        notes=_notes(made),
    )


def _add(made: _Rows, number: int, row: Mapping[str, Any], where: str, licence: Mapping[str, Any]) -> None:
    missing = [column for column in _COLUMNS if column not in row]
    if missing:
        raise InputError(
            f"no column {missing[0]}", where=where, expected=", ".join(_COLUMNS), got=", ".join(row), todo=_TODO
        )
    name = _name(row["question_idx"], where)
    if name in made.numbers:
        raise InputError(
            f"question_idx {name} stands in two rows",
            where=where,
            expected="every question_idx once",
            got=f"rows {made.numbers[name]} and {number}",
            todo="give the files of one split only, each once",
        )
    made.numbers[name] = number
    checklist = _checklist(row["checklist"], where)
    made.forms[checklist.form.value] += 1
    wordings = {column: _text(row[column], column, where) for column in WORDINGS.values()}
    item = _UNSAFE.sub(lambda found: quote(found[0], safe=""), name)
    unsaid = next((column for column, text in wordings.items() if not (text or "").strip()), None)
    if unsaid is not None:
        made.dropped.append(Drop(f"{name} (row {number})", f"{unsaid} is empty"))
        return
    try:
        images = _lock_entries(picture_cells(row[_IMAGES]), number, item, licence)
    except Failed as failure:
        made.dropped.append(Drop(f"{name} (row {number})", f"a picture cannot be had: {failure.what}"))
        return
    made.images += images
    ids = tuple(entry.image_id for entry in images)
    for config, record in _records(name, row, wordings, checklist, where).items():
        made.records[config].append(Question(f"{SOURCE}/{config}/{item}", "test", ids, record))


def _records(
    name: str, row: Mapping[str, Any], wordings: Mapping[str, str | None], checklist: Checklist, where: str
) -> dict[str, dict[str, Any]]:
    """Config -> its record."""
    shared = {
        "question_idx": name,
        "category": _text(row["category"], "category", where),
        "source": _text(row["source"], "source", where),
        "checklist": list(checklist.items),
        "checklist_raw": checklist.raw,
        _ANSWER: _text(row.get(_ANSWER), _ANSWER, where),
    }
    alone = {config: {**shared, "question": wordings[column]} for config, column in WORDINGS.items()}
    return {**alone, PAIRED: {**shared, **wordings}}


def _name(value: Any, where: str) -> str:
    """The number or text that a row is called by; floats are what a table with gaps makes of whole numbers."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    name = nfc(str(value)).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if not name:
        raise InputError(
            "a row without question_idx", where=where, expected="a whole number, or text", got=repr(value), todo=_TODO
        )
    return name


def _text(value: Any, column: str, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None else nfc(value)
    if isinstance(value, (int, float)):
        # A category may be stored as the number of a class.
        return str(value)
    raise InputError(f"{column} is not text", where=where, expected="text", got=repr(value)[:200], todo=_TODO)


def _checklist(cell: Any, where: str) -> Checklist:
    try:
        return read_checklist(cell)
    except InputError as error:
        raise InputError(
            error.what, where=f"{where}, checklist", expected=error.expected, got=error.got, todo=error.todo
        ) from None


def _lock_entries(cells: Iterable[Any], row: int, item: str, licence: Mapping[str, Any]) -> list[LockEntry]:
    """The pictures of a row; Failed where one cannot be had, since a question is asked with all of its pictures."""
    entries = []
    for place, cell in enumerate(cells):
        data, _ = image_bytes(cell)
        problem = sniff(data)
        if problem is not None and problem.outcome is Outcome.NOT_AN_IMAGE:
            raise Failed(problem.outcome, problem.note)
        entries.append(
            LockEntry(
                image_id=f"{SOURCE}:{item}/{place}",
                locations=(str(Row(SOURCE, row, _IMAGES, place)),),
                digests=digests_of(data),
                bytes=len(data),
                licence=licence,
            )
        )
    if not entries:
        raise Failed(Outcome.GONE, "no picture in the row")
    return entries


def _notes(made: _Rows) -> tuple[str, ...]:
    """What is not known of the published table, and was found in this one."""
    rows = len(made.numbers)
    forms = ", ".join(f"{form} in {count:,} rows" for form, count in sorted(made.forms.items()))
    return (f"{rows:,} rows: {COUNTS.get(rows, 'neither 653 nor 165')}", f"checklist: {forms}")
