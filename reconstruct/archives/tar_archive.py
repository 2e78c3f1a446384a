"""Tar archives: every header is read once, members are then read where they lie."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack

from hannun.reconstruct.archives.damage import damaged_archive, damaged_member
from hannun.reconstruct.archives.index import Index
from hannun.reconstruct.archives.members import Kind, Member, few_enough, refuse_unsafe
from hannun.reconstruct.archives.pieces import counted, pieces_of
from hannun.reconstruct.archives.stored_name import StoredName, plain
from hannun.reconstruct.transfer import Transfer

_MAX_READ = 1 << 20
"""Bytes that a header may take: names and attributes need some kilobytes."""

_KINDS = (
    (tarfile.TarInfo.isreg, Kind.FILE),
    (tarfile.TarInfo.isdir, Kind.FOLDER),
    (tarfile.TarInfo.issym, Kind.SYMLINK),
    (tarfile.TarInfo.islnk, Kind.HARD_LINK),
    (tarfile.TarInfo.isdev, Kind.DEVICE),
)


class TarArchive:
    """A tar whose members are all safe; it is closed with the stack.

    Raises
    ------
    Failed
        `needs-person`: damaged; `refused`: unsafe; `too-large`: too many members.
    """

    def __init__(self, stream: io.BufferedReader | io.BufferedRandom | io.BytesIO, stack: ExitStack) -> None:
        files: dict[str, tuple[StoredName, tarfile.TarInfo]] = {}
        members = []
        with damaged_archive("not a tar, or one that is cut or damaged"):
            sipped = _Sipped(stream)
            self._archive = stack.enter_context(tarfile.TarFile(fileobj=sipped, mode="r", encoding="utf-8"))
            for info in few_enough(_infos(self._archive, sipped)):
                name, target = StoredName.escaped(info.name), StoredName.escaped(info.linkname).meant
                member = Member(name.meant, _kind(info), target)
                members.append(member)
                # In a tar the later of two members of one name is the one that counts.
                if member.kind is Kind.FILE:
                    files[plain(name.meant)] = (name, info)
                elif member.kind is Kind.HARD_LINK and plain(target) in files:
                    files[plain(name.meant)] = (name, files[plain(target)][1])
        refuse_unsafe(members)
        self._index = Index(files.values())

    @property
    def names(self) -> list[str]:
        return self._index.names

    def open(self, member: str, max_bytes: int) -> Transfer:
        info, note = self._index.find(member)
        return Transfer(counted(_pieces(self._archive, info), max_bytes), note=note)


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar without compression."""
    try:
        tarfile.TarInfo.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


class _Sipped(io.BufferedReader):
    """A tar's file, read in sips: tarfile takes whole headers into memory, whatever size they declare."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _MAX_READ:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return super().read(size)


def _infos(archive: tarfile.TarFile, stream: _Sipped) -> Iterator[tarfile.TarInfo]:
    last = -1
    for info in archive:
        if info.offset <= last or info.size < 0:
            raise tarfile.ReadError(f"a header that leads back, at byte {info.offset}")
        last = info.offset
        yield info
    # tarfile takes whatever is no header for the end.
    stream.seek(archive.offset)
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"no mark of the end at byte {archive.offset}")


def _kind(info: tarfile.TarInfo) -> Kind:
    return next((kind for applies, kind in _KINDS if applies(info)), Kind.LABEL)


def _pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    with damaged_member():
        stream = archive.extractfile(info)
        assert stream is not None  # only members that hold bytes are found
        with stream:
            yield from pieces_of(stream)
