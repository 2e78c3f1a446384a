"""Opens locations that are not on the web: every kind has one function here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from hannun.reconstruct.archives import Archives
from hannun.reconstruct.image_cell import image_bytes, picture_cells
from hannun.reconstruct.location import Archive, Local, Malformed, Package, Row
from hannun.reconstruct.records import RecordReader, Records
from hannun.reconstruct.source import Got
from hannun.reconstruct.transfer import Failed, Reach, Transfer
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome

_PIECE = 1 << 16


class Opener:
    """Opens locations; keeps archives and tables open between calls."""

    def __init__(self, reach: Reach, downloads: Mapping[str, Callable[[], Got]] | None = None) -> None:
        self._reach = reach
        self._downloads = downloads or {}
        self._downloaded: dict[str, Path | Failed] = {}
        self._stack = ExitStack()
        self._archives = self._stack.enter_context(Archives(reach.limits))
        self._readers: dict[tuple[str, str], RecordReader] = {}
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
                data, note = self._cell(location)
                yield Transfer(iter([data]), note=note)
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
                self._downloaded[name] = self._downloads[name]().path
            except Failed as failure:
                self._downloaded[name] = failure
        got = self._downloaded[name]
        if isinstance(got, Failed):
            raise Failed(got.outcome, got.note)
        return got

    def _member(self, location: Archive) -> Transfer:
        return self._archives.open(location.source, self._source(location.source), location.member)

    def _cell(self, location: Row) -> tuple[bytes, str | None]:
        key = location.source, location.column
        reader = self._readers.get(key)
        if reader is None:
            records = Records(self._source(location.source))
            reader = self._readers[key] = RecordReader(records, location.column)
        try:
            cell = reader.cell(location.row)
            if location.index is not None:
                cell = picture_cells(cell)[location.index]
        except LookupError as error:
            raise Failed(Outcome.GONE, f"{location.source}: {error}") from None
        return image_bytes(cell)


def _file_pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except FileNotFoundError:
        raise Failed(Outcome.GONE, "the file is not there") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
