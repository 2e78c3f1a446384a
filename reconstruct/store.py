"""The store: one file per content, named by its sha256, bytes untouched.

Nothing here rests on a lock. A file comes under its final name only whole: it is written under a name
that no other process uses, in the same folder, digested on the way, and moved into place; `flush` waits
until all of it is on the disk, and nothing vouches for a file before.
Two processes that store the same content replace equal bytes by equal bytes.
"""

from __future__ import annotations

import ctypes
import errno
import io
import itertools
import os
import platform
import re
import stat
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hannun.schemas.digest import FAST, IDENTITY, Digester, digests_of_file
from hannun.schemas.errors import IncompleteError

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


def _process_space() -> str:
    """What process numbers are counted in: the machine, and the container where there is one.

    Temporary names bear it, since a store may lie on a shared disk.
    """
    node = re.sub(r"[^A-Za-z0-9]", "_", platform.node()) or "host"
    try:
        return f"{node}.{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return node


_HOST = _process_space()


_HELD = 1 << 18
"""Bytes of one transfer that are held in memory before they are written."""
_REMEMBERED = 20_000
"""File names of a store that are remembered at most."""


class TooLarge(Exception):
    """More bytes than the cap; nothing was kept."""


@dataclass(frozen=True)
class Received:
    """A complete transfer under a temporary name."""

    path: Path
    bytes: int
    digests: dict[str, str]


