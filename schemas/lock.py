"""The image lock: every image of a plan, where it lives and what its bytes must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hannun.schemas.errors import InputError

# Facts about an image's bytes and rights that a completed lock may add to a plan's lock.
_OF_BYTES = ("bytes", "width", "height", "format", "pixels", "likeness")
FACTS = (*_OF_BYTES, "licence", "attribution")


@dataclass(frozen=True)
class LockEntry:
    """One line of `images.lock.jsonl`; unknown is None, never guessed.

    `digests` maps algorithm to hex digits of the bytes as served; `pixels` is None or
    `{"sha256": ..., "decoder": ...}`, `likeness` None or `{"phash": ..., "colour": ...}`; sizes are in bytes
    and pixels.
    """

    image_id: str
    locations: tuple[str, ...]
    digests: Mapping[str, str] = field(default_factory=dict)
    bytes: int | None = None
    width: int | None = None
    height: int | None = None
    format: str | None = None
    pixels: Mapping[str, str] | None = None
    likeness: Mapping[str, str] | None = None
    licence: Mapping[str, Any] | None = None
    attribution: str | None = None

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> LockEntry:
        """From a row that its JSON Schema accepts."""
        return cls(**{**row, "locations": tuple(row["locations"])})

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "locations": list(self.locations)}


def filled(entry: LockEntry, facts: Mapping[str, Any], *, overwrite: bool = False) -> LockEntry:
    """The entry with what it does not know taken from `facts` (fields of a lock entry).

    A value that is there stays, unless `overwrite`; digests are filled algorithm by algorithm. Overwriting forgets
    what the facts do not say of the new bytes.
    """
    known = facts.get("digests") or {}
    digests = {**entry.digests, **known} if overwrite else {**known, **entry.digests}
    changes = {
        name: facts[name]
        for name in FACTS
        if facts.get(name) is not None and (overwrite or getattr(entry, name) is None)
    }
    if overwrite:
        changes = {**dict.fromkeys(_OF_BYTES), **changes}
    return replace(entry, digests=digests, **changes)


def merged(entries: Iterable[LockEntry], shared: Mapping[str, LockEntry]) -> list[LockEntry]:
    """Plan entries completed from somebody's lock (`--lock FILE`).

    Raises
    ------
    InputError
        The two locks disagree about a digest: they do not describe the same images.
    """
    result = []
    for entry in entries:
        other = shared.get(entry.image_id)
        if other is None:
            result.append(entry)
            continue
        for algorithm, value in entry.digests.items():
            if other.digests.get(algorithm, value) != value:
                raise InputError(
                    f"the lock and the sources disagree about {entry.image_id}",
                    expected=f"{algorithm}:{value} (sources)",
                    got=f"{algorithm}:{other.digests[algorithm]} (lock)",
                    todo="use a lock made for these sources",
                )
        result.append(filled(entry, other.to_json()))
    return result
