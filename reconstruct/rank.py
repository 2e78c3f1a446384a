"""Choice by rank: the same everywhere, and one vanished picture moves one place.

A rank is xxh3_128 over the UTF-8 bytes of seed, role, item and picture, joined by U+001F. `item` is an
instance's id without its config and `picture` an image id without its style, so that the wordings of
an item and the two picture styles share candidates, order and gold place.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import xxhash

_SEPARATOR = "\x1f"


def rank(seed: int, role: str, item: str, picture: str) -> int:
    """A number of 128 bits that depends on nothing but its arguments."""
    key = _SEPARATOR.join((str(seed), role, item, picture))
    return xxhash.xxh3_128_intdigest(key.encode("utf-8"))


def ranked(seed: int, role: str, item: str, pictures: Iterable[str], first: int | None = None) -> list[str]:
    """The distinct pictures in rank order, ties by picture; only the `first` so many, where that is given."""
    # A rank's digits as bytes compare as the number does, and the beginning of the key is made only once.
    start = _SEPARATOR.join((str(seed), role, item, "")).encode("utf-8")
    digest = xxhash.xxh3_128_digest
    pairs = [(digest(start + picture.encode("utf-8")), picture) for picture in set(pictures)]
    chosen = sorted(pairs) if first is None else heapq.nsmallest(first, pairs)
    return [picture for _, picture in chosen]
