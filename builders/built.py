"""What a built folder holds: the pictures in its tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hannun.builders.layout import IMAGES


def built_pictures(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Image id and bytes of every picture in a built folder's tables, each once, a row group in memory.

    Raises
    ------
    OSError
        A table cannot be read.
    """
    import pyarrow.parquet as pq

    seen: set[str] = set()
    by_id = sorted((folder / IMAGES).glob("*.parquet"))
    for path in by_id:
        with pq.ParquetFile(path) as parquet:
            for group in range(parquet.num_row_groups):
                for row in parquet.read_row_group(group, columns=["image_id", "image"]).to_pylist():
                    yield row["image_id"], row["image"]["bytes"]
    for path in [] if by_id else sorted(folder.glob("*/*.parquet")):
        with pq.ParquetFile(path) as parquet:
            for group in range(parquet.num_row_groups):
                for row in parquet.read_row_group(group, columns=["candidates", "images"]).to_pylist():
                    for candidate, cell in zip(row["candidates"], row["images"], strict=True):
                        if candidate["image_id"] not in seen:
                            seen.add(candidate["image_id"])
                            yield candidate["image_id"], cell["bytes"]
