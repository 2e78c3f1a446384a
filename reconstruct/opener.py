"""Opens locations: every kind has one function here, and the web its own module."""

from __future__ import annotations

import base64
import binascii
import importlib.metadata
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hannun.reconstruct.location import Archive, Local, Location, Malformed, Package, Row, Web
from hannun.reconstruct.transfer import Failed, Reach, Transfer
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.table import parse_table
from hannun.schemas.text_file import find_file, read_bytes

if TYPE_CHECKING:
    from hannun.reconstruct.web import WebClient

_PIECE = 1 << 16
_MAX_RATIO = 200
"""Unpacked over packed size of an archive member over which it is taken for a bomb."""


class Opener:
    """Opens locations; keeps archives, tables and connections open between calls."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._stack = ExitStack()
        self._zips: dict[str, zipfile.ZipFile] = {}
        self._tables: dict[str, Any] = {}
        self._records: dict[str, dict[str, Path]] = {}
        self._web: WebClient | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def open(self, location: Location) -> Iterator[Transfer]:
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
            case Web():
                with self._client().open(location) as transfer:
                    yield transfer

    def _client(self) -> WebClient:
        if self._web is None:
            from hannun.reconstruct.web import WebClient

            self._web = WebClient(self._reach)
            self._stack.callback(self._web.close)
        return self._web

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
        path = self._reach.sources.get(name)
        if path is None:
            raise Failed(Outcome.NEEDS_PERSON, f"give the source with --source {name}=PATH")
        if not path.exists():
            raise Failed(Outcome.NEEDS_PERSON, f"source {name} is not at its place any more")
        return path

    def _member(self, location: Archive) -> Transfer:
        path = self._source(location.source)
        if path.is_dir():
            found = find_file(path, location.member)
            if found is None:
                raise Failed(Outcome.GONE, f"not in the folder of {location.source}")
            return Transfer(_file_pieces(found[0]), note=found[1])
        archive = self._zips.get(location.source)
        if archive is None:
            try:
                archive = self._stack.enter_context(zipfile.ZipFile(path))
            except (zipfile.BadZipFile, OSError) as error:
                raise Failed(Outcome.NEEDS_PERSON, f"source {location.source} is not a readable zip: {error}") from None
            self._zips[location.source] = archive
        try:
            member = archive.getinfo(location.member)
        except KeyError:
            raise Failed(Outcome.GONE, f"no member of that name in {location.source}") from None
        if member.file_size > self._reach.limits.max_bytes or member.file_size > _MAX_RATIO * max(
            member.compress_size, 1
        ):
            raise Failed(Outcome.TOO_LARGE, f"{member.file_size} bytes unpacked from {member.compress_size}")
        return Transfer(_zip_pieces(archive, member))

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


def _zip_pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except zipfile.BadZipFile as error:
        raise Failed(Outcome.DAMAGED, f"archive member: {error}") from None
    except RuntimeError as error:  # zipfile's word for an encrypted member
        raise Failed(Outcome.NEEDS_PERSON, str(error)) from None
