"""The survey before a run: which images of a plan are there, and which have to be worked on.

It reads lock and observations line by line and remembers places, not records, so that a plan of any
size fits; a host's images are read again when it is their turn.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hannun.reconstruct.fetch import host_of
from hannun.reconstruct.plan_folder import PlanFolder, lock_entries_at, lock_lines
from hannun.reconstruct.store import Store
from hannun.schemas.digest import IDENTITY, agree
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Again, Outcome

_RANK = {outcome.value: place for place, outcome in enumerate(Outcome)}


class Known(NamedTuple):
    """What observations say of an image: its best outcome, and the bytes that gave it."""

    outcome: Outcome
    digests: Mapping[str, str]
    bytes: int | None
    format: str | None


class Shard(NamedTuple):
    """Part `number` (from 1) of `of`."""

    number: int
    of: int


@dataclass(frozen=True)
class Survey:
    """A plan's images before a run: outcomes so far, by host too, and by host where the open ones stand in the lock."""

    outcomes: Counter[tuple[str, Outcome]]
    known: Mapping[str, Known]
    places: Mapping[str, array[int]]
    lock: Path

    @property
    def open(self) -> int:
        """Number of images to work on."""
        return sum(map(len, self.places.values()))

    def work(self) -> dict[str, Iterator[LockEntry]]:
        """Host -> its open images, read from the lock one by one."""
        return {host: lock_entries_at(self.lock, offsets) for host, offsets in self.places.items()}


def survey(
    plan: PlanFolder,
    store: Store,
    *,
    fast: bool = False,
    retry: bool = False,
    limit: int | None = None,
    shard: Shard | None = None,
) -> Survey:
    """Look at every image of a plan.

    Parameters
    ----------
    fast
        Trust stored files of the right size without hashing them again.
    retry
        Ask again also where asking the same address cannot change the outcome.
    limit
        Most images to work on.
    shard
        Only the hosts that fall to this part of the work.
    """
    known = known_images(plan.observed_rows())
    mine = _hosts_of(plan.lock_path, shard)
    outcomes: Counter[tuple[str, Outcome]] = Counter()
    places: dict[str, array[int]] = defaultdict(lambda: array("Q"))
    found = 0
    for offset, entry in lock_lines(plan.lock_path):
        host = host_of(entry)
        if mine is not None and host not in mine:
            continue
        seen = known.get(entry.image_id)
        outcomes[host, seen.outcome if seen else Outcome.PENDING] += 1
        if (limit is None or found < limit) and must_work_on(entry, seen, store, fast=fast, retry=retry):
            places[host].append(offset)
            found += 1
    return Survey(outcomes, known, places, plan.lock_path)


def known_images(rows: Iterable[Mapping[str, Any]]) -> dict[str, Known]:
    """Image id -> its best observation, the latest of equals, from rows of `observed.jsonl`."""
    known: dict[str, Known] = {}
    for row in rows:
        seen = known.get(row["image_id"])
        if seen is None or _RANK[row["outcome"]] <= _RANK[seen.outcome]:
            known[row["image_id"]] = Known(Outcome(row["outcome"]), row["digests"], row["bytes"], row["format"])
    return known


def must_work_on(
    entry: LockEntry, seen: Known | None, store: Store, *, fast: bool = False, retry: bool = False
) -> bool:
    """Whether an image is not in the store whole, and may still come."""
    if seen is None:
        return True
    if seen.outcome.again is Again.DONE:
        return not _is_there(entry, seen, store, fast=fast)
    return retry or seen.outcome.again is not Again.NO


def shards(counts: Mapping[str, int], of: int) -> dict[str, int]:
    """Host -> number of the part (from 1) that it falls to; the same for every worker of one plan.

    A host is never cut in two: how it is treated stays with one worker. The largest go first, each to
    the part that has least so far.
    """
    loads = [0] * of
    parts = {}
    for host in sorted(counts, key=lambda host: (-counts[host], host)):
        part = loads.index(min(loads))
        loads[part] += counts[host]
        parts[host] = part + 1
    return parts


def _hosts_of(lock: Path, shard: Shard | None) -> set[str] | None:
    if shard is None:
        return None
    counts = Counter(host_of(entry) for _, entry in lock_lines(lock))
    return {host for host, part in shards(counts, shard.of).items() if part == shard.number}


def _is_there(entry: LockEntry, seen: Known, store: Store, *, fast: bool) -> bool:
    sha256 = seen.digests.get(IDENTITY)
    if sha256 is None or (seen.outcome is Outcome.EXACT and agree(entry.digests, seen.digests) is False):
        return False
    return store.holds(sha256, seen.format, seen.bytes, fast=fast)
