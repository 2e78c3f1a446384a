"""A plan folder: recipe.json, instances.jsonl, images.lock.jsonl, and what fetch observed.

`plan` writes the first three and nothing ever rewrites them; `fetch` appends to observed.jsonl.
"""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.reconstruct.journal import read_journal
from hannun.schemas import json_schema
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.plan import Planned, Recipe
from hannun.schemas.strict_json import dump_lines, dumps, load, numbered_lines
from hannun.schemas.text_file import read_text

RECIPE, ROWS, LOCK, OBSERVED = "recipe.json", "instances.jsonl", "images.lock.jsonl", "observed.jsonl"


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
            expected=f"a folder with {RECIPE}, {ROWS} and {LOCK}",
            todo="make one with: sage-reconstruct plan NAME --out DIR",
        )

    def recipe(self) -> dict[str, Any]:
        """The recipe as JSON; InputError when it is not one."""
        value = load(self.folder / RECIPE)
        _check("recipe", value, str(self.folder / RECIPE))
        assert isinstance(value, dict)  # its schema says so
        return value

    def rows(self) -> list[Instance]:
        return [Instance.from_json(row) for row in read_records(self.folder / ROWS, "instance")]

    def lock(self) -> list[LockEntry]:
        return read_lock(self.folder / LOCK)

    def observations(self) -> list[Observation]:
        """Every attempt so far; empty before the first fetch."""
        path = self.folder / OBSERVED
        rows = list(read_journal(path))
        for number, row in enumerate(rows, 1):
            _check("observed", row, f"{path}, line {number}")
        return [Observation.from_json(row) for row in rows]


def write_plan(folder: Path, recipe: Recipe, planned: Planned) -> bool:
    """Write a plan; False when the folder already holds this very plan.

    Raises
    ------
    InputError
        The folder holds another plan, or something else: nothing is overwritten.
    """
    files = {
        RECIPE: dumps(recipe.to_json(planned)) + "\n",
        ROWS: dump_lines(row.to_json() for row in planned.rows),
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
    if any(name in there for name in (ROWS, LOCK)):
        raise InputError("the folder holds parts of a plan", where=str(folder), todo="choose another --out")
    staging = folder.parent / f".hannun-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        staging.mkdir(parents=True)
        for name, text in files.items():
            (staging / name).write_bytes(text.encode())
        folder.mkdir(exist_ok=True)
        # The recipe goes last: a folder without it is not a plan.
        for name in (ROWS, LOCK, RECIPE):
            (staging / name).replace(folder / name)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(folder), todo="choose another --out"
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return True


def read_lock(path: Path) -> list[LockEntry]:
    """A lock file, checked against its schema, every image once.

    Raises
    ------
    InputError
        A line is not a lock entry, or an image stands there twice.
    """
    entries = [LockEntry.from_json(row) for row in read_records(path, "lock")]
    seen: set[str] = set()
    for entry in entries:
        if entry.image_id in seen:
            raise InputError("an image twice in the lock", where=str(path), got=entry.image_id)
        seen.add(entry.image_id)
    return entries


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
