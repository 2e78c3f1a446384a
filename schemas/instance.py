"""Instances of image-selection benchmarks: ten pictures, one right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CANDIDATES = 10
KINDS = ("gold", "hard", "near", "random", "given")
"""gold: the right one. hard: another sense of the word, or another retrieved entity. near: the same
kind of thing as the gold. random: none of these. given: a negative of the source, which does not say more."""


@dataclass(frozen=True)
class Candidate:
    image_id: str
    kind: str


@dataclass(frozen=True)
class Instance:
    """Ten pictures, one right; the fields are those of `instance.schema.json`."""

    id: str
    split: str
    context: str
    target: str
    target_span: tuple[int, int]
    candidates: tuple[Candidate, ...]
    label: int
    spares: tuple[Candidate, ...]
    source: Mapping[str, Any]

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Instance:
        """From a row that its JSON Schema accepts."""
        return cls(
            id=row["id"],
            split=row["split"],
            context=row["context"],
            target=row["target"],
            # JSON Schema calls 1.0 an integer.
            target_span=(int(row["target_span"][0]), int(row["target_span"][1])),
            candidates=tuple(Candidate(**c) for c in row["candidates"]),
            label=int(row["label"]),
            spares=tuple(Candidate(**c) for c in row["spares"]),
            source=row["source"],
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "split": self.split,
            "context": self.context,
            "target": self.target,
            "target_span": list(self.target_span),
            "candidates": [{"image_id": c.image_id, "kind": c.kind} for c in self.candidates],
            "label": self.label,
            "spares": [{"image_id": c.image_id, "kind": c.kind} for c in self.spares],
            "source": dict(self.source),
        }

    @property
    def described(self) -> str | None:
        """Image id of the picture that the context was written for, where the source says one."""
        image: str | None = self.source.get("image")
        return image

    @property
    def shown(self) -> tuple[str, ...]:
        """Image ids of the pictures that a model sees, in order."""
        return tuple(each.image_id for each in self.candidates)

    @property
    def image_ids(self) -> tuple[str, ...]:
        """Image ids of candidates, spares and the described picture, each once."""
        named = [each.image_id for each in (*self.candidates, *self.spares)]
        return tuple(dict.fromkeys([*named, *([] if self.described is None else [self.described])]))

    @property
    def gold(self) -> str:
        """Image id of the right candidate."""
        return self.candidates[self.label].image_id


def config_of(instance_id: str) -> str:
    """The config in an id `benchmark/config/item`."""
    return instance_id.split("/")[1]
