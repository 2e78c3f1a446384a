"""Archives: members of a folder, a zip or a tar, streamed one by one and never unpacked under their own names.

An archive is somebody else's input: its names decide nothing on disk, its declared sizes are not believed,
and one unsafe member is reason enough to read none of it.
"""

from __future__ import annotations

import bz2
import copy
import errno
import gzip
import html
import io
import lzma
import os
import re
import stat
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Generic, NamedTuple, Protocol, Self, TypeVar

from hannun.reconstruct.transfer import Failed, Limits, Transfer
from hannun.schemas.errors import IncompleteError, InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.text import comparison_key, nfc
from hannun.schemas.text_file import find_file

_PIECE = 1 << 16
_MAX_RATIO = 200
"""Unpacked over packed size over which something is taken for a bomb."""
_MAX_MEMBERS = 2_000_000
_MAX_UNPACKED = 64 << 30
"""Bytes of an unpacked tar: several times the largest image archives in use (COCO has 19 GB, VWSD's originals 10)."""
_MAX_READ = 1 << 20
"""Bytes that a tar's header may take: names and attributes need some kilobytes."""
_HEAD = 1 << 16
_HANDFUL = 5

_PackedFile = gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_PACKED: dict[bytes, type[_PackedFile]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
_FOREIGN = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"ALZ\x01": "an ALZ archive",
    b"EGGA": "an EGG archive",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
}
_UNPACK = "unpack it by hand and give the folder"
_GET_AGAIN = "get the file again"

_ENCRYPTED = 0x1 | 0x40 | 0x2000
_MARKED_UTF8 = 0x800
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RecursionError,
)
"""What the standard library raises over broken archives."""

T = TypeVar("T")


class Kind(StrEnum):
    """What a member is."""

    FILE = "file"
    FOLDER = "folder"
    SYMLINK = "symbolic link"
    HARD_LINK = "hard link"
    DEVICE = "device"
    LABEL = "label"
    """Holds no file: a volume's name and the like."""


class Member(NamedTuple):
    """A member as unpacking would see it; `target` is what a hard link names."""

    name: str
    kind: Kind = Kind.FILE
    target: str = ""


class Danger(StrEnum):
    """Why a member is unsafe; `WINDOWS` is only worth a note, the others condemn the archive."""

    NUL = "NUL in its name"
    UNC = "a network path"
    DRIVE = "begins with a drive letter"
    ABSOLUTE = "an absolute path"
    PARENT = "'..' in its path"
    BACKSLASH = "a backslash, which is a separator on Windows"
    SYMLINK = "a symbolic link"
    LINK = "a link to what the archive does not hold before it"
    DEVICE = "a device or pipe"
    CONFLICT = "differs from another member only in case or normal form"
    WINDOWS = "a name that Windows cannot keep"


def unsafe_members(members: Iterable[Member]) -> list[tuple[str, Danger]]:
    """Members that must not be unpacked, each once with the first reason, in the archive's order.

    Names are taken as stored: what a library has already cleaned looks harmless.

    Examples
    --------
    >>> [(name, why.name) for name, why in unsafe_members([Member("a/../../b"), Member("c.jpg"), Member("aux.png")])]
    [('a/../../b', 'PARENT'), ('aux.png', 'WINDOWS')]
    """
    members = list(members)
    conflicts = _conflicts(members)
    held: set[str] = set()
    found: dict[str, Danger] = {}
    for member in members:
        danger = _path_danger(member.name) or _kind_danger(member, held)
        if danger is None and _folded(member.name) in conflicts:
            danger = Danger.CONFLICT
        if danger is None and _WINDOWS.search(member.name):
            danger = Danger.WINDOWS
        # Of two members of one name, the note on one must not hide the danger of the other.
        if danger is not None and found.get(member.name, Danger.WINDOWS) is Danger.WINDOWS:
            found[member.name] = danger
        if member.kind in (Kind.FILE, Kind.HARD_LINK):
            held.add(_plain(member.name))
    return list(found.items())


_WINDOWS = re.compile(
    r"(?:^|/)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.[^/]*)?(?=/|$)"
    r'|[. ](?=/|$)(?<!^\.)(?<!/\.)|[<>:"|?*\x01-\x1f]',
    re.IGNORECASE,
)
"""Device names, ends that Windows drops, and characters that it forbids."""


