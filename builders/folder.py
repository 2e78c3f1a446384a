"""The folder that load_dataset reads: README.md with its front matter, and parquet with the image bytes.

It loads in every `datasets` since 2.21, without hannun. A build is made beside its place and moved in,
README.md last: a folder without it is not a build.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from hannun.builders.features import arrow_schema
from hannun.builders.tables import TABLE, SplitSize
from hannun.schemas.errors import IncompleteError, InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import load

README = "README.md"
SUBSTITUTIONS = "substitutions.jsonl"
SAMPLE, CROISSANT = "sample.webp", "croissant.json"
"""What a build has only where licences and installed packages allow."""
GROUP_BYTES = 48 << 20
"""A row group is cut when it holds this much; readers keep one in memory (Hub viewers want <= 64 MiB)."""
GROUP_ROWS = 1000
SHARD_BYTES = 480 << 20

Record = Mapping[str, Any]


def write_splits(
    folder: Path,
    splits: Mapping[str, Iterable[str]],
    features: Mapping[str, Mapping[str, Any]],
    records: Callable[[str, str], Iterable[Record]],
) -> dict[str, dict[str, SplitSize]]:
    """Write the parquet files of every config and split below `folder`.

    Parameters
    ----------
    splits, features
        Config -> its splits, and -> the features of its tables by column.
    records
        (config, split) -> its records, in order; image cells are `{"bytes", "path"}`.

    Returns
    -------
    Config -> split -> its size; an empty split is left out, since 0-row parquet cannot be loaded.
    """
    sizes: dict[str, dict[str, SplitSize]] = {}
    for config, names in splits.items():
        for split in names:
            size = _write_split(folder / config, split, features[config], records(config, split))
            if size.rows:
                sizes.setdefault(config, {})[split] = size
    return sizes


def check_place(folder: Path) -> None:
    """Refuse to build over what is not a build.

    Raises
    ------
    InputError
        The folder holds something, and is neither an earlier build nor one that was begun.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError("not a folder", where=str(folder), todo="choose another --out")
    names = {entry.name for entry in folder.iterdir()}
    begun = names <= {"plan"}
    earlier = (folder / "recipe.json").is_file() and not problems("recipe", load(folder / "recipe.json"))
    if not begun and not earlier:
        raise InputError(
            "the folder holds other things, and a build would replace some of them",
            where=str(folder),
            expected="a new or empty folder, or an earlier build",
            got=", ".join(sorted(names)[:5]),
            todo="choose another --out",
        )


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`; its contents are moved in when the block ends well, README.md last.

    What `folder` holds under other names (its plan) stays, but for the tables of an earlier build: one of
    another layout or other options has other configs.

    Raises
    ------
    InputError
        The folder cannot be written.
    IncompleteError
        Something came between: another build in the same place, or a full disk.
    """
    staging = folder.parent / f".hannun-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        staging.mkdir(parents=True)
        yield staging
        folder.mkdir(exist_ok=True)
        for name in (README, SAMPLE, CROISSANT):
            (folder / name).unlink(missing_ok=True)
        for old in folder.iterdir():
            if _holds_tables(old):
                shutil.rmtree(old)
        for entry in sorted(staging.iterdir(), key=lambda entry: entry.name == README):
            target = folder / entry.name
            if target.is_dir():
                shutil.rmtree(target)
            entry.replace(target)
    except PermissionError as error:
        raise InputError("cannot be written", where=str(error.filename), todo="choose another --out") from None
    except OSError as error:
        raise IncompleteError(
            f"the build could not be put in its place: {error.strerror}",
            where=str(error.filename or folder),
            todo="is another process building here, or the disk full? run the same command again",
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _holds_tables(path: Path) -> bool:
    """Whether a folder holds the tables of a config and nothing else."""
    names = [entry.name for entry in path.iterdir()] if path.is_dir() else []
    return bool(names) and all(map(TABLE.fullmatch, names))


def _write_split(folder: Path, split: str, features: Mapping[str, Any], records: Iterable[Record]) -> SplitSize:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(features)
    shards: list[Path] = []
    rows = 0
    with ExitStack() as stack:
        writer = None
        written = SHARD_BYTES
        for group, size in row_groups(records):
            if writer is None or written + size > SHARD_BYTES:
                stack.close()
                folder.mkdir(parents=True, exist_ok=True)
                shards.append(folder / f"{split}-{len(shards):05d}.part")
                # Pictures are compressed already; a dictionary of them would only take memory.
                writer = stack.enter_context(
                    pq.ParquetWriter(shards[-1], schema, compression="zstd", use_dictionary=False)
                )
                written = 0
            writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))
            written += size
            rows += len(group)
    for place, shard in enumerate(shards):
        shard.replace(folder / f"{split}-{place:05d}-of-{len(shards):05d}.parquet")
    return SplitSize(rows, sum(path.stat().st_size for path in folder.glob(f"{split}-*.parquet")))


def row_groups(records: Iterable[Record]) -> Iterator[tuple[list[Record], int]]:
    """Records in row groups, each with the bytes of its images."""
    group: list[Record] = []
    size = 0
    for record in records:
        cells = _image_bytes(record)
        if group and (size + cells > GROUP_BYTES or len(group) >= GROUP_ROWS):
            yield group, size
            group, size = [], 0
        group.append(record)
        size += cells
    if group:
        yield group, size


def _image_bytes(record: Record) -> int:
    """Bytes of a record's pictures, in its cells `image` and `images`."""
    cells = [*record.get("images", ()), *([record["image"]] if "image" in record else [])]
    return sum(len(cell["bytes"]) for cell in cells)
