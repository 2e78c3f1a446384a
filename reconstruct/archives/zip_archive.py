"""Zip archives: members by their list, unpacked one at a time, their declared sizes not believed."""

from __future__ import annotations

import bz2
import copy
import io
import lzma
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO

from hannun.reconstruct.archives.damage import UNPACK, damaged_archive, damaged_member
from hannun.reconstruct.archives.index import Index
from hannun.reconstruct.archives.members import Kind, Member, refuse_many, refuse_unsafe
from hannun.reconstruct.archives.pieces import PIECE_BYTES, counted, pieces_of
from hannun.reconstruct.archives.stored_name import StoredName, shown
from hannun.reconstruct.transfer import Failed, Transfer
from hannun.schemas.outcome import Outcome

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")

_ENCRYPTED = 0x1 | 0x40 | 0x2000
_MARKED_UTF8 = 0x800
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)

_Decompressor = bz2.BZ2Decompressor | lzma.LZMADecompressor


class ZipArchive:
    """A zip whose members are all safe; it is closed with the stack.

    Raises
    ------
    Failed
        `needs-person`: damaged; `refused`: unsafe; `too-large`: too many members.
    """

    def __init__(self, stream: IO[bytes], stack: ExitStack) -> None:
        with damaged_archive("a zip that is cut or damaged, no list of members"):
            self._archive = stack.enter_context(_CountingZip(stream))
            self._bytes = stream.seek(0, io.SEEK_END)
        members = [(_name(info), _kind(info), info) for info in self._archive.infolist()]
        refuse_unsafe(Member(name.meant, kind) for name, kind, _ in members)
        self._index = Index((name, info) for name, kind, info in members if kind is Kind.FILE)

    @property
    def names(self) -> list[str]:
        return self._index.names

    def open(self, member: str, max_bytes: int) -> Transfer:
        info, note = self._index.find(member)
        if info.flag_bits & _ENCRYPTED:
            raise Failed(Outcome.NEEDS_PERSON, f"{shown(member)} is encrypted", todo=f"with its password, {UNPACK}")
        if info.compress_type not in _METHODS:
            raise Failed(Outcome.NEEDS_PERSON, f"compression method {info.compress_type} is not read", todo=UNPACK)
        packed = min(info.compress_size, self._bytes - info.header_offset)
        return Transfer(_checked(counted(_pieces(self._archive, info), max_bytes, packed), info), note=note)


class _CountingZip(zipfile.ZipFile):
    """A zip whose members are counted as its list is read, before a long one has filled the memory."""

    @property
    def filelist(self) -> list[zipfile.ZipInfo]:
        return self._members

    @filelist.setter
    def filelist(self, members: list[zipfile.ZipInfo]) -> None:
        self._members = _CountingList(members)


class _CountingList(list[zipfile.ZipInfo]):
    def append(self, info: zipfile.ZipInfo) -> None:
        super().append(info)
        refuse_many(len(self))


def _name(info: zipfile.ZipInfo) -> StoredName:
    stored = info.orig_filename
    if info.flag_bits & _MARKED_UTF8 or stored.isascii():
        return StoredName(stored, stored)
    return StoredName.unmarked(stored, stored.encode("cp437"))


def _kind(info: zipfile.ZipInfo) -> Kind:
    file_type = stat.S_IFMT(info.external_attr >> 16)
    if file_type == stat.S_IFLNK:
        return Kind.SYMLINK
    if file_type in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
        return Kind.DEVICE
    return Kind.FOLDER if file_type == stat.S_IFDIR or info.orig_filename.endswith("/") else Kind.FILE


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a member really holds, whatever size it declares; `_checked` compares."""
    view = copy.copy(info)
    view.file_size = sys.maxsize
    del view.CRC
    decompressor = _UNBOUNDED.get(info.compress_type)
    if decompressor is not None:
        view.compress_type = zipfile.ZIP_STORED
    with damaged_member():
        try:
            packed = archive.open(view)
        except NotImplementedError as error:
            raise Failed(Outcome.NEEDS_PERSON, f"archive member: {error}", todo=UNPACK) from None
        with packed:
            yield from pieces_of(packed) if decompressor is None else _decompressed(packed, decompressor(packed))


def _decompressed(packed: IO[bytes], by: _Decompressor) -> Iterator[bytes]:
    while not by.eof:
        data = packed.read(PIECE_BYTES) if by.needs_input else b""
        if by.needs_input and not data:
            return
        if piece := by.decompress(data, PIECE_BYTES):
            yield piece


def _lzma_decompressor(packed: IO[bytes]) -> lzma.LZMADecompressor:
    """The decoder that a zip member's LZMA header asks for: version, size of properties, properties."""
    _, _, properties, dictionary = struct.unpack("<HHBI", packed.read(9))
    rest, literal_context = divmod(properties, 9)
    position, literal_position = divmod(rest, 5)
    filters = [
        {
            "id": lzma.FILTER_LZMA1,
            "dict_size": dictionary,
            "lc": literal_context,
            "lp": literal_position,
            "pb": position,
        }
    ]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)


_UNBOUNDED: dict[int, Callable[[IO[bytes]], _Decompressor]] = {
    zipfile.ZIP_BZIP2: lambda _: bz2.BZ2Decompressor(),
    zipfile.ZIP_LZMA: _lzma_decompressor,
}
"""Methods that zipfile unpacks without any bound on memory: it only hands over what is packed."""


def _checked(pieces: Iterator[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
    got, crc = 0, 0
    for piece in pieces:
        got += len(piece)
        crc = zlib.crc32(piece, crc)
        yield piece
    if got != info.file_size:
        raise Failed(Outcome.DAMAGED, f"archive member: {info.file_size} bytes declared, {got} held")
    if crc != info.CRC:
        raise Failed(Outcome.DAMAGED, f"archive member: CRC-32 {info.CRC:08x} declared, {crc:08x} computed")
