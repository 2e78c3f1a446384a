"""The index of an archive: how a member is found by name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from hannun.reconstruct.archives.members import Danger, is_forbidden_on_windows
from hannun.reconstruct.archives.stored_name import HANDFUL, StoredName, is_fork, plain, refuse_fork, shown
from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome
from hannun.schemas.text import comparison_key

T = TypeVar("T")


class Index(Generic[T]):
    """Members by name, by comparison key, and by the end of their path; macOS's forks are left out."""

    def __init__(self, members: Iterable[tuple[StoredName, T]]) -> None:
        self._by_key: dict[str, list[tuple[StoredName, T]]] = {}
        for member in members:
            name, _ = member
            if not is_fork(name.meant):
                for key in {_key(name.stored), _key(name.meant)}:
                    self._by_key.setdefault(key, []).append(member)

    @property
    def names(self) -> list[str]:
        """The members' names as they are meant, sorted."""
        return sorted({name.meant for members in self._by_key.values() for name, _ in members})

    def find(self, wanted: str) -> tuple[T, str | None]:
        """The one member that answers to a name, and a note where its own name differs in form.

        Raises
        ------
        Failed
            `gone`: no member answers; `refused`: several do.
        """
        refuse_fork(wanted)
        same = self._by_key.get(_key(wanted), [])
        exact = [(name, it) for name, it in same if plain(wanted) in (plain(name.stored), plain(name.meant))]
        answers = exact or same or self._wrapped(_key(wanted))
        if not answers:
            raise Failed(Outcome.GONE, f"no member {shown(wanted)}")
        if len(answers) > 1:
            named = ", ".join(shown(name.stored) for name, _ in answers[:HANDFUL])
            raise Failed(Outcome.REFUSED, f"several members answer to {shown(wanted)}: {named}")
        [(name, found)] = answers
        return found, _note(wanted, name)

    def _wrapped(self, key: str) -> list[tuple[StoredName, T]]:
        """Members whose path ends so, as where an archive wraps everything in a folder."""
        if not key:
            return []
        ending = _backwards(key) + "/"
        start = bisect_left(self._endings, ending)
        # A member has two keys at most.
        near = islice(self._endings, start, start + 2 * HANDFUL)
        keys = [_backwards(each) for each in near if each.startswith(ending)]
        return list(dict.fromkeys(member for each in keys for member in self._by_key[each]))

    @cached_property
    def _endings(self) -> list[str]:
        return sorted(map(_backwards, self._by_key))


def _note(wanted: str, name: StoredName) -> str | None:
    notes = []
    if plain(name.stored) != plain(wanted):
        encoding = f" ({name.encoding}, not marked)" if name.encoding else ""
        notes.append(f"{wanted!r} is stored as {shown(name.stored)}{encoding}")
    if is_forbidden_on_windows(name.meant):
        notes.append(f"{shown(name.meant)} is {Danger.WINDOWS}")
    return "; ".join(notes) or None


def _key(name: str) -> str:
    return comparison_key(plain(name))


def _backwards(key: str) -> str:
    return "/".join(reversed(key.split("/")))
