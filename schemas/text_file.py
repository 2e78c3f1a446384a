"""Text files: UTF-8 and nothing else, lines ended by LF, CRLF or throughout by CR, names in either normal form.

A byte-order mark turns the first column's name into another one: it is skipped and noted at the
beginning, and an error anywhere else.
"""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hannun.schemas.errors import InputError
from hannun.schemas.packed import packed_as
from hannun.schemas.text import comparison_key

NEWLINE = b"\n"
_UTF_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32 BOM"),
    (codecs.BOM_UTF32_BE, "UTF-32 BOM"),
    (codecs.BOM_UTF16_LE, "UTF-16 BOM"),
    (codecs.BOM_UTF16_BE, "UTF-16 BOM"),
)


@dataclass(frozen=True)
class Decoded:
    """Decoded text, and what had to be done to it."""

    text: str
    notes: tuple[str, ...] = ()


def without_bom(data: bytes, where: str) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a UTF-8 file without its leading byte-order mark, and a note where there was one.

    Raises
    ------
    InputError
        The file is UTF-16 or UTF-32, holds NUL bytes, or is packed.
    """
    for mark, name in _UTF_BOMS:
        if data.startswith(mark):
            raise InputError(
                f"not UTF-8 ({name})", where=where, expected="UTF-8", got=name, todo="save the file as UTF-8"
            )
    at = data.find(b"\0")
    if at >= 0:
        _refuse_packed(data, where)
        raise InputError(
            "NUL character in a text file (UTF-16 without a mark, or not text)",
            where=f"{where}, line {data.count(NEWLINE, 0, at) + 1}",
            expected="UTF-8 text",
            todo="give a text file, saved as UTF-8",
        )
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :], ("BOM: a byte-order mark at the beginning was skipped",)
    return data, ()


def decode_line(data: bytes, where: str) -> str:
    """Decode one line strictly.

    Raises
    ------
    InputError
        Not UTF-8, or begun by a byte-order mark, as joining files leaves it.
    """
    if data.startswith(codecs.BOM_UTF8):
        raise InputError(
            "byte-order mark inside the file",
            where=where,
            expected="a mark only at the very beginning",
            got="U+FEFF at the start of the line",
            todo="it is left by joining files: remove it",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "not UTF-8" + _guess(data),
            where=where,
            expected="UTF-8",
            got=f"byte 0x{data[error.start]:02x} at byte {error.start} of the line",
            todo="save the file as UTF-8",
        ) from None


def decode(data: bytes, where: str) -> Decoded:
    """Decode a UTF-8 file strictly; a leading byte-order mark is dropped and noted.

    Raises
    ------
    InputError
        Not UTF-8 (UTF-16 and UTF-32 named), NUL bytes, or a byte-order mark at the start of a later line.
    """
    data, notes = without_bom(data, where)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _refuse_packed(data, where)
    else:
        if not text.startswith("\ufeff") and "\n\ufeff" not in text:
            return Decoded(text, notes)
    # A file may have gigabytes: only what is wrong is looked for by line.
    for number, line in enumerate(data.split(NEWLINE), 1):
        decode_line(line, f"{where}, line {number}")
    raise AssertionError(where)


def read_text(path: Path) -> Decoded:
    """Read and `decode` a file; a missing or unreadable file is an InputError."""
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Read a file that the user named.

    Raises
    ------
    InputError
        It does not exist, is a folder or a device, does not fit into memory, or may not be read.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as stream:
            kind = os.fstat(stream.fileno()).st_mode
            if not stat.S_ISREG(kind) and not stat.S_ISFIFO(kind):
                raise InputError("a device, not a file", where=str(path), todo="give a file")
            return _piped(stream.fileno()) if stat.S_ISFIFO(kind) else stream.read()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), todo="check the path") from None
    except IsADirectoryError:
        raise InputError("a folder, not a file", where=str(path), todo="give the file that is in it") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", where=str(path), todo="check the path and its permissions"
        ) from None
    except MemoryError:
        raise InputError(
            "does not fit into memory",
            where=str(path),
            got=f"{path.stat().st_size:,} bytes",
            todo="check that it is the right file",
        ) from None


def _without_waiting(path: str, flags: int) -> int:
    # A pipe that nobody writes to would be waited for without end.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _piped(descriptor: int) -> bytes:
    """All that a pipe brings, as from `<(unzip -p ...)` of a shell; nothing where nobody writes to it."""
    try:
        first = os.read(descriptor, 1)
    except BlockingIOError:
        first = None
    if first == b"":
        return b""
    os.set_blocking(descriptor, True)
    with open(descriptor, "rb", closefd=False) as stream:
        return (first or b"") + stream.read()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all.

    Raises
    ------
    InputError
        It cannot be written there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", where=str(path), todo="choose another place") from None


def lines_of(text: str) -> list[str]:
    r"""Lines without their LF or CRLF, or their CR where the text has no LF.

    No other character ends a line (str.splitlines has eleven).
    """
    lines = text.split("\n" if "\n" in text else "\r")
    if lines and lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def find_file(folder: Path, name: str) -> tuple[Path, str | None] | None:
    """Find a file by name, also when it is written in another normal form on disk.

    Returns the path and a note when the names differ in form; None when there is none.

    Raises
    ------
    InputError
        The name is not a plain path below the folder, or several files answer to it.
    """
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        raise InputError("not a file name below the folder", where=str(folder), got=repr(name))
    exact = folder.joinpath(*parts)
    if exact.is_file():
        return exact, None
    here, note = folder, False
    for part in parts:
        if (here / part).exists():
            here = here / part
            continue
        if not here.is_dir():
            return None
        key = comparison_key(part)
        same = [entry for entry in here.iterdir() if comparison_key(entry.name) == key]
        if len(same) > 1:
            raise InputError(
                "several files answer to one name",
                where=str(here),
                expected=repr(part),
                got=", ".join(sorted(ascii(entry.name) for entry in same)),
                todo="rename all but one",
            )
        if not same:
            return None
        here, note = same[0], True
    if not here.is_file():
        return None
    written = ascii(here.relative_to(folder).as_posix())
    return here, f"{name!r} is written {written} on disk" if note else None


def _refuse_packed(data: bytes, where: str) -> None:
    """Names what is no text because it is packed."""
    kind = packed_as(data)
    if kind is not None:
        raise InputError(
            f"{kind}, not text", where=where, expected="UTF-8 text", todo="unpack it by hand and give the file inside"
        )


def _guess(data: bytes) -> str:
    try:
        data.decode("cp949")
    except UnicodeDecodeError:
        return ""
    return " (reads as CP949, the old Korean Windows encoding)"
