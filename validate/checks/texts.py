"""Checks of texts: what makes equal-looking texts compare unequal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from hannun.schemas.text import ODDITY_MEANINGS, compare_texts, is_ordinary, oddities
from hannun.validate.finding import Finding, finding
from hannun.validate.reader import Row


def check_texts(row: Row) -> Iterator[Finding]:
    """Oddities of every text in a row, and texts of one row that look equal but are not."""
    for field, text in _texts(row.values):
        for oddity, position in oddities(text):
            shown = f"U+{ord(text[position]):04X} at character {position}" if position < len(text) else None
            yield finding(oddity.value, row.at(field), ODDITY_MEANINGS[oddity], found=shown)
    plain = [(name, value) for name, value in row.values.items() if isinstance(value, str)]
    stripped = {name: value.strip() for name, value in plain if is_ordinary(value)}
    for (name, one), (other_name, other) in combinations(plain, 2):
        if one == other or (name in stripped and other_name in stripped and stripped[name] != stripped[other_name]):
            continue
        if one.isascii() and other.isascii():
            continue
        comparison = compare_texts(one, other)
        if comparison.look_alike:
            verdict = "the same" if comparison.same else "not"
            yield finding(
                "same-text",
                row.at(f"{name} and {other_name}"),
                f"{name} and {other_name} look equal and are {verdict}: {comparison.why}",
            )


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{place}]")
