"""What the verbs print: tables and lines on standard output, progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome, is_accepted

_LOG_SECONDS = 5.0
_SCREEN_SECONDS = 0.2


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # `| head` has seen enough; the work and its exit code go on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console() -> Console:
    """Standard output: unbroken lines in a pipe; text is printed as it is, never read as markup or emoji names."""
    return _Console(
        highlight=False, markup=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200
    )


def say(text: str) -> None:
    """A line on standard output as it is, for programs."""
    console().print(text, crop=False)


def table(title: str | None, *columns: str, right: tuple[str, ...] = ()) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def outcome_table(outcomes: Mapping[Outcome, int]) -> Table:
    made = table(None, "outcome", "images", "meaning", right=("images",))
    for outcome in Outcome:
        if outcomes.get(outcome):
            made.add_row(outcome.value, f"{outcomes[outcome]:,}", outcome.meaning)
    return made


def host_table(outcomes: Mapping[tuple[str, Outcome], int]) -> Table:
    """A row for each host, a column for each outcome that occurred."""
    occurred = [outcome for outcome in Outcome if any(n for (_, each), n in outcomes.items() if each is outcome)]
    names = [outcome.value for outcome in occurred]
    made = table(None, "host", *names, right=tuple(names))
    for host in sorted({host for (host, _), n in outcomes.items() if n}):
        made.add_row(host, *(f"{outcomes.get((host, outcome), 0):,}" for outcome in occurred))
    return made


def watch(run: Any, *, quiet: bool) -> None:
    """Run through a fetch with a bar on a terminal, a line every few seconds elsewhere.

    Parameters
    ----------
    run
        `total` images and the `attempts` at them, as they end.
    """
    if quiet or run.total == 0:
        for _ in run.attempts:
            pass
    elif sys.stderr.isatty():
        _with_bar(run)
    else:
        _with_lines(run)


class _Tally:
    """What has come so far: images that ended well, bytes, and what did not come."""

    def __init__(self, total: int) -> None:
        self.total, self.came, self.bytes, self.failed = total, 0, 0, 0
        self._begun = time.monotonic()

    def add(self, attempt: Observation) -> None:
        if is_accepted(attempt.outcome):
            self.came += 1
            self.bytes += attempt.bytes or 0
        else:
            self.failed += 1

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self._begun, 1e-3)
        failed = f", {self.failed:,} attempts failed" if self.failed else ""
        rate = f"{self.came / seconds:,.0f} images/s, {self.bytes / seconds / 1e6:.1f} MB/s"
        return f"{self.came:,} of {self.total:,} images, {rate}{failed}"


def _with_bar(run: Any) -> None:
    columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    tally = _Tally(run.total)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(str(tally), total=run.total)
        for attempt in run.attempts:
            tally.add(attempt)
            progress.update(task, completed=tally.came, description=str(tally))


def _with_lines(run: Any) -> None:
    tally = _Tally(run.total)
    last = time.monotonic()
    for attempt in run.attempts:
        tally.add(attempt)
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"{tally}\n")


@contextmanager
def counting(what: str, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Something to call for each of many: a running count on a terminal, a line every few seconds elsewhere."""
    begun = last = time.monotonic()
    count = 0

    def tell() -> str:
        return f"{count:,} {what}, {count / max(time.monotonic() - begun, 1e-3):,.0f}/s"

    def one() -> None:
        nonlocal count, last
        count += 1
        now = time.monotonic()
        if now - last < (_SCREEN_SECONDS if on_screen else _LOG_SECONDS):
            return
        last = now
        sys.stderr.write(f"\r\x1b[K{tell()}" if on_screen else f"{tell()}\n")
        sys.stderr.flush()

    on_screen = sys.stderr.isatty()
    try:
        yield (lambda: None) if quiet else one
    finally:
        if on_screen and last != begun:
            sys.stderr.write("\r\x1b[K")


def licences(answer: tuple[int, int] | None) -> None:
    """What hosts said when they were asked for licences: images asked about, and known."""
    if answer and answer[0]:
        console().print(f"licence and author of {answer[1]:,} of {answer[0]:,} images, from their hosts")


def each_of(steps: Iterator[None], total: int, what: str, *, quiet: bool) -> None:
    """Take the steps of a work of known length: with a bar on a terminal, a line every few seconds elsewhere."""
    if quiet or not total:
        for _ in steps:
            pass
        return
    begun = last = time.monotonic()

    def tell(count: int) -> str:
        return f"{count:,} of {total:,} {what}, {(time.monotonic() - begun) / max(count, 1):.2f} s each"

    if sys.stderr.isatty():
        columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(tell(0), total=total)
            for count, _ in enumerate(steps, 1):
                progress.update(task, completed=count, description=tell(count))
        return
    for count, _ in enumerate(steps, 1):
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"{tell(count)}\n")
            sys.stderr.flush()
