"""Reading what is to be checked: rows one by one, and findings where a row cannot be read.

Parquet is read by Arrow, row group by row group, and does not depend on the metadata that `datasets`
writes beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import loads
from hannun.schemas.table import Dialect, Table, parse_table
from hannun.schemas.text_file import NEWLINE, decode_line, read_bytes, without_bom
from hannun.validate.finding import Finding, Place, finding

SUFFIXES = (".jsonl", ".tsv", ".parquet")
GivenDialect = Literal["plain", "quoted"] | None


@dataclass(frozen=True)
class Row:
    """A row and where it stands."""

    place: Place
    values: dict[str, Any]

    def at(self, field: str) -> Place:
        """The place of one of its fields."""
        return replace(self.place, field=field)


def rows_of(
    place: Place, path: Path, dialect: GivenDialect = None, *, pictures: bool = True
) -> Iterator[Row | Finding]:
    """Rows of a .jsonl, .tsv or .parquet file, and findings about the file.

    Parameters
    ----------
    place
        The file as findings name it, with its config and split.
    dialect
        Of a .tsv file; None reads it both ways and reports where the readings differ.
    pictures
        Whether columns of pictures are read; without them a parquet file's rows lack those columns.

    Raises
    ------
    InputError
        The file is not there, not UTF-8 at all, or of no kind that is read.
    """
    if path.suffix == ".jsonl":
        yield from _json_lines(place, read_bytes(path))
    elif path.suffix == ".tsv":
        yield from _table_rows(place, read_bytes(path), dialect)
    elif path.suffix == ".parquet":
        yield from _parquet_rows(place, path, pictures=pictures)
    else:
        raise InputError("a kind of file that is not read", where=str(path), expected=", ".join(SUFFIXES))


def at_row(place: Place, number: int, values: dict[str, Any]) -> Place:
    """The place of a row, with its id where it has one."""
    return Place(place.file, place.config, place.split, number, row_name(values))


def row_name(values: Mapping[str, Any]) -> str | None:
    """What a row calls itself, as text."""
    named = next((values[key] for key in ID_COLUMNS if values.get(key) is not None), None)
    return None if named is None else str(named)


ID_COLUMNS = ("id", "index", "question_idx")


def _json_lines(place: Place, data: bytes) -> Iterator[Row | Finding]:
    data, notes = without_bom(data, place.file)
    for note in notes:
        yield finding("bom", place, note)
    number = -1
    for line_number, line in enumerate(data.split(NEWLINE), 1):
        if not line.strip():
            continue
        number += 1
        where = f"line {line_number}"
        try:
            values = loads(decode_line(line.removesuffix(b"\r"), where), where)
        except InputError as error:
            yield finding("broken-line", Place(place.file, row=number), f"{where}: {error.what}", found=error.got)
            continue
        if not isinstance(values, dict):
            yield finding("broken-line", Place(place.file, row=number), f"{where}: not a JSON object")
            continue
        yield Row(at_row(place, number, values), values)


def _table_rows(place: Place, data: bytes, dialect: GivenDialect) -> Iterator[Row | Finding]:
    data, notes = without_bom(data, place.file)
    for note in notes:
        yield finding("bom", place, note)
    if not data.strip():
        return
    readings = {name: _reading(data, place.file, name) for name in _dialects(dialect)}
    tables = [table for table in readings.values() if isinstance(table, Table)]
    if len(readings) == 2 and not _same(list(readings.values())):
        counts = {name: f"{len(t.rows)} rows" if isinstance(t, Table) else t.what for name, t in readings.items()}
        yield finding(
            "dialect",
            place,
            "the table reads differently with and without quoting",
            expected="the same rows either way, or a declared dialect",
            found="; ".join(f"{name}: {count}" for name, count in counts.items()),
        )
        return
    if not tables:
        error = next(each for each in readings.values() if isinstance(each, InputError))
        yield finding("broken-line", place, f"{error.what} ({error.where})", expected=error.expected, found=error.got)
        return
    for number, row in enumerate(tables[0].rows):
        yield Row(at_row(place, number, row.cells), dict(row.cells))


def _dialects(given: GivenDialect) -> tuple[Dialect, ...]:
    return ("plain", "quoted") if given is None else (given,)


def _reading(data: bytes, where: str, dialect: Dialect) -> Table | InputError:
    try:
        return parse_table(data, where, dialect=dialect)
    except InputError as error:
        return error


def _same(readings: list[Table | InputError]) -> bool:
    first, second = readings
    if isinstance(first, Table) and isinstance(second, Table):
        return [row.cells for row in first.rows] == [row.cells for row in second.rows]
    return isinstance(first, InputError) and isinstance(second, InputError)


def _parquet_rows(place: Place, path: Path, *, pictures: bool) -> Iterator[Row | Finding]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    read_bytes_of = path.stat().st_size if path.is_file() else -1
    if read_bytes_of < 0:
        raise InputError("no such file", where=str(path), todo="check the path")
    if read_bytes_of == 0:
        return
    try:
        with pq.ParquetFile(path) as parquet:
            needs = newer_reader(parquet.schema_arrow.metadata)
            if needs:
                yield finding("reader-version", place, f"needs datasets >= 4: {needs}")
            schema = parquet.schema_arrow
            columns = None if pictures else [each.name for each in schema if not _holds_pictures(each.type)]
            number = 0
            for group in range(parquet.num_row_groups):
                for values in parquet.read_row_group(group, columns=columns).to_pylist():
                    yield Row(at_row(place, number, values), values)
                    number += 1
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        yield finding("damaged-file", place, "cannot be read to its end", found=str(error).splitlines()[0][:200])


def _holds_pictures(kind: Any) -> bool:
    """Whether an Arrow type is that of pictures: bytes, a struct of bytes and path, or a list of either."""
    import pyarrow as pa

    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = kind.value_type
    if pa.types.is_struct(kind):
        return {each.name for each in kind} == {"bytes", "path"}
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def features_of(path: Path) -> Any:
    """The features that a parquet file's own metadata describe, None where it has none that can be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        described = json.loads((pq.read_schema(path).metadata or {}).get(b"huggingface", b"{}"))
        return described["info"]["features"]
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        return None


def newer_reader(metadata: dict[bytes, bytes] | None) -> str | None:
    """Why an older `datasets` cannot load a file with that Arrow metadata; None when it can."""
    try:
        described = json.loads((metadata or {}).get(b"huggingface", b"{}"))
    except ValueError:
        return None
    info = described.get("info") if isinstance(described, dict) else None
    kinds = _feature_kinds(info.get("features")) if isinstance(info, dict) else set()
    newer = sorted(kinds & {"List", "LargeList"})
    return f"feature type {', '.join(newer)} is unknown to 3.x" if newer else None


def _feature_kinds(feature: Any) -> set[str]:
    if isinstance(feature, list):
        return set().union(*map(_feature_kinds, feature)) if feature else set()
    if isinstance(feature, dict):
        own = {feature["_type"]} if isinstance(feature.get("_type"), str) else set()
        return own.union(*(_feature_kinds(inner) for inner in feature.values()))
    return set()
