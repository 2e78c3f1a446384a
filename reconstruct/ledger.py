"""The ledger beside a store: what each address gave, and when.

One file a process, merged when read, so that no two processes write to one file.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hannun.reconstruct.journal import Journal, read_journal


@dataclass(frozen=True)
class LedgerLine:
    """At `time` (UTC, ISO 8601) the address gave content with that sha256 and format."""

    location: str
    sha256: str
    bytes: int
    format: str | None
    etag: str | None
    time: str


class Ledger:
    """What every process that used the store has recorded, and this process's own lines."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal = Journal(folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl")

    def latest(self) -> dict[str, LedgerLine]:
        """The newest line of each address."""
        newest: dict[str, LedgerLine] = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            for row in read_journal(path):
                line = LedgerLine(**row)
                known = newest.get(line.location)
                if known is None or known.time <= line.time:
                    newest[line.location] = line
        return newest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def append(self, line: LedgerLine) -> None:
        self._journal.append(line.__dict__)
