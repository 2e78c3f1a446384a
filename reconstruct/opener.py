"""Opens locations that are not on the web: every kind has one function here."""

from __future__ import annotations

import base64
import binascii
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from hannun.reconstruct.archives import Archives
from hannun.reconstruct.location import Archive, Local, Malformed, Package, Row
from hannun.reconstruct.transfer import Failed, Reach, Transfer
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.table import parse_table
from hannun.schemas.text_file import read_bytes

_PIECE = 1 << 16


class Opener:
    """Opens locations; keeps archives and tables open between calls."""

    def __init__(self, reach: Reach, downloads: Mapping[str, Callable[[], Path]] | None = None) -> None:
        self._reach = reach
        self._downloads = downloads or {}
        self._downloaded: dict[str, Path | Failed] = {}
        self._stack = ExitStack()
        self._archives = self._stack.enter_context(Archives(reach.limits))
        self._tables: dict[str, Any] = {}
        self._records: dict[str, dict[str, Path]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def open(self, location: Archive | Row | Package | Local | Malformed) -> Iterator[Transfer]:
        """The bytes at a location.

        Raises
        ------
        Failed
            They cannot be had, or the transfer ended short.
        """
        match location:
            case Package():
                yield self._package(location)
            case Local():
                yield Transfer(_file_pieces(location.path))
            case Archive():
                yield self._member(location)
            case Row():
                yield Transfer(iter([self._cell(location)]))
            case Malformed():
                raise Failed(Outcome.MALFORMED_ADDRESS, "not a location")

    def _package(self, location: Package) -> Transfer:
        files = self._records.get(location.distribution)
        if files is None:
            try:
                listed = importlib.metadata.files(location.distribution) or ()
            except importlib.metadata.PackageNotFoundError:
                raise Failed(
                    Outcome.NEEDS_PERSON, f"package {location.distribution} is not installed: pip install it"
                ) from None
            files = {str(path): Path(str(path.locate())) for path in listed if ".." not in path.parts}
            self._records[location.distribution] = files
        if location.path not in files:
            raise Failed(Outcome.GONE, f"not in the RECORD of {location.distribution}")
        return Transfer(_file_pieces(files[location.path]))

    def _source(self, name: str) -> Path:
        path = self._reach.sources.get(name) or self._download(name)
        if path is None:
            raise Failed(Outcome.NEEDS_PERSON, f"give the source with --source {name}=PATH")
        if not path.exists():
            raise Failed(Outcome.NEEDS_PERSON, f"source {name} is not at its place any more")
        return path

    def _download(self, name: str) -> Path | None:
        """The file of a source that the user has not given, got once; None where it cannot be downloaded."""
        if name not in self._downloads:
            return None
        if name not in self._downloaded:
            try:
                self._downloaded[name] = self._downloads[name]()
            except Failed as failure:
                self._downloaded[name] = failure
        got = self._downloaded[name]
        if isinstance(got, Failed):
            raise Failed(got.outcome, got.note)
        return got

    def _member(self, location: Archive) -> Transfer:
        return self._archives.open(location.source, self._source(location.source), location.member)

    def _cell(self, location: Row) -> bytes:
        table = self._tables.get(location.source)
        if table is None:
            path = self._source(location.source)
            table = self._tables[location.source] = _rows_of(path)
        if location.row >= len(table):
            raise Failed(Outcome.GONE, f"{location.source} has {len(table)} rows")
        cell = table[location.row].get(location.column)
        if location.index is not None:
            cell = cell[location.index] if isinstance(cell, list) and location.index < len(cell) else None
        if isinstance(cell, dict):
            cell = cell.get("bytes")
        if isinstance(cell, str):
            try:
                return base64.b64decode(cell, validate=True)
            except binascii.Error as error:
                raise Failed(Outcome.DAMAGED, f"not base64: {error}") from None
        if not isinstance(cell, bytes):
            raise Failed(Outcome.GONE, f"no picture in column {location.column}")
        return cell


def _rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet

        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
        return rows
    return [row.cells for row in parse_table(read_bytes(path), str(path), dialect="quoted").rows]


def _file_pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except FileNotFoundError:
        raise Failed(Outcome.GONE, "the file is not there") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
