"""What the verbs print: tables and lines on standard output, progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome

_LOG_SECONDS = 5.0


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


def outcome_table(outcomes: Iterable[Outcome]) -> Table:
    counts = Counter(outcomes)
    made = table(None, "outcome", "images", "meaning", right=("images",))
    for outcome in Outcome:
        if counts[outcome]:
            made.add_row(outcome.value, f"{counts[outcome]:,}", outcome.meaning)
    return made


def watched(total: int, attempts: Iterator[Observation], *, quiet: bool) -> list[Observation]:
    """Run through attempts with a bar on a terminal, a line every few seconds elsewhere."""
    if quiet or total == 0:
        return list(attempts)
    if sys.stderr.isatty():
        return _with_bar(total, attempts)
    return _with_lines(total, attempts)


def _with_bar(total: int, attempts: Iterator[Observation]) -> list[Observation]:
    seen: list[Observation] = []
    images: set[str] = set()
    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("images", total=total)
        for attempt in attempts:
            seen.append(attempt)
            images.add(attempt.image_id)
            progress.update(task, completed=len(images))
    return seen


def _with_lines(total: int, attempts: Iterator[Observation]) -> list[Observation]:
    seen: list[Observation] = []
    images: set[str] = set()
    last = time.monotonic()
    for attempt in attempts:
        seen.append(attempt)
        images.add(attempt.image_id)
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"{len(images):,} of {total:,} images\n")
    return seen
