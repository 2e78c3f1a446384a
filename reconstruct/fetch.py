"""Fetch: the images of a plan into the store, each compared with the lock as it comes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hannun.reconstruct.compare import compare, needs_decoding
from hannun.reconstruct.decide import decide
from hannun.reconstruct.ledger import Ledger, LedgerLine
from hannun.reconstruct.location import Local, Location, Web, local_names, read
from hannun.reconstruct.opener import Opener
from hannun.reconstruct.picture import PictureFacts, examine, header
from hannun.reconstruct.store import Received, Store, TooLarge
from hannun.reconstruct.transfer import Failed, Reach, Transfer
from hannun.schemas.digest import IDENTITY, agree, digests_of_file
from hannun.schemas.instant import now
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation, best_observation
from hannun.schemas.outcome import Again, Outcome, is_accepted
from hannun.schemas.text_file import find_file

# What decodes or is exact is kept, so that a report can show what came in place of the expected picture.
_KEPT = frozenset({*(each for each in Outcome if each.again is Again.DONE), Outcome.CHANGED, Outcome.DIFFERENT})


@dataclass(frozen=True)
class Settings:
    """How to fetch. `local` maps an image id's namespace to a folder of the user."""

    reach: Reach = field(default_factory=Reach)
    local: Mapping[str, Path] = field(default_factory=dict)
    fast: bool = False
    sleep: Callable[[float], None] = time.sleep


def todo(
    lock: list[LockEntry],
    observed: Mapping[str, list[Observation]],
    store: Store,
    *,
    fast: bool = False,
    retry: bool = False,
) -> list[LockEntry]:
    """Images that a run has to work on: what is not in the store whole, and may still come.

    `fast` trusts stored files without hashing them again; `retry` asks again also where asking the same
    address cannot change the outcome.
    """
    open_entries = []
    for entry in lock:
        seen = best_observation(observed.get(entry.image_id, []))
        if seen is None:
            open_entries.append(entry)
        elif seen.outcome.again is Again.DONE:
            if not _is_there(entry, seen, store, fast=fast):
                open_entries.append(entry)
        elif retry or seen.outcome.again is not Again.NO:
            open_entries.append(entry)
    return open_entries


def _is_there(entry: LockEntry, seen: Observation, store: Store, *, fast: bool) -> bool:
    sha256 = seen.digests.get(IDENTITY)
    if sha256 is None or (seen.outcome is Outcome.EXACT and agree(entry.digests, seen.digests) is False):
        return False
    path = store.path(sha256, seen.format)
    return store.is_intact(path, fast=fast) and seen.bytes in (None, path.stat().st_size)


def fetch(lock: list[LockEntry], store: Store, ledger: Ledger, settings: Settings) -> Iterator[Observation]:
    """Get images one by one; yields every attempt as it ends.

    An image's locations are tried in order, the user's own folders first, until one gives the locked
    bytes, or an acceptable picture where the lock holds no digest.
    """
    given = {line.location: line for line in ledger.latest().values()}
    with Opener(settings.reach) as opener:
        worker = _Worker(opener, store, ledger, settings)
        for entry in lock:
            reused = _from_store(entry, store, given)
            if reused is not None:
                yield reused
                continue
            for location in _locations(entry, settings.local):
                attempt = worker.attempt(entry, location)
                yield attempt
                if is_accepted(attempt.outcome):
                    break


@dataclass(frozen=True)
class _Worker:
    """Tries one location until the decision is final."""

    opener: Opener
    store: Store
    ledger: Ledger
    settings: Settings

    def attempt(self, entry: LockEntry, location: Location) -> Observation:
        tries = 1
        while True:
            try:
                return self._receive(entry, location)
            except Failed as failure:
                # random only spreads waiting times; it never reaches what is chosen or written.
                jitter = random.random()  # noqa: S311
                decision = decide(failure.outcome, tries, failure.retry_after, datetime.now(UTC), jitter)
                if decision.wait is None:
                    return Observation(
                        image_id=entry.image_id,
                        location=str(location),
                        outcome=failure.outcome,
                        time=now(),
                        status=failure.status,
                        note=_joined(failure.note, decision.note),
                    )
                self.settings.sleep(decision.wait)
                tries += 1

    def _receive(self, entry: LockEntry, location: Location) -> Observation:
        limits = self.settings.reach.limits
        with self.opener.open(location) as transfer:
            try:
                with self.store.receive(transfer.pieces, max_bytes=limits.max_bytes) as received:
                    observation = self._judged(entry, location, received, transfer)
                    if observation.outcome in _KEPT:
                        self.store.keep(received, observation.format)
                        self._record(location, observation, transfer)
                    return observation
            except TooLarge:
                raise Failed(Outcome.TOO_LARGE, f"over {limits.max_bytes} bytes", status=transfer.status) from None

    def _judged(self, entry: LockEntry, location: Location, received: Received, transfer: Transfer) -> Observation:
        picture = None
        if needs_decoding(entry, received.digests):
            picture = examine(received.path, max_pixels=self.settings.reach.limits.max_pixels)
        outcome, why = compare(entry, received.digests, picture)
        facts = picture if isinstance(picture, PictureFacts) else header(received.path)
        return Observation(
            image_id=entry.image_id,
            location=str(location),
            outcome=outcome,
            time=now(),
            status=transfer.status,
            digests=received.digests,
            bytes=received.bytes,
            note=_joined(why, transfer.note),
            **_facts(facts),
        )

    def _record(self, location: Location, observation: Observation, transfer: Transfer) -> None:
        if isinstance(location, Web):
            self.ledger.append(
                LedgerLine(
                    location=str(location),
                    sha256=observation.digests[IDENTITY],
                    bytes=observation.bytes or 0,
                    format=observation.format,
                    etag=transfer.etag,
                    time=observation.time,
                )
            )


def _locations(entry: LockEntry, local: Mapping[str, Path]) -> Iterator[Location]:
    namespace = entry.image_id.partition(":")[0]
    if namespace in local:
        for name in local_names(entry.image_id, entry.locations):
            found = find_file(local[namespace], name)
            if found is not None:
                yield Local(namespace, found[0])
                break
    yield from map(read, entry.locations)


def _from_store(entry: LockEntry, store: Store, given: Mapping[str, LedgerLine]) -> Observation | None:
    """An image that another plan already brought: by its locked digest, or by what its address gave."""
    sha256 = entry.digests.get(IDENTITY)
    if not entry.digests and entry.pixels is None:
        line = next((given[each] for each in entry.locations if each in given), None)
        sha256 = line.sha256 if line else None
    path = store.find(sha256) if sha256 else None
    if sha256 is None or path is None or not store.is_intact(path):
        return None
    return Observation(
        image_id=entry.image_id,
        location="store",
        outcome=Outcome.EXACT if entry.digests else Outcome.UNVERIFIED,
        time=now(),
        digests=digests_of_file(path),
        bytes=path.stat().st_size,
        note="already in the store",
        **_facts(header(path)),
    )


def _facts(picture: PictureFacts | None) -> dict[str, Any]:
    return dict(picture.__dict__) if picture else {}


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None
