"""Questions: rows of benchmarks that ask about pictures (HAERAE-Vision, KOFFVQA)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """One row of one config; the fields are those of `question.schema.json`.

    `images` are image ids, in order; `record` holds the fields of the benchmark's record but for its pictures.
    """

    id: str
    split: str
    images: tuple[str, ...]
    record: Mapping[str, Any]

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Question:
        """From a row that its JSON Schema accepts."""
        return cls(row["id"], row["split"], tuple(row["images"]), row["record"])

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "split": self.split, "images": list(self.images), "record": dict(self.record)}

    @property
    def shown(self) -> tuple[str, ...]:
        """Image ids of the pictures that a model sees, in order."""
        return self.images

    @property
    def image_ids(self) -> tuple[str, ...]:
        """Image ids of its pictures, each once."""
        return tuple(dict.fromkeys(self.images))

    @property
    def described(self) -> str | None:
        """No picture apart from those it shows."""
        return None
