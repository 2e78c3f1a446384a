"""What a model is asked, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from hannun.evaluation.sampling import Sampling


@dataclass(frozen=True)
class Turn:
    """One thing a model is asked: pictures, as the bytes of their files, and the text after them."""

    text: str
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Reply:
    """A model's text, as it came.

    `cut` says whether it ended at the most tokens allowed; `server` what an endpoint calls the model that answered.
    """

    text: str
    cut: bool = False
    server: str | None = None


@dataclass(frozen=True)
class Refused:
    """No text, and asking again would not help."""

    why: str


@dataclass(frozen=True)
class Unreached:
    """No text; asking again later may help."""

    why: str


AnyReply = Reply | Refused | Unreached

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Done(Generic[Key, Value]):
    """What came of one of many, and the seconds that it took; of one done in a batch, its even share."""

    key: Key
    value: Value
    seconds: float


class Answerer(Protocol):
    """What answers texts about pictures: a model of this machine, or an endpoint."""

    def answers(self, turns: Iterable[tuple[Key, Turn]], sampling: Sampling) -> Iterator[Done[Key, AnyReply]]:
        """What comes of each turn, as it comes; turns are taken as they are needed."""
