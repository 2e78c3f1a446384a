"""Records: rows of a source that is a table of pictures, read one by one.

Parquet, a file or a folder of files in order of their names; TSV, quoted as CSV is; JSON lines. Pictures
make such tables large, so a row group or a row at a time is in memory.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hannun.schemas.digest import IDENTITY, digests_of, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import loads
from hannun.schemas.table import quoted_rows
from hannun.schemas.text_file import decode_line

FORMATS = (".parquet", ".tsv", ".jsonl")

_READ_BYTES = 1 << 16
_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 256


class Records:
    """The rows of a table, from 0.

    Raises
    ------
    InputError
        Nothing there, or of no kind that is read; while reading: a broken row, with its line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def files(self) -> list[Path]:
        """The table's files, in order."""
        if self.path.is_dir():
            found = sorted(self.path.rglob("*.parquet"), key=lambda path: path.relative_to(self.path).as_posix())
        else:
            found = [self.path] if self.path.suffix in FORMATS else []
        if not found:
            raise InputError(
                "no table of records",
                where=str(self.path),
                expected="a .parquet, .tsv or .jsonl file, or a folder with .parquet files",
                todo="check the path",
            )
        return found

    @cached_property
    def digest(self) -> str:
        """`sha256:hex` of the file; of a folder, of its files' digests and names."""
        if self.path.is_file():
            return f"{IDENTITY}:{digests_of_file(self.path, [IDENTITY])[IDENTITY]}"
        lines = [
            f"{digests_of_file(path, [IDENTITY])[IDENTITY]}  {path.relative_to(self.path).as_posix()}\n"
            for path in self.files
        ]
        return f"{IDENTITY}:{digests_of(''.join(lines).encode(), [IDENTITY])[IDENTITY]}"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Every row; where `columns` is given, of parquet these only."""
        for path in self.files:
            if path.suffix == ".parquet":
                yield from _parquet_rows(path, columns)
            elif path.suffix == ".tsv":
                yield from _tsv_rows(path)
            else:
                yield from _json_rows(path)


class RecordReader:
    """Cells by row, for rows that are asked for mostly in order: going back begins again."""

    def __init__(self, records: Records, column: str) -> None:
        self._records, self._column = records, column
        self._rows: Iterator[dict[str, Any]] = iter(())
        self._next = sys.maxsize
        self._row: dict[str, Any] | None = None

    def cell(self, row: int) -> Any:
        """The cell of a row; LookupError where there is no such row or column."""
        if row + 1 != self._next:
            if row < self._next:
                self._rows, self._next = self._records.rows([self._column]), 0
            while self._next <= row:
                self._row = next(self._rows, None)
                self._next += 1
                if self._row is None:
                    self._next = sys.maxsize
                    raise LookupError(f"no row {row}")
        if self._row is None or self._column not in self._row:
            raise LookupError(f"no column {self._column}")
        return self._row[self._column]


def _tsv_rows(path: Path) -> Iterator[dict[str, Any]]:
    for row in quoted_rows(path):
        yield row.cells


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            where = f"{path}, line {number}"
            data = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not data.strip():
                continue
            row = loads(decode_line(data.rstrip(b"\r\n"), where), where)
            if not isinstance(row, dict):
                raise InputError("not a row", where=where, expected="a JSON object", todo="get the file again")
            yield row


def _parquet_rows(path: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Read as it comes: the default first takes a whole row group into memory beside what is decoded of it.
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_READ_BYTES) as parquet:
            wanted = None if columns is None else [each for each in columns if each in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(batch_size=_batch_rows(parquet.metadata), columns=wanted):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"a damaged parquet file: {error}", where=str(path), todo="get the file again") from None


def _batch_rows(metadata: Any) -> int:
    """Rows to decode at a time: one where pictures are large, many where a row is a line of text."""
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    rows: int = _BATCH_BYTES * metadata.num_rows // max(size, 1)
    return max(1, min(_BATCH_ROWS, rows))
