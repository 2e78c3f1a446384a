"""Transfers: the bytes at one location, as a stream, or why they cannot be had.

Every kind of location has one function here. The web one is plain and careful; it is the seam behind
which a faster engine can stand: whatever opens a `Web` location gives a `Transfer` or raises `Failed`.
"""

from __future__ import annotations

import base64
import binascii
import importlib.metadata
import ssl
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

from hannun.reconstruct.address import Unusable, check_address
from hannun.reconstruct.decide import outcome_of_status
from hannun.reconstruct.location import Archive, Local, Location, Package, Row, Web
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.table import parse_table
from hannun.schemas.text import find_file, read_bytes
from hannun.schemas.version import version

_PIECE = 1 << 16
_REDIRECTS = 5
_MAX_RATIO = 200
"""Unpacked over packed size of an archive member over which it is taken for a bomb."""


class Failed(Exception):
    """No complete bytes: the outcome, a note, and what the host said."""

    def __init__(
        self, outcome: Outcome, note: str | None = None, *, status: int | None = None, retry_after: str | None = None
    ) -> None:
        super().__init__(note or outcome.meaning)
        self.outcome = outcome
        self.note = note
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Limits:
    """What one image may cost. `max_bytes` in bytes, `deadline` in seconds for the whole transfer."""

    max_bytes: int = 512 << 20
    max_pixels: int = 250_000_000
    deadline: float = 300.0


@dataclass(frozen=True)
class Reach:
    """What may be reached, and how.

    `sources` are files by source name, for `archive:` and `row:` locations. `contact` goes into the
    User-Agent, which some hosts demand.
    """

    sources: Mapping[str, Path] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    allow_private: bool = False
    contact: str | None = None

    @property
    def user_agent(self) -> str:
        return f"hannun/{version()}" + (f" ({self.contact})" if self.contact else "")


@dataclass(frozen=True)
class Transfer:
    """An opened location: its bytes piece by piece, and what the host said."""

    pieces: Iterator[bytes]
    status: int | None = None
    etag: str | None = None
    note: str | None = None


class Opener:
    """Opens locations; keeps archives, tables and connections open between calls."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._stack = ExitStack()
        self._zips: dict[str, zipfile.ZipFile] = {}
        self._tables: dict[str, Any] = {}
        self._records: dict[str, dict[str, Path]] = {}
        self._session: Any = None

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
            case Web():
                with self._response(location) as transfer:
                    yield transfer

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

    @contextmanager
    def _response(self, location: Web) -> Iterator[Transfer]:
        import requests
        import urllib3.exceptions

        if self._session is None:
            self._session = self._stack.enter_context(requests.Session())
            self._session.headers["User-Agent"] = self._reach.user_agent
            self._session.headers["Accept-Encoding"] = "identity"
        limits = self._reach.limits
        end = time.monotonic() + limits.deadline
        address = location.address
        try:
            for _ in range(_REDIRECTS + 1):
                check_address(address, allow_private=self._reach.allow_private)
                wait = max(0.1, min(30.0, end - time.monotonic()))
                with self._session.get(address, stream=True, allow_redirects=False, timeout=wait) as response:
                    if response.is_redirect:
                        address = _next_address(address, response.headers["Location"])
                        continue
                    yield _transfer(response, limits, end)
                    return
            raise Failed(Outcome.REDIRECTED, f"more than {_REDIRECTS} redirects")
        except Unusable as error:
            raise Failed(error.outcome, error.note) from None
        except requests.exceptions.SSLError as error:
            raise Failed(Outcome.TLS, _tls_reason(error)) from None
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None
        except urllib3.exceptions.ProtocolError as error:
            # The body is read from urllib3 itself, so its own errors come through.
            raise Failed(Outcome.TRUNCATED, _short(error)) from None
        except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise Failed(Outcome.MALFORMED_ADDRESS, _short(error)) from None
        except requests.exceptions.RequestException as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None


def _transfer(response: Any, limits: Limits, end: float) -> Transfer:
    failed = outcome_of_status(response.status_code)
    if failed is not None:
        raise Failed(
            failed,
            f"{response.status_code} {response.reason}",
            status=response.status_code,
            retry_after=response.headers.get("Retry-After"),
        )
    declared = response.headers.get("Content-Length", "")
    length = int(declared) if declared.isdecimal() and declared.isascii() else None
    if length is not None and length > limits.max_bytes:
        raise Failed(Outcome.TOO_LARGE, f"{length} bytes declared, cap {limits.max_bytes}", status=response.status_code)
    return Transfer(_body(response, length, end), status=response.status_code, etag=response.headers.get("ETag"))


def _body(response: Any, length: int | None, end: float) -> Iterator[bytes]:
    got = 0
    # read1 gives what has come, so that a drip is seen while it drips.
    while piece := response.raw.read1(_PIECE):
        got += len(piece)
        if time.monotonic() > end:
            raise Failed(Outcome.UNREACHABLE, "total deadline", status=response.status_code)
        yield piece
    if length is not None and got < length:
        raise Failed(Outcome.TRUNCATED, f"{got} of {length} bytes", status=response.status_code)


def _next_address(address: str, target: str) -> str:
    following = urljoin(address, target)
    if address.lower().startswith("https:") and following.lower().startswith("http:"):
        raise Failed(Outcome.REDIRECTED, "from https to http")
    return following


def _tls_reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return _short(error)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


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
