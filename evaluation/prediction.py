"""Files of predictions: JSON lines that say how each was made, begun anew or continued."""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hannun.reconstruct.journal import Journal, read_journal
from hannun.schemas.digest import IDENTITY, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.version import version

_FREE = ("batch_size", "device", "deadline")
"""Settings that may differ between the rows of one file: they decide how fast, not what."""


@dataclass(frozen=True)
class Making:
    """Everything that is needed to make a line again, as `prediction.schema.json` says it (`made`)."""

    benchmark: str
    interface: str
    model: Mapping[str, Any]
    prompt: str | None
    data: Mapping[str, str]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    side_file: str | None = None

    def to_json(self) -> dict[str, Any]:
        versions = {"hannun": version(), "python": platform.python_version(), **self.versions}
        return {**self.__dict__, "versions": versions}


def data_digests(rows: Path, lock: Path) -> dict[str, str]:
    """Digests of the rows and of the image lock that predictions are of."""
    return {
        "rows": f"{IDENTITY}:{digests_of_file(rows, [IDENTITY])[IDENTITY]}",
        "images": f"{IDENTITY}:{digests_of_file(lock, [IDENTITY])[IDENTITY]}",
    }


def read_lines(path: Path, schema: str, making: Making | None = None) -> list[dict[str, Any]]:
    """The whole lines of a file that a run has written; of one that is not there, none.

    Parameters
    ----------
    schema
        `prediction` or `judged_answer`.
    making
        How lines are made now; they must have been made so. None to take them as they are.

    Raises
    ------
    InputError
        With file and line: no such line, or one that was made otherwise.
    """
    lines = []
    for number, line in enumerate(read_journal(path), 1):
        where = f"{path}, line {number}"
        if wrong := problems(schema, line):
            at, message = wrong[0]
            raise InputError(
                "not a line that a run has written", where=f"{where}, {at}", got=message, todo="give another --out"
            )
        if making is not None and (differing := _differing(line.get("made"), making.to_json())) is not None:
            raise InputError(
                "the file holds lines that were made otherwise", where=where, expected=differing[0], got=differing[1],
                todo="give another --out, or the settings that the file was begun with",
            )  # fmt: skip
        lines.append(line)
    return lines


@contextmanager
def continuing(path: Path) -> Iterator[Journal]:
    """The file to append lines to, alone; one to which nothing came does not stay.

    Raises
    ------
    InputError
        Another run is writing it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as held:
        _refuse_company(held, path)
        try:
            with Journal(path, cut_torn=True) as journal:
                yield journal
        finally:
            if not path.stat().st_size:
                path.unlink()


def _refuse_company(stream: IO[bytes], path: Path) -> None:
    """Two runs that write one file would ask every row twice; where there are no locks, nobody is refused."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another run is writing the file", where=str(path), todo="wait for it, or give another --out"
        ) from None
    except OSError as error:
        # Some network disks have no locks.
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise


def _differing(made: Any, now: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is asked for now and what a line has in its place, where they would not give the same; None where they do.

    Versions may differ: each line says its own.
    """
    if not isinstance(made, dict):
        return "a line that says how it was made", "none"
    then, asked = _flat(made), _flat(now)
    for name in dict.fromkeys([*asked, *then]):
        if then.get(name) != asked.get(name):
            return f"{name} {asked.get(name)}", f"{name} {then.get(name)}"
    return None


def _flat(made: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in made.items():
        if isinstance(value, dict):
            flat |= {} if name == "versions" else _flat(value, f"{before}{name} ")
        elif name not in _FREE:
            flat[f"{before}{name}"] = value
    return flat
