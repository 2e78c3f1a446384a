"""Packed texts: the text files of a source that is given as it was downloaded, packed or not."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from hannun.reconstruct.archives.compressed_tar import COMPRESSED_FILES
from hannun.reconstruct.archives.damage import GET_AGAIN, damaged_archive
from hannun.reconstruct.archives.pieces import counted, pieces_of
from hannun.reconstruct.archives.stored_name import HANDFUL, shown
from hannun.reconstruct.archives.tar_archive import TarArchive, is_tar
from hannun.reconstruct.archives.zip_archive import ZIP_MAGICS, ZipArchive
from hannun.reconstruct.transfer import Failed
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.text_file import decode

_MAX_BYTES = 4 << 30
"""Of one unpacked text; the largest ones in use have some hundred megabytes."""


@dataclass(frozen=True)
class Wanted:
    """The text files to take from an archive: the pattern of their names, folders left out, and what they are."""

    name: re.Pattern[str]
    what: str


def packed_texts(data: bytes, where: str, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Each text and where it stands: the file itself, or the members of the zip or tar that it is.

    Raises
    ------
    InputError
        A text is not UTF-8; the archive is damaged, unsafe, encrypted, or holds no such member.
    """
    place = where
    try:
        with ExitStack() as stack:
            archive = _archive(data, stack)
            if isinstance(archive, bytes):
                yield decode(archive, where).text, where
                return
            names = [name for name in archive.names if wanted.name.fullmatch(name.rpartition("/")[2])]
            if not names:
                raise _without(archive.names, where, wanted)
            for name in names:
                place = f"{where}!{name}"
                yield decode(b"".join(archive.open(name, _MAX_BYTES).pieces), place).text, place
    except Failed as failure:
        raise _explained(failure, place, wanted) from None


def packed_text(data: bytes, where: str, wanted: Wanted) -> tuple[str, str]:
    """The one text, and where it stands.

    Raises
    ------
    InputError
        As for `packed_texts`, or the archive holds several.
    """
    first, *others = packed_texts(data, where, wanted)
    if others:
        raise InputError(
            "an archive of several files that may be meant",
            where=where,
            expected=f"one: {wanted.what}",
            got=", ".join(place.rpartition("!")[2] for _, place in [first, *others][:HANDFUL]),
            todo="unpack it by hand and give the right one",
        )
    return first


def _archive(data: bytes, stack: ExitStack) -> ZipArchive | TarArchive | bytes:
    """The archive that a file is, or its bytes, unpacked where it is only compressed."""
    if data.startswith(ZIP_MAGICS):
        return ZipArchive(io.BytesIO(data), stack)
    for magic, compressed_file in COMPRESSED_FILES.items():
        if data.startswith(magic):
            with damaged_archive("compressed data that are cut or damaged"):
                stream = stack.enter_context(compressed_file(io.BytesIO(data)))
                data = b"".join(counted(pieces_of(stream), _MAX_BYTES, len(data)))
            break
    return TarArchive(io.BytesIO(data), stack) if is_tar(data) else data


def _explained(failure: Failed, where: str, wanted: Wanted) -> InputError:
    if failure.todo is not None:
        return InputError(failure.what, where=where, todo=failure.todo)
    todo = GET_AGAIN if failure.outcome is Outcome.DAMAGED else f"give {wanted.what}"
    return InputError(f"{failure.outcome.value}: {failure.what}", where=where, todo=todo)


def _without(names: list[str], where: str, wanted: Wanted) -> InputError:
    return InputError(
        f"an archive without {wanted.what}",
        where=where,
        expected=wanted.what,
        got=", ".join(map(shown, names[:HANDFUL])) or "no file",
        todo=f"give {wanted.what}, or the archive that holds it",
    )
