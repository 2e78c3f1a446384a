"""Damage: what the standard library raises over broken archives, as failures that say what to do."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome

UNPACK = "unpack it by hand and give what is inside"
GET_AGAIN = "get the file again"

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


class Explained(NamedTuple):
    """What is wrong with a file, and what to do about it."""

    what: str
    todo: str

    def __str__(self) -> str:
        return f"{self.what}: {self.todo}"


@contextmanager
def damaged_archive(what: str) -> Iterator[None]:
    """Names what is raised within as damage of the whole archive.

    Raises
    ------
    Failed
        `needs-person`: `what`, the error, and the advice to get the file again.
    """
    try:
        yield
    except _BROKEN as error:
        raise Failed(Outcome.NEEDS_PERSON, f"{what}: {_said(error)}", todo=GET_AGAIN) from None


@contextmanager
def damaged_member() -> Iterator[None]:
    """Names what is raised within as damage of one member.

    Raises
    ------
    Failed
        `damaged`, with the error.
    """
    try:
        yield
    except _BROKEN as error:
        raise Failed(Outcome.DAMAGED, f"archive member: {_said(error)}") from None


def _said(error: Exception) -> str:
    # Some errors hold whole names, which may be long, and others say nothing.
    return str(error)[:200] or type(error).__name__
