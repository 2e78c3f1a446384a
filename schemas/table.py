"""Tables, tab-separated as a rule, whose dialect is declared, never guessed."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hannun.schemas.errors import InputError
from hannun.schemas.text_file import decode, decode_line, lines_of, read_bytes

Dialect = Literal["plain", "quoted"]
"""`plain`: a tab always separates, a quote is a letter. `quoted`: cells may be quoted as in CSV."""

_DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_SHOWN = 200
"""Characters of a header that a message gives."""


@dataclass(frozen=True)
class TableRow:
    """One row: the line it begins on (from 1) and its cells by column; a cell is text, always."""

    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()


def parse_table(
    data: bytes,
    where: str,
    *,
    columns: Sequence[str] | None = None,
    dialect: Dialect = "plain",
    delimiter: str = "\t",
) -> Table:
    """Parse a table with a header line.

    Parameters
    ----------
    columns
        The columns that must be there; further ones are kept.

    Raises
    ------
    InputError
        Not UTF-8, no header, a missing or repeated column, or a row with another number of cells.
    """
    decoded = decode(data, where)
    if dialect == "plain":
        numbered = [(n, line.split(delimiter)) for n, line in enumerate(lines_of(decoded.text), 1) if line]
    else:
        numbered = _quoted_rows(decoded.text, where, delimiter)
    if not numbered:
        raise InputError("an empty table", where=where, expected="a header line and rows", todo="get the file again")
    header = tuple(numbered[0][1])
    _check_header(header, columns, where, delimiter)
    rows = []
    for line, cells in numbered[1:]:
        _check_cells(cells, header, f"{where}, line {line}", dialect)
        rows.append(TableRow(line, dict(zip(header, cells, strict=True))))
    return Table(header, tuple(rows), decoded.notes)


def _check_header(header: tuple[str, ...], columns: Sequence[str] | None, where: str, delimiter: str) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    missing = [name for name in columns or () if name not in header]
    if repeated or missing:
        raise InputError(
            "repeated column" if repeated else "missing column",
            where=f"{where}, line 1",
            expected=", ".join(columns) if columns else "every column once",
            got=", ".join(header)[:_SHOWN],
            todo=_header_todo(header, columns or (), delimiter),
        )


def _header_todo(header: tuple[str, ...], columns: Sequence[str], delimiter: str) -> str:
    for other, name in _DELIMITERS.items():
        if other != delimiter and {cell.strip() for cell in delimiter.join(header).split(other)}.issuperset(columns):
            return f"its cells are separated by {name}: save it with {_DELIMITERS[delimiter]} between them"
    return "give the table whose first line names these columns, spelt so"


def _quoted_rows(text: str, where: str, delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    # Cells that hold a base64 picture exceed csv's default of 131,072 characters.
    previous_limit = csv.field_size_limit(max(len(text), 1))
    try:
        line = 1
        for cells in reader:
            if cells:
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise _broken_quoting(error, f"{where}, line {line} to {reader.line_num}") from None
    finally:
        csv.field_size_limit(previous_limit)
    return rows


def quoted_rows(path: Path, *, delimiter: str = "\t") -> Iterator[TableRow]:
    """Rows of a quoted table one by one, for tables that are too large to be in memory as text.

    Raises
    ------
    InputError
        Not UTF-8, no header, a repeated column, broken quoting, a row with another number of cells, or one
        that a byte-order mark begins.
    """
    where = str(path)
    # Cells that hold a base64 picture exceed csv's default of 131,072 characters.
    previous_limit = csv.field_size_limit(sys.maxsize)
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header: tuple[str, ...] = ()
            for cells in reader:
                if cells and not header:
                    header = tuple(cells)
                    _check_header(header, None, where, delimiter)
                elif cells:
                    _refuse_inner_mark(cells[0], f"{where}, line {line}")
                    _check_cells(cells, header, f"{where}, line {line}", "quoted")
                    yield TableRow(line, dict(zip(header, cells, strict=True)))
                line = reader.line_num + 1
            if not header:
                raise InputError(
                    "an empty table", where=where, expected="a header line and rows", todo="get the file again"
                )
    except UnicodeDecodeError:
        # The whole-file reader names encoding and line.
        decode(read_bytes(path), where)
        raise
    except csv.Error as error:
        raise _broken_quoting(error, f"{where}, from line {line}") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=where, todo="check the path") from None
    finally:
        csv.field_size_limit(previous_limit)


def _check_cells(cells: Sequence[str], header: Sequence[str], where: str, dialect: Dialect) -> None:
    if len(cells) != len(header):
        raise InputError(
            "row with another number of cells than the header",
            where=where,
            expected=f"{len(header)} cells ({dialect} dialect)",
            got=f"{len(cells)} cells",
            todo="a quote or tab inside a cell? check the file's dialect",
        )


def _refuse_inner_mark(first_cell: str, where: str) -> None:
    if first_cell.startswith("\ufeff"):
        decode_line(first_cell.encode(), where)


def _broken_quoting(error: csv.Error, where: str) -> InputError:
    return InputError(
        f"quoting is broken: {error}", where=where, todo="close the quotes, or get the file again: it may be cut"
    )
