"""The recorder: observations are written down when the bytes that they speak of are on the disk.

Flushing every file by itself costs more than fetching it over a fast line. So the store is flushed as a
whole every few seconds, beside the work, and only then are the lines written that vouch for its files.
What a kill leaves without a line is found again by its name and hashed before it is trusted.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from hannun.reconstruct.journal import Journal
from hannun.reconstruct.store import Store

SECONDS = 2.0
"""Between flushes, at least."""


class Recorder:
    """Appends rows to a journal in their order, each after the store was flushed."""

    def __init__(self, journal: Journal, store: Store) -> None:
        self._journal = journal
        self._store = store
        self._hand = ThreadPoolExecutor(1)
        self._rows: list[dict[str, Any]] = []
        self._flushed = time.monotonic()
        self._running: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write_down()
            if self._running is not None:
                self._running.result()
        finally:
            self._hand.shutdown(wait=True)
            self._journal.close()

    def append(self, row: dict[str, Any]) -> None:
        """Take a row; raises what went wrong while earlier ones were written."""
        self._rows.append(row)
        if time.monotonic() - self._flushed >= SECONDS and (self._running is None or self._running.done()):
            self._write_down()

    def _write_down(self) -> None:
        if self._running is not None:
            self._running.result()
        rows, self._rows = self._rows, []
        self._flushed = time.monotonic()
        self._running = self._hand.submit(self._flush_and_write, rows)

    def _flush_and_write(self, rows: list[dict[str, Any]]) -> None:
        self._store.flush()
        self._journal.extend(rows)
