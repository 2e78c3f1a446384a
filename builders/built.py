"""What a built folder holds: the pictures in its tables, by image id or beside the rows that they belong to."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from hannun.builders.layout import IMAGE_IDS, IMAGES, Layout, layout_of
from hannun.reconstruct.plan_folder import PlanFolder
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.schemas.row import Row

Cell = dict[str, Any]
"""A picture as tables hold it: `bytes` and `path`."""

_COLUMNS = ("candidates", IMAGE_IDS, "image", IMAGES)


def built_pictures(folder: Path) -> Iterator[tuple[str, Cell]]:
    """Image id and cell of every picture in a built folder's tables, each once, a row group in memory.

    Raises
    ------
    OSError
        A table cannot be read.
    InputError
        The tables do not hold the folder's questions.
    """
    if layout_of(folder) is Layout.BY_ID:
        for path in sorted((folder / IMAGES).glob("*.parquet")):
            for row in _rows(path, ("image_id", "image")):
                yield row["image_id"], row["image"]
        return
    seen: set[str] = set()
    for image_ids, cells in _embedded(folder, seen):
        for image_id, cell in zip(image_ids, cells, strict=True):
            if image_id not in seen:
                seen.add(image_id)
                yield image_id, cell


def row_cells(folder: Path, config: str, splits: Container[str] | None = None) -> Iterator[tuple[Row, list[Cell]]]:
    """The rows of one config of a built folder, each with the pictures it shows, a row group in memory.

    Parameters
    ----------
    splits
        Those to read; all when None.

    Raises
    ------
    OSError
        A table cannot be read.
    InputError
        The tables do not hold the folder's rows.
    """
    pictures = _PicturesById(folder) if layout_of(folder) is Layout.BY_ID else None
    for split, rows in _rows_by_split(folder, config).items():
        if splits is not None and split not in splits:
            continue
        if pictures is not None:
            yield from ((row, [pictures.cell(image_id) for image_id in row.shown]) for row in rows)
            continue
        for row, values in _beside(folder / config, split, rows):
            yield row, _cells(values)


def table_rows(folder: Path, config: str, split: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of one split with those of the columns that its tables have, a row group in memory.

    `image_ids` is given where the tables of questions embed the pictures, too: the folder's rows name them.
    """
    rows = (row for path in sorted((folder / config).glob(f"{split}-*.parquet")) for row in _rows(path, columns))
    if IMAGE_IDS not in columns or layout_of(folder) is Layout.BY_ID:
        yield from rows
        return
    for row, values in _paired(folder / config, split, _rows_by_split(folder, config).get(split, ()), rows):
        yield {**values, IMAGE_IDS: list(row.shown)}


def _embedded(folder: Path, seen: AbstractSet[str]) -> Iterator[tuple[Sequence[str], list[Cell]]]:
    """Image ids and pictures of every row of the tables; of questions, of the configs that show more than `seen`."""
    if not (folder / "rows.jsonl").is_file():
        for path in sorted(folder.glob("*/*.parquet")):
            for values in _rows(path, _COLUMNS):
                yield [each["image_id"] for each in values["candidates"]], _cells(values)
        return
    shown: dict[str, set[str]] = {}
    for row in PlanFolder(folder).rows():
        shown.setdefault(config_of(row.id), set()).update(row.shown)
    for config, image_ids in shown.items():
        if not image_ids <= seen:
            for row, cells in row_cells(folder, config):
                yield row.shown, cells


def _rows_by_split(folder: Path, config: str) -> dict[str, list[Row]]:
    """Split -> the rows of a config, in the order of its tables."""
    found: dict[str, list[Row]] = {}
    for row in PlanFolder(folder).rows():
        if config_of(row.id) == config:
            found.setdefault(row.split, []).append(row)
    return found


def _beside(folder: Path, split: str, rows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Rows beside those of their tables, which do not all name them."""
    tables = sorted(folder.glob(f"{split}-*.parquet"))
    return _paired(folder, split, rows, (values for path in tables for values in _rows(path, _COLUMNS)))


def _paired(
    folder: Path, split: str, rows: Sequence[Row], of_tables: Iterable[dict[str, Any]]
) -> Iterator[tuple[Row, dict[str, Any]]]:
    for row, values in zip_longest(rows, of_tables):
        if row is None or values is None:
            raise InputError(
                f"the tables do not hold the rows of {PlanFolder(folder.parent).rows_path.name}",
                where=str(folder),
                expected=f"{len(rows):,} rows of {split}",
                got="more" if row is None else "fewer",
                todo="build it again: hannun build NAME --out DIR",
            )
        yield row, values


def _cells(row: dict[str, Any]) -> list[Cell]:
    cells: list[Cell] = row[IMAGES] if IMAGES in row else [row["image"]]
    return cells


def _rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of a table with those of the columns that it has, a row group in memory."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as parquet:
        there = [each for each in columns if each in parquet.schema_arrow.names]
        for group in range(parquet.num_row_groups):
            yield from parquet.read_row_group(group, columns=there).to_pylist()


class _PicturesById:
    """Pictures of the config `images`, two row groups in memory."""

    def __init__(self, folder: Path) -> None:
        import pyarrow.parquet as pq

        self._places: dict[str, tuple[Path, int]] = {}
        for path in sorted((folder / IMAGES).glob("*.parquet")):
            with pq.ParquetFile(path) as parquet:
                for group in range(parquet.num_row_groups):
                    for image_id in parquet.read_row_group(group, columns=["image_id"]).column(0).to_pylist():
                        self._places[image_id] = path, group
        self._folder = folder
        # Neighbours in the rows are neighbours among the pictures.
        self._group = lru_cache(maxsize=2)(self._read)

    def cell(self, image_id: str) -> Cell:
        if image_id not in self._places:
            raise InputError(
                f"the picture of {image_id} is not in the folder",
                where=str(self._folder / IMAGES),
                todo="build it again: hannun build NAME --out DIR",
            )
        return self._group(*self._places[image_id])[image_id]

    def _read(self, path: Path, group: int) -> dict[str, Cell]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as parquet:
            rows = parquet.read_row_group(group, columns=["image_id", "image"]).to_pylist()
        return {row["image_id"]: row["image"] for row in rows}
