"""Sources: files that an upstream publishes, each pinned, each replaceable by the user's own copy."""

from __future__ import annotations

import base64
import fnmatch
import importlib.metadata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hannun.reconstruct.archives.stand_in import stand_in
from hannun.reconstruct.records import Records
from hannun.schemas.catalogue import SourceEntry
from hannun.schemas.digest import IDENTITY, digests_of, parse
from hannun.schemas.errors import InputError, SourceError
from hannun.schemas.text_file import read_bytes

_ROOM = Path(__file__).parent


@dataclass(frozen=True)
class Got:
    """A source's file or folder on this machine, and the revision of the repository it comes from."""

    path: Path
    revision: str | None = None


Download = Callable[[SourceEntry], Got]


@dataclass(frozen=True)
class Source:
    """An opened source: its name, its bytes, and where they come from.

    One that holds records has these instead of bytes: they are read one by one. `revision` is that of the
    repository it comes from.
    """

    name: str
    where: str
    data: bytes = b""
    records: Records | None = None
    revision: str | None = None

    @cached_property
    def digest(self) -> str:
        """`sha256:hex` of the bytes, or of the files that hold the records."""
        return self.records.digest if self.records else f"{IDENTITY}:{digests_of(self.data, [IDENTITY])[IDENTITY]}"


def open_sources(
    entries: Mapping[str, SourceEntry], given: Mapping[str, Path], download: Download | None = None
) -> dict[str, Source]:
    """Open every source of a benchmark.

    Parameters
    ----------
    entries
        The catalogue's sources by name.
    given
        The user's own copies by source name (`--source NAME=PATH`); they may differ from the pinned
        file, and the recipe then records their digest. A source of which there may be many also takes
        `NAME.2`, `NAME.3`, ...
    download
        Gets the file of a source with an address, where the user gave none.

    Raises
    ------
    InputError
        `given` names a source that the benchmark does not have, or a file that cannot be read or is plainly
        another: an HTML page, a Git LFS pointer, nothing.
    SourceError
        A source is not there, or is not the pinned file.
    """
    further = [key for key in given if _is_further(key, entries)]
    unknown = sorted(set(given) - set(entries) - set(further))
    if unknown:
        raise InputError(
            f"no source named {unknown[0]!r}", expected=", ".join(entries), got=unknown[0], todo="correct --source"
        )
    absent = [entry for name, entry in entries.items() if name not in given and entry.kind == "person"]
    if absent:
        raise _not_here(absent)
    opened = {
        name: _given(entry, name, given[name]) if name in given else _open(entry, download)
        for name, entry in entries.items()
    }
    return opened | {key: _given(entries[key.partition(".")[0]], key, given[key]) for key in further}


def _given(entry: SourceEntry, name: str, path: Path) -> Source:
    if entry.holds == "records":
        return Source(name, str(path), records=Records(path))
    data = read_bytes(path)
    explained = stand_in(data)
    if explained is not None:
        raise InputError(f"source {name}: {explained.what}", where=str(path), todo=explained.todo)
    return Source(name, str(path), data)


def _is_further(key: str, entries: Mapping[str, SourceEntry]) -> bool:
    name, dot, number = key.partition(".")
    return bool(dot) and number.isdecimal() and name in entries and entries[name].many


def missing_sources(entries: Iterable[SourceEntry]) -> list[SourceEntry]:
    """Sources that this machine lacks, or that only a person can give; none is opened or fetched."""
    return [
        entry
        for entry in entries
        if entry.kind == "person" or (entry.kind == "distribution" and not _installed_version(entry.distribution))
    ]


def distribution_files(entry: SourceEntry) -> list[tuple[str, str, int]]:
    """Path, sha256 (hex) and size of the files of an installed distribution that `entry.select` matches.

    The facts come from the distribution's RECORD; they are the same on every machine for one version.

    Raises
    ------
    SourceError
        The distribution is not installed, has another version, or its RECORD lacks digests.
    """
    version = _installed_version(entry.distribution)
    if version is None or version != entry.version:
        raise SourceError(
            f"source {entry.name} needs the package {entry.distribution} {entry.version}",
            expected=f"{entry.distribution} {entry.version} installed",
            got="not installed" if version is None else f"{entry.distribution} {version}",
            todo=entry.by_hand,
        )
    found = []
    for path in importlib.metadata.files(entry.distribution or "") or ():
        if not fnmatch.fnmatch(str(path), entry.select or "*"):
            continue
        if path.hash is None or path.hash.mode != IDENTITY or path.size is None:
            raise SourceError(f"the RECORD of {entry.distribution} lacks a sha256", where=str(path), todo=entry.by_hand)
        padded = path.hash.value + "=" * (-len(path.hash.value) % 4)
        found.append((str(path), base64.urlsafe_b64decode(padded).hex(), path.size))
    return sorted(found)


def _open(entry: SourceEntry, download: Download | None) -> Source:
    if entry.kind == "bundled":
        path = _ROOM / (entry.path or "")
        source = Source(entry.name, str(path), read_bytes(path))
    elif entry.kind == "distribution":
        lines = [f"{path}\t{sha256}\t{size}" for path, sha256, size in distribution_files(entry)]
        listing = "\n".join(["path\tsha256\tbytes", *lines]) + "\n"
        source = Source(entry.name, f"RECORD of {entry.distribution} {entry.version}", listing.encode())
    elif entry.kind in ("download", "hub") and download is not None:
        got = download(entry)
        where = entry.address or f"https://huggingface.co/datasets/{entry.repo}"
        records = entry.holds == "records"
        source = Source(
            entry.name,
            where,
            b"" if records else read_bytes(got.path),
            Records(got.path) if records else None,
            got.revision,
        )
    else:
        raise _not_here([entry])
    if entry.digest is not None:
        algorithm, expected = parse(entry.digest)
        found = digests_of(source.data, [algorithm])[algorithm]
        if found != expected:
            raise SourceError(
                f"source {entry.name} is not the pinned one",
                where=source.where,
                expected=entry.digest,
                got=f"{algorithm}:{found}",
                todo=f"get it again, or give your own on purpose with --source {entry.name}=PATH",
            )
    return source


def _not_here(entries: Sequence[SourceEntry]) -> SourceError:
    """All at once, so that a person goes to fetch them once."""
    names = ", ".join(entry.name for entry in entries)
    todo = (f"{entry.by_hand or entry.address}; then give it with --source {entry.name}=PATH" for entry in entries)
    return SourceError(
        f"source {names} is not here" if len(entries) == 1 else f"sources {names} are not here",
        expected="; ".join(entry.description for entry in entries),
        todo="\n            ".join(todo),
    )


def _installed_version(distribution: str | None) -> str | None:
    try:
        return importlib.metadata.version(distribution or "")
    except importlib.metadata.PackageNotFoundError:
        return None
