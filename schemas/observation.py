"""Observations: one line for every attempt to get an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hannun.schemas.outcome import Outcome, best


@dataclass(frozen=True)
class Observation:
    """One attempt: where, what came of it, and what the bytes were (fields of `observed.schema.json`)."""

    image_id: str
    location: str
    outcome: Outcome
    time: str
    status: int | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    bytes: int | None = None
    width: int | None = None
    height: int | None = None
    format: str | None = None
    pixels: Mapping[str, str] | None = None
    likeness: Mapping[str, str] | None = None
    note: str | None = None

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Observation:
        return cls(**{**row, "outcome": Outcome(row["outcome"])})

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "outcome": self.outcome.value}


def by_image(observations: Iterable[Observation]) -> dict[str, list[Observation]]:
    """Image id -> its observations, in the order given."""
    grouped: dict[str, list[Observation]] = {}
    for each in observations:
        grouped.setdefault(each.image_id, []).append(each)
    return grouped


def best_observation(observations: list[Observation]) -> Observation | None:
    """The attempt that says what became of the image: the best outcome, the latest of equals."""
    if not observations:
        return None
    outcome = best([each.outcome for each in observations])
    return next(each for each in reversed(observations) if each.outcome is outcome)