_PARENT = re.compile(r"(?:^|[/\\])\s*\.\.\s*(?:[/\\]|$)")


def _path_danger(name: str) -> Danger | None:
    tests = (
        (Danger.NUL, "\0" in name),
        (Danger.UNC, name.startswith(("\\\\", "//"))),
        # "t:a" without a separator may be a stream of the file t: a matter of Windows alone.
        (Danger.DRIVE, re.match(r"[A-Za-z]:[/\\]", name) is not None),
        (Danger.ABSOLUTE, name.startswith(("/", "\\"))),
        # Windows drops spaces at the end, readers do not see zero-width characters.
        (Danger.PARENT, _PARENT.search(comparison_key(name)) is not None),
        (Danger.BACKSLASH, "\\" in name),
    )
    return next((danger for danger, applies in tests if applies), None)


def _kind_danger(member: Member, held: set[str]) -> Danger | None:
    if member.kind is Kind.SYMLINK:
        return Danger.SYMLINK
    if member.kind is Kind.DEVICE:
        return Danger.DEVICE
    if member.kind is Kind.HARD_LINK and (_path_danger(member.target) or _plain(member.target) not in held):
        return Danger.LINK
    return None


def _conflicts(members: Iterable[Member]) -> set[str]:
    first: dict[str, str] = {}
    conflicts = set()
    for member in members:
        name, folded = member.name.rstrip("/"), _folded(member.name)
        if first.setdefault(folded, name) != name:
            conflicts.add(folded)
    return conflicts


def _folded(name: str) -> str:
    return nfc(nfc(name.rstrip("/")).casefold())


