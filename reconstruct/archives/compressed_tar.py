"""Compressed tars, unpacked once: read a member at a time, all before it would be unpacked for each."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from hannun.reconstruct.archives.damage import UNPACK, damaged_archive
from hannun.reconstruct.archives.pieces import counted, pieces_of
from hannun.reconstruct.archives.tar_archive import is_tar
from hannun.reconstruct.transfer import Failed
from hannun.schemas.errors import IncompleteError
from hannun.schemas.outcome import Outcome

_MAX_UNPACKED = 64 << 30
"""Bytes of an unpacked tar: several times the largest image archives in use (COCO has 19 GB, VWSD's originals 10)."""

_CompressedFile = gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile
_Opener = Callable[[IO[bytes]], _CompressedFile]

COMPRESSED_FILES: dict[bytes, _Opener] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
"""What reads a compressed file, by its first bytes."""


def unpacked_tar(path: Path, compressed_file: _Opener, stack: ExitStack) -> io.BufferedRandom:
    """The tar in a compressed file, in a file without a name that is closed with the stack.

    Raises
    ------
    Failed
        `needs-person`: damaged, or no tar inside; `too-large`: a bomb.
    IncompleteError
        No room to unpack it.
    """
    pieces = counted(_pieces(path, compressed_file), _MAX_UNPACKED, path.stat().st_size)
    unpacked = stack.enter_context(_written(pieces))
    unpacked.seek(0)
    if not is_tar(unpacked.read(tarfile.BLOCKSIZE)):
        raise Failed(Outcome.NEEDS_PERSON, "compressed, but no tar inside", todo=UNPACK)
    unpacked.seek(0)
    return unpacked


def _pieces(path: Path, compressed_file: _Opener) -> Iterator[bytes]:
    with (
        damaged_archive("compressed data that are cut or damaged"),
        path.open("rb") as packed,
        compressed_file(packed) as stream,
    ):
        yield from pieces_of(stream)


def _written(pieces: Iterator[bytes]) -> io.BufferedRandom:
    """A file that holds the pieces; a full disk is the machine's trouble, not the archive's."""
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115  (it outlives this call)
        try:
            for piece in pieces:
                file.write(piece)
            file.flush()
        except BaseException:
            with suppress(OSError):  # closing writes again what could not be written
                file.close()
            raise
    except OSError as error:
        raise IncompleteError(
            f"no room to unpack a compressed tar: {error.strerror}",
            where="the temporary folder",
            todo="make room or name another folder in TMPDIR, then run again: nothing is lost",
        ) from None
    return file
