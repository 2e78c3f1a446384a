"""What the tables of a built folder hold, as their files say: configs, splits, rows, bytes, features."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.builders.layout import IMAGES
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError

TABLE = re.compile(r"(?P<split>[a-z]+)-\d{5}-of-\d{5}\.parquet")
"""The name of a table's file."""


@dataclass(frozen=True)
class SplitSize:
    """Rows, and bytes of the parquet files, of one split of one config."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class Tables:
    """Config -> split -> size, and config -> features by column, configs and splits in the catalogue's order."""

    sizes: Mapping[str, Mapping[str, SplitSize]]
    features: Mapping[str, Mapping[str, Any]]


def table_files(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Config, split and path of every table below a folder, in order of their names."""
    for path in sorted(folder.glob("*/*.parquet")):
        named = TABLE.fullmatch(path.name)
        if named:
            yield path.parent.name, named["split"], path


def read_tables(folder: Path, benchmark: Benchmark) -> Tables:
    """What the folder's tables hold.

    Raises
    ------
    InputError
        A table cannot be read, or does not say its features.
    """
    sizes: dict[str, dict[str, SplitSize]] = {}
    features: dict[str, Mapping[str, Any]] = {}
    for config, split, path in table_files(folder):
        rows, described = _read(path)
        before = sizes.setdefault(config, {}).get(split, SplitSize(0, 0))
        sizes[config][split] = SplitSize(before.rows + rows, before.bytes + path.stat().st_size)
        features[config] = described
    known = {config.name: config.splits for config in benchmark.configs}
    order = [*known, *sorted(sizes.keys() - known.keys() - {IMAGES}), IMAGES]
    return Tables(
        {name: _ordered(sizes[name], known.get(name, ())) for name in order if name in sizes},
        {name: features[name] for name in order if name in features},
    )


def _ordered(sizes: Mapping[str, SplitSize], splits: tuple[str, ...]) -> dict[str, SplitSize]:
    return {split: sizes[split] for split in (*splits, *sorted(sizes.keys() - set(splits))) if split in sizes}


def _read(path: Path) -> tuple[int, Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as parquet:
            metadata = parquet.schema_arrow.metadata or {}
            described = json.loads(metadata[b"huggingface"])["info"]["features"]
            columns = {column.name: column.type for column in parquet.schema_arrow}
            return parquet.metadata.num_rows, _in_order(described, columns)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            "not a table of a built folder",
            where=str(path),
            got=str(error).partition("\n")[0][:200] or type(error).__name__,
            todo="build it again: hannun build NAME --out DIR",
        ) from None


def _in_order(described: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """Features in the order of the table's columns and their fields; the metadata sort them by name."""
    return {name: _feature_in_order(described[name], kind) for name, kind in types.items()}


def _feature_in_order(feature: Any, kind: Any) -> Any:
    if isinstance(feature, list):
        return [_feature_in_order(feature[0], kind.value_type)]
    if "_type" in feature:
        return feature
    return _in_order(feature, {field.name: field.type for field in kind})