_HTML = re.compile(
    r"\ufeff?\s*(?:<\?xml.*?\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|title|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_DRIVE = "Google (?:Drive|드라이브|ドライブ|云端硬盘|雲端硬碟)"
_DRIVE_TITLE = re.compile(
    rf"(?:Meet )?{_DRIVE}(?: [-–] |: |$)|.* [-–] (?:{_DRIVE}|Google Accounts|Google 계정)$",
    re.IGNORECASE | re.DOTALL,
)
_DRIVE_MARK = re.compile(
    r"\buc-(?:download-link|warning-caption|error-caption)\b"
    r"|action=[\"']?https://(?:drive|docs)(?:\.usercontent)?\.google\.com/(?:uc|download)\b"
    r"|saved from url=\(\d+\)https://(?:drive|docs|accounts)(?:\.usercontent)?\.google\.com/"
    r"|<base href=[\"']?https://accounts\.google\.com/"
    r"|https://accounts\.google\.com/[^\s\"'<>]*continue=https(?::|%3A)(?://|%2F%2F)(?:drive|docs)\.",
    re.IGNORECASE,
)
"""What stands on Drive's pages in every language, and not on pages that only link to a file there."""

_DRIVE_KINDS = (
    (
        re.compile(r"quota exceeded|too many users|view or download this file at this time|할당량", re.IGNORECASE),
        "its download quota is exceeded",
        "wait a day, or copy the file into a Drive of your own; open the address in a browser, confirm the download",
    ),
    (
        re.compile(r"virus scan|file for viruses|바이러스|\buc-(?:download-link|warning-caption)\b", re.IGNORECASE),
        "it warns that there was no virus scan",
        'open the address in a browser, confirm the download ("Download anyway")',
    ),
    (
        re.compile(r"sign[ -]?in\b|로그인|need access|request access|액세스|accounts\.google\.com", re.IGNORECASE),
        "it asks to sign in",
        "open the address in a browser, sign in with an account that has access, confirm the download",
    ),
    (re.compile(""), "it shows something else", "open the address in a browser, confirm the download"),
)


def drive_page(head: bytes) -> str | None:
    """What to do about a Google Drive page that was saved in place of the file; None for anything else.

    Parameters
    ----------
    head
        The beginning of a file; some ten kilobytes are enough.
    """
    text = head.decode("utf-8", "replace")
    if not _HTML.match(text):
        return None
    title = _TITLE.search(text)
    named = title is not None and _DRIVE_TITLE.match(html.unescape(title[1]).strip())
    if not named and not _DRIVE_MARK.search(text):
        return None
    said, todo = next((said, todo) for pattern, said, todo in _DRIVE_KINDS if pattern.search(text))
    return f"a Google Drive page and not the file ({said}): {todo}, and give the downloaded file"


class Archives:
    """Opens members of archives; keeps the archives open between calls, and remembers the unusable ones."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._stack = ExitStack()
        self._opened: dict[Path, _Source | Failed] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._opened.clear()

    def open(self, source_name: str, path: Path, member: str) -> Transfer:
        """The bytes of a member, found by its name or by another form of it, which the note then gives.

        Parameters
        ----------
        source_name
            What the user calls the archive; for messages.
        path
            A folder, a zip or a tar, told by content.
        member
            Name of the member, with `/` between its parts.

        Raises
        ------
        Failed
            `needs-person`: not a whole archive, or encrypted; `refused`: unsafe, or several members answer;
            `gone`: no such member. While reading also `too-large` and `damaged`.
        IncompleteError
            No room to unpack a compressed tar.
        """
        try:
            return self._source(path).open(member, self._limits)
        except Failed as failure:
            raise Failed(failure.outcome, f"source {source_name}: {failure.note}") from None

    def _source(self, path: Path) -> _Source:
        source = self._opened.get(path)
        if source is None:
            # What an archive that turns out unusable holds open, a temporary file above all, is let go at once.
            with ExitStack() as opening:
                try:
                    source = _open_source(path, opening)
                    self._stack.enter_context(opening.pop_all())
                except Failed as failure:
                    source = failure
            self._opened[path] = source
        if isinstance(source, Failed):
            raise Failed(source.outcome, source.note)
        return source


class _Source(Protocol):
    def open(self, member: str, limits: Limits) -> Transfer: ...


def _open_source(path: Path, stack: ExitStack) -> _Source:
    try:
        if path.is_dir():
            return _Folder(path)
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        if head.startswith(_ZIP):
            return _Zip(path, stack)
        for magic, packed_file in _PACKED.items():
            if head.startswith(magic):
                return _Tar(stack.enter_context(_unpacked_tar(path, packed_file)), stack)
        if _is_tar(head):
            return _Tar(stack.enter_context(path.open("rb")), stack)
        if zipfile.is_zipfile(path):  # with something before it: self-extracting
            return _Zip(path, stack)
    except OSError as error:
        raise Failed(Outcome.NEEDS_PERSON, f"cannot be read: {error.strerror}") from None
    raise Failed(Outcome.NEEDS_PERSON, _what_else(head))


def _what_else(head: bytes) -> str:
    page = drive_page(head)
    if page is not None:
        return page
    for magic, name in _FOREIGN.items():
        if head.startswith(magic):
            return f"{name}, which is not read: {_UNPACK}"
    if not head.strip(b"\0"):
        return f"not an archive: {'only zeros' if head else 'an empty file'}; {_GET_AGAIN}"
    kind = "an HTML page" if _HTML.match(head.decode("utf-8", "replace")) else f"begins with {head[:8]!a}"
    return f"not a zip, a tar or a folder: {kind}; {_GET_AGAIN}"


class _Folder:
    """A folder that the user gives for an archive; links in it are the user's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, member: str, limits: Limits) -> Transfer:
        _refuse_debris(member)
        try:
            found = find_file(self._folder, member)
        except InputError as error:
            raise Failed(Outcome.REFUSED, f"{error.what}: {error.got}") from None
        except OSError as error:
            outcome = Outcome.GONE if error.errno == errno.ENAMETOOLONG else Outcome.NEEDS_PERSON
            raise Failed(outcome, f"{_shown(member)}: {error.strerror}") from None
        path, note = found or self._names.find(member)
        return Transfer(_counted(_file_pieces(path), limits.max_bytes), note=note)

    @cached_property
    def _names(self) -> _Names[Path]:
        names: _Names[Path] = _Names()
        paths = (Path(folder, name) for folder, _, files in os.walk(self._folder) for name in files)
        for path in _few_enough(paths):
            names.add(_on_disk(path.relative_to(self._folder).as_posix()), path)
        return names


class _Zip:
    def __init__(self, path: Path, stack: ExitStack) -> None:
        try:
            self._archive = stack.enter_context(_CountingZip(path))
            self._bytes = path.stat().st_size
        except _BROKEN as error:
            raise Failed(
                Outcome.NEEDS_PERSON, f"a zip that is cut or damaged, no list of members: {_said(error)}; {_GET_AGAIN}"
            ) from None
        infos = [(info, _in_zip(info)) for info in self._archive.infolist()]
        _refuse_unsafe(Member(name.meant, _zip_kind(info)) for info, name in infos)
        self._names: _Names[zipfile.ZipInfo] = _Names()
        for info, name in infos:
            if _zip_kind(info) is Kind.FILE:
                self._names.add(name, info)

    def open(self, member: str, limits: Limits) -> Transfer:
        info, note = self._names.find(member)
        if info.flag_bits & _ENCRYPTED:
            raise Failed(Outcome.NEEDS_PERSON, f"{_shown(member)} is encrypted: {_UNPACK}")
        if info.compress_type not in _METHODS:
            raise Failed(Outcome.NEEDS_PERSON, f"compression method {info.compress_type} is not read: {_UNPACK}")
        packed = min(info.compress_size, self._bytes - info.header_offset)
        limit = min(limits.max_bytes, _MAX_RATIO * max(packed, 1))
        return Transfer(_checked(_counted(_zip_pieces(self._archive, info), limit, packed), info), note=note)


class _CountingZip(zipfile.ZipFile):
    """A zip whose members are counted as its directory is read, before a long one has filled the memory."""

    @property
    def filelist(self) -> list[zipfile.ZipInfo]:
        return self._members

    @filelist.setter
    def filelist(self, members: list[zipfile.ZipInfo]) -> None:
        self._members: list[zipfile.ZipInfo] = _Few(members)


class _Few(list[zipfile.ZipInfo]):
    def append(self, info: zipfile.ZipInfo) -> None:
        if len(self) >= _MAX_MEMBERS:
            raise _too_many()
        super().append(info)


class _Tar:
    def __init__(self, stream: IO[bytes], stack: ExitStack) -> None:
        files: dict[str, tuple[_Name, tarfile.TarInfo]] = {}
        members = []
        try:
            sipped = _Sipped(stream)
            self._archive = stack.enter_context(tarfile.TarFile(fileobj=sipped, mode="r", encoding="utf-8"))
            for info in _few_enough(_tar_infos(self._archive, sipped)):
                name, target = _on_disk(info.name), _on_disk(info.linkname).meant
                member = Member(name.meant, _tar_kind(info), target)
                members.append(member)
                # In a tar the later of two members of one name is the one that counts.
                if member.kind is Kind.FILE:
                    files[_plain(name.meant)] = (name, info)
                elif member.kind is Kind.HARD_LINK and _plain(target) in files:
                    files[_plain(name.meant)] = (name, files[_plain(target)][1])
        except _BROKEN as error:
            raise Failed(
                Outcome.NEEDS_PERSON, f"not a tar, or one that is cut or damaged: {_said(error)}; {_GET_AGAIN}"
            ) from None
        _refuse_unsafe(members)
        self._names: _Names[tarfile.TarInfo] = _Names()
        for name, info in files.values():
            self._names.add(name, info)

    def open(self, member: str, limits: Limits) -> Transfer:
        info, note = self._names.find(member)
        return Transfer(_counted(_tar_pieces(self._archive, info), limits.max_bytes), note=note)


class _Sipped(io.BufferedIOBase):
    """A tar's file, read in sips: tarfile takes whole headers into memory, whatever size they declare."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _MAX_READ:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True


def _tar_infos(archive: tarfile.TarFile, stream: _Sipped) -> Iterator[tarfile.TarInfo]:
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


def _unpacked_tar(path: Path, packed_file: type[_PackedFile]) -> IO[bytes]:
    """A compressed tar, unpacked once: read a member at a time, all before it would be unpacked for each."""
    packed_bytes = path.stat().st_size
    limit = min(_MAX_UNPACKED, _MAX_RATIO * packed_bytes)
    unpacked = _written(_counted(_packed_pieces(path, packed_file), limit, packed_bytes))
    unpacked.seek(0)
    if not _is_tar(unpacked.read(tarfile.BLOCKSIZE)):
        unpacked.close()
        raise Failed(Outcome.NEEDS_PERSON, f"compressed, but no tar inside: {_UNPACK}")
    unpacked.seek(0)
    return unpacked


def _written(pieces: Iterator[bytes]) -> IO[bytes]:
    """A file without a name that holds the pieces; a full disk is the machine's trouble, not the archive's."""
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


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


class _Name(NamedTuple):
    """A name as it is stored, as it is meant, and the encoding that tells the second."""

    stored: str
    meant: str
    encoding: str = ""


def _in_zip(info: zipfile.ZipInfo) -> _Name:
    stored = info.orig_filename
    if info.flag_bits & _MARKED_UTF8 or stored.isascii():
        return _Name(stored, stored)
    return _read_name(stored, stored.encode("cp437"))


def _on_disk(stored: str) -> _Name:
    try:
        stored.encode()
    except UnicodeEncodeError:
        return _read_name(stored, stored.encode("utf-8", "surrogateescape"))
    return _Name(stored, stored)


def _read_name(stored: str, raw: bytes) -> _Name:
    """A name whose encoding is not stated: macOS leaves the mark of UTF-8 out, old Korean Windows wrote CP949."""
    for encoding in ("UTF-8", "CP949"):
        try:
            return _Name(stored, raw.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return _Name(stored, stored)


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    name: _Name
    content: T


class _Names(Generic[T]):
    """Members by name, by comparison key, and by the end of their path."""

    def __init__(self) -> None:
        self._entries: list[_Entry[T]] = []
        self._by_key: dict[str, list[int]] = {}

    def add(self, name: _Name, content: T) -> None:
        if _is_debris(name.meant):
            return
        for key in {_key(name.stored), _key(name.meant)}:
            self._by_key.setdefault(key, []).append(len(self._entries))
        self._entries.append(_Entry(name, content))

    def find(self, wanted: str) -> tuple[T, str | None]:
        """The one member that answers to a name, and a note where its own name differs in form."""
        _refuse_debris(wanted)
        plain = _plain(wanted)
        same = [self._entries[place] for place in self._by_key.get(_key(wanted), ())]
        exact = [entry for entry in same if plain in (_plain(entry.name.stored), _plain(entry.name.meant))]
        answers = exact or same or self._wrapped(_key(wanted))
        if not answers:
            raise Failed(Outcome.GONE, f"no member {_shown(wanted)}")
        if len(answers) > 1:
            named = ", ".join(_shown(entry.name.stored) for entry in answers[:_HANDFUL])
            raise Failed(Outcome.REFUSED, f"several members answer to {_shown(wanted)}: {named}")
        return answers[0].content, _note(wanted, answers[0].name)

    def _wrapped(self, key: str) -> list[_Entry[T]]:
        """Members whose path ends so, as where an archive wraps everything in a folder."""
        ending = _backwards(key) + "/"
        start = bisect_left(self._endings, (ending,))
        places = dict.fromkeys(
            place for other, place in islice(self._endings, start, start + 2 * _HANDFUL) if other.startswith(ending)
        )
        return [self._entries[place] for place in places] if key else []

    @cached_property
    def _endings(self) -> list[tuple[str, int]]:
        return sorted((_backwards(key), place) for key, places in self._by_key.items() for place in places)


def _note(wanted: str, name: _Name) -> str | None:
    notes = []
    if _plain(name.stored) != _plain(wanted):
        encoding = f" ({name.encoding}, not marked)" if name.encoding else ""
        notes.append(f"{wanted!r} is stored as {_shown(name.stored)}{encoding}")
    if _WINDOWS.search(name.meant):
        notes.append(f"{_shown(name.meant)} is {Danger.WINDOWS}")
    return "; ".join(notes) or None


def _plain(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _key(name: str) -> str:
    return comparison_key(_plain(name))


def _backwards(key: str) -> str:
    return "/".join(reversed(key.split("/")))


def _is_debris(name: str) -> bool:
    """Whether a name is that of macOS's forks, which carry the names of real files."""
    *folders, last = name.split("/")
    return "__MACOSX" in folders or last.startswith("._")


def _refuse_debris(wanted: str) -> None:
    if _is_debris(wanted):
        raise Failed(Outcome.GONE, f"{_shown(wanted)} is a fork that macOS adds and never an image")


def _refuse_unsafe(members: Iterable[Member]) -> None:
    bad = [(name, why) for name, why in unsafe_members(members) if why is not Danger.WINDOWS]
    if bad:
        named = "; ".join(f"{_shown(name)}: {why}" for name, why in bad[:_HANDFUL])
        more = f"; and {len(bad) - _HANDFUL} more" if len(bad) > _HANDFUL else ""
        raise Failed(Outcome.REFUSED, f"unsafe archive, nothing is read of it; bad members: {len(bad)} ({named}{more})")


def _few_enough(items: Iterable[T]) -> Iterator[T]:
    for number, item in enumerate(items):
        if number >= _MAX_MEMBERS:
            raise _too_many()
        yield item


def _too_many() -> Failed:
    return Failed(Outcome.TOO_LARGE, f"over {_MAX_MEMBERS} members")


def _zip_kind(info: zipfile.ZipInfo) -> Kind:
    file_type = stat.S_IFMT(info.external_attr >> 16)
    if file_type == stat.S_IFLNK:
        return Kind.SYMLINK
    if file_type in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
        return Kind.DEVICE
    return Kind.FOLDER if file_type == stat.S_IFDIR or info.orig_filename.endswith("/") else Kind.FILE


def _tar_kind(info: tarfile.TarInfo) -> Kind:
    kinds = (
        (info.isreg(), Kind.FILE),
        (info.isdir(), Kind.FOLDER),
        (info.issym(), Kind.SYMLINK),
        (info.islnk(), Kind.HARD_LINK),
        (info.isdev(), Kind.DEVICE),
    )
    return next((kind for applies, kind in kinds if applies), Kind.LABEL)


def _pieces(stream: IO[bytes] | _PackedFile) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def _file_pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            yield from _pieces(stream)
    except FileNotFoundError:
        raise Failed(Outcome.GONE, "the file is not there any more") from None
    except OSError as error:
        raise Failed(Outcome.NEEDS_PERSON, f"cannot be read: {error.strerror}") from None


def _packed_pieces(path: Path, packed_file: type[_PackedFile]) -> Iterator[bytes]:
    try:
        with packed_file(path) as packed:
            yield from _pieces(packed)
    except _BROKEN as error:
        raise Failed(
            Outcome.NEEDS_PERSON, f"compressed data that are cut or damaged: {_said(error)}; {_GET_AGAIN}"
        ) from None


def _tar_pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    try:
        stream = archive.extractfile(info)
        assert stream is not None  # only members that hold bytes are found
        with stream:
            yield from _pieces(stream)
    except _BROKEN as error:
        raise Failed(Outcome.DAMAGED, f"archive member: {_said(error)}") from None


def _zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a member really holds, whatever size it declares; `_checked` compares."""
    view = copy.copy(info)
    view.file_size = sys.maxsize
    del view.CRC
    unbounded = info.compress_type in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    if unbounded:
        # zipfile unpacks these two without any bound on memory: it only hands over what is packed.
        view.compress_type = zipfile.ZIP_STORED
    try:
        with archive.open(view) as packed:
            if not unbounded:
                yield from _pieces(packed)
            elif info.compress_type == zipfile.ZIP_BZIP2:
                yield from _decompressed(packed, bz2.BZ2Decompressor())
            else:
                yield from _decompressed(packed, _lzma_decompressor(packed))
    except NotImplementedError as error:
        raise Failed(Outcome.NEEDS_PERSON, f"archive member: {error}; {_UNPACK}") from None
    except _BROKEN as error:
        raise Failed(Outcome.DAMAGED, f"archive member: {_said(error)}") from None


def _decompressed(packed: IO[bytes], by: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> Iterator[bytes]:
    while not by.eof:
        data = packed.read(_PIECE) if by.needs_input else b""
        if by.needs_input and not data:
            return
        if piece := by.decompress(data, _PIECE):
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


def _counted(pieces: Iterator[bytes], limit: int, packed: int | None = None) -> Iterator[bytes]:
    """The pieces, up to `limit` bytes in all; the one that passes it is not given out."""
    got = 0
    for piece in pieces:
        got += len(piece)
        if got > limit:
            origin = "" if packed is None else f", unpacked from {packed}"
            raise Failed(Outcome.TOO_LARGE, f"over {limit} bytes{origin}")
        yield piece


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


def _said(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


def _shown(name: str) -> str:
    # Forms that look the same are told apart by their code points.
    text = repr(name) if nfc(name) == name else ascii(name)
    return text if len(text) <= 120 else text[:117] + "..."
