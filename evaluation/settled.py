"""A run's progress, and what of it is settled: answers at once, refusals only from a model that answers anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hannun.evaluation.reply import Done, Key, Refused, Unreached
from hannun.schemas.errors import InputError

_REFUSED_AT_FIRST = 5
"""So many refusals before any answer mean that the whole run is refused."""

_MOST_UNREACHED = 5
"""So many in a row, or twice a batch, that cannot be reached mean that nothing can."""


@dataclass
class Progress:
    """What a run has to do, and what has come of it so far.

    `lines` are those that were there before; `why` is what kept the last one that could not be reached.
    """

    total: int
    lines: int
    answered: int = 0
    refused: int = 0
    seconds: float = 0.0
    why: str | None = None

    @property
    def open(self) -> int:
        """What has no line yet."""
        return self.total - self.answered - self.refused


def settled(
    came: Iterable[Done[Key, Any]], progress: Progress, *, model: str, batch_size: int
) -> Iterator[Done[Key, Any]]:
    """What has come and will not change, counted; ends early where nothing can be reached any more.

    Raises
    ------
    InputError
        The model refuses everything, as it does where the settings are wrong.
    """
    held_back: list[Done[Key, Any]] = []
    unreached = 0
    for done in came:
        if isinstance(done.value, Unreached):
            progress.why = done.value.why
            unreached += 1
            if unreached >= max(_MOST_UNREACHED, 2 * batch_size):
                return
            continue
        unreached = 0
        if isinstance(done.value, Refused):
            held_back.append(done)
        else:
            progress.answered += 1
            progress.seconds += done.seconds
            yield done
        if not progress.lines + progress.answered:
            if len(held_back) >= min(_REFUSED_AT_FIRST, progress.open):
                raise InputError(
                    "the model refuses everything so far; nothing was written", where=model, got=done.value.why,
                    todo="mend what it says, and run again",
                )  # fmt: skip
            continue
        for refused in held_back:
            progress.refused += 1
            yield refused
        held_back.clear()
