"""A plan folder: recipe.json, instances.jsonl, images.lock.jsonl, and what fetch observed.

`plan` writes the first three and nothing ever rewrites them; `fetch` appends to observed.jsonl, and to
published.jsonl what hosts say of licences.
"""

from __future__ import annotations

import codecs
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash
from hannun.reconstruct.journal import read_journal
from hannun.schemas import json_schema
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.plan import Planned, Recipe
from hannun.schemas.row import SCHEMAS, Row, row_from_json
from hannun.schemas.strict_json import dump_lines, dumps, load, loads, numbered_lines
from hannun.schemas.text_file import decode_line, read_text

RECIPE, LOCK = "recipe.json", "images.lock.jsonl"
OBSERVED, PUBLISHED = "observed.jsonl", "published.jsonl"


@dataclass(frozen=True)
class PlanFolder:
    """The files of one plan."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> PlanFolder:
        """The plan in a folder, or in its `plan` folder as builds keep it.

        Raises
        ------
        InputError
            There is no plan there.
        """
        for place in (folder / "plan", folder):
            if (place / RECIPE).is_file():
                return cls(place)
        raise InputError(
            "no plan here" if folder.is_dir() else "no such folder",
            where=str(folder),
            expected=f"a folder with {RECIPE}, {' or '.join(SCHEMAS)}, and {LOCK}",
            todo="make one with: sage-reconstruct plan NAME --out DIR",
        )

    def recipe(self) -> dict[str, Any]:
        """The recipe as JSON; InputError when it is not one."""
        value = load(self.folder / RECIPE)
        _check("recipe", value, str(self.folder / RECIPE))
        assert isinstance(value, dict)  # its schema says so
        return value

    @property
    def rows_path(self) -> Path:
        """The file of its rows."""
        there = [self.folder / name for name in SCHEMAS if (self.folder / name).is_file()]
        return there[0] if there else self.folder / next(iter(SCHEMAS))

    def rows(self) -> list[Row]:
        return [row_from_json(row) for row in read_records(self.rows_path, SCHEMAS[self.rows_path.name])]

    def lock(self) -> list[LockEntry]:
        return read_lock(self.folder / LOCK)

    @property
    def lock_path(self) -> Path:
        return self.folder / LOCK

    def observed_rows(self) -> Iterator[dict[str, Any]]:
        """Every attempt so far as JSON, one by one; none before the first fetch."""
        return self._journal_rows(OBSERVED, "observed")

    def published_rows(self) -> Iterator[dict[str, Any]]:
        """What hosts said of licences and authors so far, as JSON, one by one."""
        return self._journal_rows(PUBLISHED, "published")

    def _journal_rows(self, name: str, schema: str) -> Iterator[dict[str, Any]]:
        path = self.folder / name
        for number, row in enumerate(read_journal(path), 1):
            _check(schema, row, f"{path}, line {number}")
            yield row

    def observations(self) -> list[Observation]:
        """Every attempt so far."""
        return [Observation.from_json(row) for row in self.observed_rows()]


def write_plan(folder: Path, recipe: Recipe, planned: Planned, rows_file: str) -> bool:
    """Write a plan; False when the folder already holds this very plan.

    Parameters
    ----------
    rows_file
        The name of the file of its rows, one of `SCHEMAS`.

    Raises
    ------
    InputError
        The folder holds another plan, or something else: nothing is overwritten.
    """
    files = {
        RECIPE: dumps(recipe.to_json(planned)) + "\n",
        rows_file: dump_lines(row.to_json() for row in planned.rows),
        LOCK: dump_lines(entry.to_json() for entry in planned.images),
    }
    if folder.exists() and not folder.is_dir():
        raise InputError("not a folder", where=str(folder), todo="choose another --out")
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if RECIPE in there:
        if all(
            (folder / name).is_file() and (folder / name).read_bytes() == text.encode() for name, text in files.items()
        ):
            return False
        raise InputError(
            "the folder holds another plan, or one that was changed by hand",
            where=str(folder),
            todo="choose another --out, or remove the folder yourself",
        )
    if any(name in there for name in (*SCHEMAS, LOCK)):
        raise InputError("the folder holds parts of a plan", where=str(folder), todo="choose another --out")
    staging = folder.parent / f".hannun-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        staging.mkdir(parents=True)
        for name, text in files.items():
            (staging / name).write_bytes(text.encode())
        folder.mkdir(exist_ok=True)
        # The recipe goes last: a folder without it is not a plan.
        for name in (rows_file, LOCK, RECIPE):
            (staging / name).replace(folder / name)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(folder), todo="choose another --out"
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return True


def read_lock(path: Path) -> list[LockEntry]:
    """A whole lock file; InputError as for `lock_lines`."""
    return [entry for _, entry in lock_lines(path)]


def lock_lines(path: Path) -> Iterator[tuple[int, LockEntry]]:
    """Entries of a lock file one by one, and the byte at which each one's line begins.

    Raises
    ------
    InputError
        A line is not a lock entry, or an image stands there twice.
    """
    # Digests of ids, not ids: a lock may have a million of them.
    seen: set[int] = set()
    offset = 0
    try:
        with path.open("rb") as stream:
            for number, data in enumerate(stream, 1):
                line = data.removeprefix(codecs.BOM_UTF8) if number == 1 else data
                if line.strip():
                    entry = _lock_entry(line, f"{path}, line {number}")
                    mark = xxhash.xxh3_64_intdigest(entry.image_id.encode())
                    if mark in seen:
                        raise InputError("an image twice in the lock", where=str(path), got=entry.image_id)
                    seen.add(mark)
                    yield offset + len(data) - len(line), entry
                offset += len(data)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), todo="check the path") from None


def lock_entries_at(path: Path, offsets: Iterable[int]) -> Iterator[LockEntry]:
    """The entries whose lines begin at those bytes, as `lock_lines` gave them."""
    with path.open("rb") as stream:
        for offset in offsets:
            stream.seek(offset)
            yield _lock_entry(stream.readline(), f"{path}, byte {offset}")


def _lock_entry(line: bytes, where: str) -> LockEntry:
    row = loads(decode_line(line.rstrip(b"\r\n"), where), where)
    _check("lock", row, where)
    return LockEntry.from_json(row)


def read_records(path: Path, schema: str) -> list[dict[str, Any]]:
    """A JSON lines file whose every line the schema accepts; InputError with line and rule otherwise."""
    rows = []
    for number, row in numbered_lines(read_text(path).text, str(path)):
        _check(schema, row, f"{path}, line {number}")
        rows.append(row)
    return rows


def _check(schema: str, value: Any, where: str) -> None:
    problems = json_schema.problems(schema, value)
    if problems:
        at, message = problems[0]
        raise InputError(f"not a valid {schema} record", where=f"{where}, {at}", got=message)