class Incoming:
    """A transfer on its way into a store: counted as it comes, digested and written in large pieces.

    A small picture touches the disk once, when it is finished. `algorithms` are the digests to take,
    `max_bytes` the most that is taken.
    """

    def __init__(self, temporary: Path, algorithms: Iterable[str], max_bytes: int | None) -> None:
        self._path = temporary
        self._algorithms = tuple(algorithms)
        self._max_bytes = max_bytes
        self._stream: io.FileIO | None = None
        self.restart()

    @property
    def size(self) -> int:
        """Bytes taken so far."""
        return self._size

    def write(self, piece: bytes) -> None:
        """Take the next bytes; raises TooLarge, or IncompleteError when the disk does not take them."""
        self._size += len(piece)
        self._held_bytes += len(piece)
        if self._max_bytes is not None and self._size > self._max_bytes:
            raise TooLarge
        self._held.append(piece)
        if self._held_bytes >= _HELD:
            self._write_held()

    def restart(self) -> None:
        """Forget what came: the next bytes are the first."""
        self.discard()
        self._digester = Digester(self._algorithms)
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._size = 0

    def finish(self) -> Received:
        """The whole transfer under its temporary name."""
        stream = self._write_held()
        with _explained(self._path.parent):
            stream.close()
        return Received(self._path, self._size, self._digester.digests())

    def discard(self) -> None:
        """Remove what was written, unless it was kept."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            self._path.unlink(missing_ok=True)

    def _write_held(self) -> io.FileIO:
        data = b"".join(self._held)
        self._held, self._held_bytes = [], 0
        self._digester.update(data)
        with _explained(self._path.parent):
            if self._stream is None:
                self._stream = self._path.open("xb", buffering=0)
            view = memoryview(data)
            while view:
                # An unbuffered write may take less than all of it.
                view = view[self._stream.write(view) :]
        return self._stream


class Store:
    """A folder of files by content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made = False
        self._mark = uuid.uuid4().hex[:8]
        self._count = itertools.count()
        self._folders: set[str] = set()
        self._listed: dict[str, dict[str, str]] = {}

    def path(self, sha256: str, format_name: str | None) -> Path:
        """Where content of that digest and format lies, whether it is there or not."""
        return self.folder / sha256[:2] / f"{sha256}.{_SUFFIXES.get(format_name or '', 'bin')}"

    def find(self, sha256: str) -> Path | None:
        """The stored file with that sha256 as its name, whatever its format.

        Folders are listed once: what another process stores meanwhile may go unseen.
        """
        suffixes = self._listed.get(sha256[:2])
        if suffixes is None:
            suffixes = self._listed[sha256[:2]] = self._list(sha256[:2])
        suffix = suffixes.get(sha256)
        return None if suffix is None else self.folder / sha256[:2] / f"{sha256}.{suffix}"

    def _list(self, folder: str) -> dict[str, str]:
        if sum(map(len, self._listed.values())) > _REMEMBERED:
            self._listed.clear()
        try:
            names = [entry.name for entry in (self.folder / folder).iterdir()]
        except OSError:
            return {}
        return {stem: sys.intern(suffix) for stem, _, suffix in (name.partition(".") for name in sorted(names))}

    def is_intact(self, path: Path, *, fast: bool = False) -> bool:
        """Whether the file still holds what its name says; `fast` looks only whether it is there."""
        if not path.is_file():
            return False
        return fast or digests_of_file(path, [IDENTITY])[IDENTITY] == path.stem

    def incoming(self, algorithms: Iterable[str], *, max_bytes: int | None = None) -> Incoming:
        """Room for a transfer; whoever asks for it calls `discard` in the end."""
        if not self._made:
            with _explained(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            self._made = True
        temporary = self.folder / f".{_HOST}-{os.getpid()}-{self._mark}-{next(self._count)}.part"
        return Incoming(temporary, algorithms, max_bytes)

    def holds(self, sha256: str, format_name: str | None, size: int | None, *, fast: bool = False) -> bool:
        """Whether a file of that name and size (in bytes, where known) is there; unless `fast` it is hashed again."""
        name = f"{self.folder}/{sha256[:2]}/{sha256}.{_SUFFIXES.get(format_name or '', 'bin')}"
        try:
            there = os.stat(name)  # noqa: PTH116  (called for every image of a plan)
        except OSError:
            return False
        if not stat.S_ISREG(there.st_mode) or size not in (None, there.st_size):
            return False
        return fast or digests_of_file(Path(name), [IDENTITY])[IDENTITY] == sha256

    @contextmanager
    def receive(
        self, pieces: Iterable[bytes], algorithms: Iterable[str] = (IDENTITY, FAST), *, max_bytes: int | None = None
    ) -> Iterator[Received]:
        """Write a stream to a temporary file; it is gone at the end unless `keep` moved it.

        Raises
        ------
        TooLarge
            The stream is longer than `max_bytes`.
        IncompleteError
            The disk is full or may not be written.
        """
        incoming = self.incoming(algorithms, max_bytes=max_bytes)
        try:
            for piece in pieces:
                incoming.write(piece)
            yield incoming.finish()
        finally:
            incoming.discard()

    def keep(self, received: Received, format_name: str | None) -> Path:
        """Move a received file under its final name, replacing what stood there."""
        final = self.path(received.digests[IDENTITY], format_name)
        with _explained(self.folder):
            if final.parent.name not in self._folders:
                final.parent.mkdir(parents=True, exist_ok=True)
                self._folders.add(final.parent.name)
            received.path.replace(final)
        self._listed.get(final.parent.name, {})[final.stem] = sys.intern(final.suffix[1:])
        return final

    def flush(self) -> None:
        """Wait until everything that was stored is on the disk."""
        if not self.folder.is_dir():
            return
        with _explained(self.folder):
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                _sync_file_system(handle)
            finally:
                os.close(handle)

    def sweep(self) -> int:
        """Remove what killed processes of this machine left under temporary names; their number."""
        swept = 0
        for path in self.folder.glob(f".{_HOST}-[0-9]*.part"):
            pid = path.name.removeprefix(f".{_HOST}-").partition("-")[0]
            if pid.isdecimal() and not _runs(int(pid)):
                path.unlink(missing_ok=True)
                swept += 1
        return swept


def _sync_file_system(handle: int) -> None:
    """syncfs(2), which Python does not offer; where there is none, all file systems are flushed."""
    try:
        syncfs = ctypes.CDLL(None, use_errno=True).syncfs
    except (AttributeError, OSError, TypeError):
        os.sync()
        return
    if syncfs(handle) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


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
