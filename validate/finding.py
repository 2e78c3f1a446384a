"""Findings: one thing that a check has to say, under a code that stays."""

from __future__ import annotations

from dataclasses import dataclass

import xxhash
from hannun.validate.rule import RULES, Rule


@dataclass(frozen=True)
class Place:
    """Where: file, config and split, row counted from 0, the row's id, and the field."""

    file: str
    config: str | None = None
    split: str | None = None
    row: int | None = None
    row_id: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.row is not None:
            parts.append(f"row {self.row}")
        if self.row_id is not None:
            parts.append(f"id {self.row_id}")
        if self.field is not None:
            parts.append(self.field)
        return ", ".join(parts)


@dataclass(frozen=True)
class Finding:
    """A breach of a rule at a place."""

    rule: Rule
    place: Place
    message: str
    expected: str | None = None
    found: str | None = None

    @property
    def fingerprint(self) -> str:
        """What tells it from other findings, whatever the order of rows and the words: code and place.

        A row with an id is known by it, others by their number.
        """
        place = self.place
        row = place.row if place.row_id is None else None
        named = (self.rule.code, place.file, place.config, place.split, row, place.row_id, place.field)
        joined = "\x1f".join("" if each is None else str(each) for each in named)
        # A file's name may be no Unicode.
        return xxhash.xxh3_128_hexdigest(joined.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Unchecked:
    """Something that could not be checked: never a pass."""

    what: str
    why: str


def finding(name: str, place: Place, message: str, *, expected: str | None = None, found: str | None = None) -> Finding:
    """A finding under the rule of that name."""
    return Finding(RULES[name], place, message, expected, found)
