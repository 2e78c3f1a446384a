"""Checks of records against the JSON Schema of their benchmark, and of tables against its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hannun.builders.features import arrow_schema
from hannun.builders.layout import IMAGE_IDS
from hannun.schemas.json_schema import merged_properties, problems
from hannun.validate.finding import Finding, Place, finding
from hannun.validate.reader import Row


def check_record(row: Row, schema: str) -> Iterator[Finding]:
    """Findings where a row breaks its schema; image cells, and ids in their place, are left to other checks."""
    values = {name: value for name, value in row.values.items() if name != IMAGE_IDS}
    if isinstance(values.get("images"), list):
        # Of a question they are ids, which are text.
        values["images"] = [each if isinstance(each, str) else None for each in values["images"]]
    if "image" in values:
        values["image"] = None
    for path, message in problems(schema, values):
        yield finding("schema", row.at(path.removeprefix("$.").removeprefix("$")), message)


def nullable_fields(record: str) -> frozenset[str]:
    """Fields of a record schema that may hold nothing."""
    properties = merged_properties(record).items()
    return frozenset(name for name, schema in properties if "null" in schema.get("type", ()))


def check_columns(place: Place, path: Path, features: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings where a parquet file does not have the columns and types of its features."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = arrow_schema(features)
    try:
        got = pq.read_schema(path)
    except (pa.ArrowException, OSError):
        return  # the reader says so
    for column in expected:
        if column.name not in got.names:
            yield finding("columns", place, f"no column {column.name!r}", expected=str(column.type))
        elif got.field(column.name).type != column.type:
            yield finding(
                "columns",
                place,
                f"column {column.name!r} has another type",
                expected=str(column.type),
                found=str(got.field(column.name).type),
            )
    for name in got.names:
        if name not in expected.names:
            yield finding("columns", place, f"column {name!r} is not in the record's schema")
