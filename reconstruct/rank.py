"""Choice by rank: the same everywhere, and one vanished picture moves one place.

A rank is xxh3_128 over the UTF-8 bytes of seed, role, item and picture, joined by U+001F. `item` is an
instance's id without its config and `picture` an image id without its style, so that the wordings of
an item and the two picture styles share candidates, order and gold place.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import xxhash

_SEPARATOR = "\x1f"


def rank(seed: int, role: str, item: str, picture: str) -> int:
    """A number of 128 bits that depends on nothing but its arguments."""
    key = _SEPARATOR.join((str(seed), role, item, picture))
    return xxhash.xxh3_128_intdigest(key.encode("utf-8"))


def ranked(seed: int, role: str, item: str, pictures: Iterable[str]) -> list[str]:
    """The distinct pictures in rank order, ties by picture."""
    return [picture for _, picture in sorted(_pairs(seed, role, item, set(pictures)))]


def first_ranked(seed: int, role: str, item: str, pictures: Iterable[str], count: int) -> list[str]:
    """The first `count` in rank order of pictures that come once each; of any number, no more than these are held."""
    return [picture for _, picture in heapq.nsmallest(count, _pairs(seed, role, item, pictures))]


def _pairs(seed: int, role: str, item: str, pictures: Iterable[str]) -> Iterator[tuple[bytes, str]]:
    """Each picture behind its rank, whose digits as bytes compare as the number does."""
    start = _SEPARATOR.join((str(seed), role, item, ""))
    digest = xxhash.xxh3_128_digest
    return ((digest((start + picture).encode("utf-8")), picture) for picture in pictures)
