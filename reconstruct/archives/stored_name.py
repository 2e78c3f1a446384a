"""Names of members as they are stored: how they are read, compared and shown."""

from __future__ import annotations

from typing import NamedTuple, Self

from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome
from hannun.schemas.text import nfc

HANDFUL = 5
"""How many of many names a message gives."""


class StoredName(NamedTuple):
    """A name as it is stored, as it is meant, and the encoding that tells the second where none is stated."""

    stored: str
    meant: str
    encoding: str = ""

    @classmethod
    def unmarked(cls, stored: str, raw: bytes) -> Self:
        """A name whose encoding is not stated: macOS leaves the mark of UTF-8 out, old Korean Windows wrote CP949."""
        for encoding in ("UTF-8", "CP949"):
            try:
                return cls(stored, raw.decode(encoding), encoding)
            except UnicodeDecodeError:
                continue
        return cls(stored, stored)

    @classmethod
    def escaped(cls, stored: str) -> Self:
        """A name in which surrogates stand for the bytes that are not UTF-8, as Python reads folders and tars."""
        try:
            stored.encode()
        except UnicodeEncodeError:
            return cls.unmarked(stored, stored.encode("utf-8", "surrogateescape"))
        return cls(stored, stored)


def plain(name: str) -> str:
    """The name without empty parts and `.`, and without a slash at its end."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def shown(name: str) -> str:
    """The name for a message; forms that look the same are told apart by their code points."""
    text = repr(name) if nfc(name) == name else ascii(name)
    return text if len(text) <= 120 else text[:117] + "..."


def is_fork(name: str) -> bool:
    """Whether a name is that of macOS's forks, which carry the names of real files."""
    *folders, last = name.split("/")
    return "__MACOSX" in folders or last.startswith("._")


def refuse_fork(wanted: str) -> None:
    """Says that a fork is never what is wanted.

    Raises
    ------
    Failed
        `gone`: the name is a fork's.
    """
    if is_fork(wanted):
        raise Failed(Outcome.GONE, f"{shown(wanted)} is a fork that macOS adds and never an image")
