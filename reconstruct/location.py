"""Locations: where an image's bytes can be had.

In a lock a location is text: an `https:` or `http:` address, `archive:<source>!<member>`,
`row:<source>!<row>/<column>` (a list column adds `/<index>`), or `package:<distribution>!<path in its
RECORD>`. Local folders that a user names are never written into a lock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from hannun.schemas.errors import InputError


@dataclass(frozen=True)
class Web:
    """An address; whether its scheme may be asked is decided where it is opened."""

    address: str

    def __str__(self) -> str:
        return self.address

    @cached_property
    def host(self) -> str:
        try:
            return (urlsplit(self.address).hostname or "malformed").lower()
        except ValueError:
            return "malformed"

    @property
    def name(self) -> str:
        return PurePosixPath(unquote(self.address.partition("?")[0])).name


@dataclass(frozen=True)
class Archive:
    """A member of a zip or tar file that is a source."""

    source: str
    member: str

    def __str__(self) -> str:
        return f"archive:{self.source}!{self.member}"

    @property
    def host(self) -> str:
        return f"archive:{self.source}"

    @property
    def name(self) -> str:
        return PurePosixPath(self.member).name


@dataclass(frozen=True)
class Row:
    """A cell of a table that is a source; `row` counts from 0, `index` is a place in a list column."""

    source: str
    row: int
    column: str
    index: int | None = None

    def __str__(self) -> str:
        tail = "" if self.index is None else f"/{self.index}"
        return f"row:{self.source}!{self.row}/{self.column}{tail}"

    @property
    def host(self) -> str:
        return f"row:{self.source}"

    @property
    def name(self) -> str | None:
        return None


@dataclass(frozen=True)
class Package:
    """A file of an installed distribution, by the path that its RECORD gives."""

    distribution: str
    path: str

    def __str__(self) -> str:
        return f"package:{self.distribution}!{self.path}"

    @property
    def host(self) -> str:
        return f"package:{self.distribution}"

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Local:
    """A file in a folder that the user named (`--local NAME=DIR`)."""

    namespace: str
    path: Path

    def __str__(self) -> str:
        # The folder is the user's own business: records name the file only.
        return f"local:{self.namespace}!{self.path.name}"

    @property
    def host(self) -> str:
        return f"local:{self.namespace}"

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True)
class Malformed:
    """What a lock gives as a location and cannot be read as one."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def host(self) -> str:
        return "malformed"

    @property
    def name(self) -> str | None:
        return None


_NUMBER = re.compile(r"[0-9]{1,12}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")

Location = Web | Archive | Row | Package | Local | Malformed


def parse(text: str) -> Location:
    """Read a location as locks write it; what has another scheme is an address.

    Raises
    ------
    InputError
        No scheme, or a malformed archive, row or package location.

    Examples
    --------
    >>> parse("row:koffvqa!12/image")
    Row(source='koffvqa', row=12, column='image', index=None)
    """
    scheme, _, rest = text.partition(":")
    if _SCHEME.fullmatch(scheme.strip()) and rest and scheme not in ("archive", "row", "package"):
        return Web(text)
    owner, bang, inner = rest.partition("!")
    if owner and bang and inner:
        if scheme == "archive":
            return Archive(owner, inner)
        if scheme == "package":
            return Package(owner, inner)
        if scheme == "row":
            row, _, cell = inner.partition("/")
            column, _, index = cell.partition("/")
            if _NUMBER.fullmatch(row) and column and (not index or _NUMBER.fullmatch(index)):
                return Row(owner, int(row), column, int(index) if index else None)
    raise InputError(
        "not a location",
        expected="https:..., http:..., archive:SOURCE!MEMBER, row:SOURCE!ROW/COLUMN or package:DISTRIBUTION!PATH",
        got=repr(text),
    )


def read(text: str) -> Location:
    """Read a location; what cannot be read is `Malformed`."""
    try:
        return parse(text)
    except InputError:
        return Malformed(text)
