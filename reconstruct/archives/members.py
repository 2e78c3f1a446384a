"""Members of archives, and which of them must not be unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple, TypeVar

from hannun.reconstruct.archives.stored_name import HANDFUL, plain, shown
from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome
from hannun.schemas.text import comparison_key, nfc

_MAX_MEMBERS = 2_000_000

_WINDOWS = re.compile(
    r"(?:^|/)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.[^/]*)?(?=/|$)"
    r'|[. ](?=/|$)(?<!^\.)(?<!/\.)|[<>:"|?*\x01-\x1f]',
    re.IGNORECASE,
)
"""Device names, ends that Windows drops, and characters that it forbids."""

_PARENT = re.compile(r"(?:^|[/\\])\s*\.\.\s*(?:[/\\]|$)")

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
        if danger is None and is_forbidden_on_windows(member.name):
            danger = Danger.WINDOWS
        # Of two members of one name, the note on one must not hide the danger of the other.
        if danger is not None and found.get(member.name, Danger.WINDOWS) is Danger.WINDOWS:
            found[member.name] = danger
        if member.kind in (Kind.FILE, Kind.HARD_LINK):
            held.add(plain(member.name))
    return list(found.items())


def refuse_unsafe(members: Iterable[Member]) -> None:
    """Says which members are unsafe, a handful of them by name.

    Raises
    ------
    Failed
        `refused`: a member must not be unpacked, be it only one.
    """
    bad = [(name, why) for name, why in unsafe_members(members) if why is not Danger.WINDOWS]
    if bad:
        named = "; ".join(f"{shown(name)}: {why}" for name, why in bad[:HANDFUL])
        more = f"; and {len(bad) - HANDFUL} more" if len(bad) > HANDFUL else ""
        raise Failed(Outcome.REFUSED, f"unsafe archive, nothing is read of it; bad members: {len(bad)} ({named}{more})")


def refuse_many(number: int) -> None:
    """Says that an archive has more members than are read.

    Raises
    ------
    Failed
        `too-large`: over two million.
    """
    if number > _MAX_MEMBERS:
        raise Failed(Outcome.TOO_LARGE, f"over {_MAX_MEMBERS} members")


def few_enough(members: Iterable[T]) -> Iterator[T]:
    """The members, up to the number that `refuse_many` refuses."""
    for number, member in enumerate(members, 1):
        refuse_many(number)
        yield member


def is_forbidden_on_windows(name: str) -> bool:
    return _WINDOWS.search(name) is not None


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
    if member.kind is Kind.HARD_LINK and (_path_danger(member.target) or plain(member.target) not in held):
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
