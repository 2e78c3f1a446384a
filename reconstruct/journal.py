"""Append-only JSON lines, safe against kills: what is read is every whole line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import dumps, loads

_CHUNK = 1 << 16


class Journal:
    """Appends one JSON line at a time; each line is handed to the system before `append` returns.

    Parameters
    ----------
    cut_torn
        What is done about a line that a kill has torn: cut off, in a file for other readers, or marked, where another
        process may be writing it.
    """

    def __init__(self, path: Path, *, cut_torn: bool = False) -> None:
        self._path, self._cut_torn = path, cut_torn
        self._stream: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def extend(self, rows: Iterable[dict[str, Any]]) -> None:
        """Append each of them."""
        for row in rows:
            self.append(row)

    def append(self, row: dict[str, Any]) -> None:
        if self._stream is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            (_cut_torn_line if self._cut_torn else _end_torn_line)(self._path)
            # Unbuffered: one write call a line, so that lines of two processes do not mix.
            self._stream = self._path.open("ab", buffering=0)
        self._stream.write((dumps(row) + "\n").encode("utf-8"))


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line. A broken line is skipped when it is the last one, or was ended by a later run.

    Raises
    ------
    InputError
        A line in the middle that is not a JSON object and was not left by a kill.
    """
    if not path.exists():
        return
    with path.open("rb") as stream:
        for number, piece in enumerate(stream, 1):
            # Without its LF it is the last line, cut by a kill.
            if not piece.endswith(b"\n") or piece.endswith(_TORN + b"\n") or not piece.strip():
                continue
            where = f"{path}, line {number}"
            try:
                row = loads(piece.decode("utf-8"), where)
            except UnicodeDecodeError:
                raise InputError("not UTF-8", where=where) from None
            if not isinstance(row, dict):
                raise InputError("not a JSON object", where=where)
            yield row


# Put after a torn line before the next append, so that a reader can tell it from damage.
_TORN = b"\x18"


def _end_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("r+b") as stream:
        stream.seek(0, 2)
        if stream.tell() == 0:
            return
        stream.seek(-1, 2)
        if stream.read(1) != b"\n":
            stream.write(_TORN + b"\n")


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("r+b") as stream:
        whole = stream.seek(0, 2)
        while whole:
            start = max(0, whole - _CHUNK)
            stream.seek(start)
            at = stream.read(whole - start).rfind(b"\n")
            if at >= 0:
                whole = start + at + 1
                break
            whole = start
        stream.truncate(whole)
