"""Side files: JSON lines keyed by row, of definitions, constraint questions, reference answers or people's points."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.evaluation.row_names import RowNames
from hannun.schemas.digest import IDENTITY, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.text_file import read_text

AXES = ("object", "attribute", "state")
"""What GAR's constraint questions ask about (SAGE, arXiv 2610.31838)."""


@dataclass(frozen=True)
class SideFile:
    """Row id -> what a file says of it."""

    path: Path
    lines: Mapping[str, Mapping[str, Any]]

    @property
    def digest(self) -> str:
        return f"{IDENTITY}:{digests_of_file(self.path, [IDENTITY])[IDENTITY]}"

    def texts(self, field: str) -> dict[str, str]:
        """Row id -> the text of a field."""
        return {row_id: line[field] for row_id, line in self.lines.items()}


def read_side_file(path: Path, schema: str, row_ids: Collection[str]) -> SideFile:
    """Read a side file.

    Parameters
    ----------
    schema
        `definition`, `constraints` or `reference`.

    Raises
    ------
    InputError
        With file and line: not such a line, a row that the data set does not have, or one that comes twice; or a file
        without any line.
    """
    return SideFile(path, dict(_lines(path, schema, row_ids)))


def read_points(path: Path, row_ids: Collection[str]) -> dict[tuple[str, str | None], float]:
    """(Row id, model) -> points that people gave; the model is None where a file does not say it.

    Raises
    ------
    InputError
        As `read_side_file` says.
    """
    return {(row_id, line.get("model")): float(line["points"]) for row_id, line in _lines(path, "points", row_ids)}


def _lines(path: Path, schema: str, row_ids: Collection[str]) -> list[tuple[str, Mapping[str, Any]]]:
    names, places = RowNames(row_ids), dict[tuple[str, str | None], str]()
    found = []
    for number, line in numbered_lines(read_text(path).text, str(path)):
        where = f"{path}, line {number}"
        if wrong := problems(schema, line):
            at, message = wrong[0]
            raise InputError(f"not a line of {schema}", where=f"{where}, {at}", got=message, todo="correct the line")
        row_id = names.row_id(str(line["id"]), where, line.get("config"))
        key = row_id, line.get("model")
        if key in places:
            raise InputError(
                "a row comes twice", where=where, got=f"{row_id}, as in {places[key]}", todo="remove one of them"
            )
        places[key] = where
        found.append((row_id, line))
    if not found:
        raise InputError("no line in the file", where=str(path), todo="give another file")
    return found
