"""Placeholders: what a host sends in place of pictures that it does not have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hannun.reconstruct.location import read
from hannun.schemas.digest import IDENTITY
from hannun.schemas.observation import Observation

MIN_ADDRESSES = 5
"""Different addresses of one host from which one and the same picture is a placeholder."""


def placeholders(observations: Iterable[Observation]) -> set[str]:
    """Image ids that got a placeholder: one picture for many addresses of a host, or a single pixel.

    Parameters
    ----------
    observations
        The attempt that counts of each image that no digest vouches for (`unverified`); read once. The address must
        be the one that was asked: what says `store` is judged by its size alone.
    """
    found: set[str] = set()
    given: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for each in observations:
        if (each.width, each.height) == (1, 1):
            found.add(each.image_id)
        # A table, an archive or a user's folder may well hold a picture several times.
        if each.location.lower().startswith(("https://", "http://")):
            for picture in _pictures(each):
                given[read(each.location).host, picture].append((each.location, each.image_id))
    for got in given.values():
        if len({address for address, _ in got}) >= MIN_ADDRESSES:
            found.update(image_id for _, image_id in got)
    return found


def _pictures(seen: Observation) -> Iterator[str]:
    """What tells the picture: its bytes, and its pixels, which stay where a host varies the bytes."""
    if IDENTITY in seen.digests:
        yield seen.digests[IDENTITY]
    if seen.pixels is not None:
        yield f"pixels {seen.pixels['sha256']}"
