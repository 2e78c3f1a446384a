"""The store: one file per content, named by its sha256, bytes untouched.

Nothing here rests on a lock. A file comes under its final name only whole: it is written under a name
that no other process uses, in the same folder, digested on the way, flushed, and moved into place.
Two processes that store the same content replace equal bytes by equal bytes.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hannun.schemas.digest import FAST, IDENTITY, Digester, digests_of_file
from hannun.schemas.errors import IncompleteError

HEAD = 4096
"""Bytes of a file's beginning that are kept in memory to tell what it is."""

# Suffix by Pillow's format name; what is exact but cannot be decoded is kept as .bin.
_SUFFIXES = {
    "JPEG": "jpg",
    "MPO": "jpg",
    "PNG": "png",
    "GIF": "gif",
    "WEBP": "webp",
    "TIFF": "tif",
    "BMP": "bmp",
    "AVIF": "avif",
    "ICO": "ico",
}


class TooLarge(Exception):
    """More bytes than the cap; nothing was kept."""


@dataclass(frozen=True)
class Received:
    """A complete transfer under a temporary name."""

    path: Path
    head: bytes
    bytes: int
    digests: dict[str, str]


class Store:
    """A folder of files by content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: str, format_name: str | None) -> Path:
        """Where content of that digest and format lies, whether it is there or not."""
        return self.folder / sha256[:2] / f"{sha256}.{_SUFFIXES.get(format_name or '', 'bin')}"

    def find(self, sha256: str) -> Path | None:
        """The stored file with that sha256 as its name, whatever its format."""
        folder = self.folder / sha256[:2]
        return next(iter(sorted(folder.glob(f"{sha256}.*"))), None)

    def is_intact(self, path: Path, *, fast: bool = False) -> bool:
        """Whether the file still holds what its name says; `fast` looks only whether it is there."""
        if not path.is_file():
            return False
        return fast or digests_of_file(path, [IDENTITY])[IDENTITY] == path.stem

    @contextmanager
    def receive(self, pieces: Iterable[bytes], *, max_bytes: int | None = None) -> Iterator[Received]:
        """Write a stream to a temporary file; it is gone at the end unless `keep` moved it.

        Raises
        ------
        TooLarge
            The stream is longer than `max_bytes`.
        IncompleteError
            The disk is full or may not be written.
        """
        temporary = self.folder / f".{os.getpid()}-{uuid.uuid4().hex}.part"
        try:
            with _explained(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                received = _write(temporary, pieces, max_bytes)
            yield received
        finally:
            temporary.unlink(missing_ok=True)

    def keep(self, received: Received, format_name: str | None) -> Path:
        """Move a received file under its final name, replacing what stood there."""
        final = self.path(received.digests[IDENTITY], format_name)
        with _explained(self.folder):
            final.parent.mkdir(parents=True, exist_ok=True)
            received.path.replace(final)
        return final


def _write(temporary: Path, pieces: Iterable[bytes], max_bytes: int | None) -> Received:
    digester = Digester((IDENTITY, FAST, "sha1", "md5"))
    head = b""
    with temporary.open("xb") as stream:
        for piece in pieces:
            if len(head) < HEAD:
                head += piece[: HEAD - len(head)]
            digester.update(piece)
            if max_bytes is not None and digester.size > max_bytes:
                raise TooLarge
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return Received(temporary, head, digester.size, digester.digests())


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM):
            raise IncompleteError(
                f"the store cannot be written: {error.strerror}",
                where=str(folder),
                todo="make room or name another folder with --store, then run again: nothing is lost",
            ) from None
        raise
