"""Verify: what the store holds now, compared with the lock again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hannun.reconstruct.compare import compare, needs_decoding
from hannun.reconstruct.picture import PictureFacts, PictureProblem, examine
from hannun.reconstruct.store import Store
from hannun.schemas.digest import FAST, IDENTITY, digests_of_file
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.observation import Observation, best_observation
from hannun.schemas.outcome import Again, Outcome


@dataclass(frozen=True)
class Verified:
    """The state of one image: its outcome now, and what is wrong with the stored file, if anything."""

    image_id: str
    outcome: Outcome
    problem: str | None
    expected: str | None = None
    got: str | None = None


def verify(entry: LockEntry, observations: list[Observation], store: Store, *, fast: bool = False) -> Verified:
    """Re-check one image of a plan.

    Parameters
    ----------
    fast
        Compare sizes and xxh3_128 where it is known, instead of sha256.
    """
    seen = best_observation(observations)
    if seen is None:
        return Verified(entry.image_id, Outcome.PENDING, None)
    if seen.outcome.again is not Again.DONE:
        return Verified(entry.image_id, seen.outcome, None)
    sha256 = seen.digests.get(IDENTITY)
    if sha256 is None:
        return Verified(entry.image_id, Outcome.PENDING, "the observation names no digest")
    path = store.path(sha256, seen.format)
    if not path.is_file():
        return Verified(
            entry.image_id,
            Outcome.PENDING,
            "the file is gone from the store",
            expected=f"{IDENTITY}:{sha256}",
            got="no file",
        )
    size = path.stat().st_size
    if seen.bytes is not None and size != seen.bytes:
        return Verified(
            entry.image_id,
            Outcome.PENDING,
            "the stored file has another size",
            expected=f"{seen.bytes} bytes",
            got=f"{size} bytes",
        )
    algorithm = FAST if fast and FAST in seen.digests else IDENTITY
    now = digests_of_file(path, [algorithm])[algorithm]
    if now != seen.digests[algorithm]:
        return Verified(
            entry.image_id,
            Outcome.PENDING,
            "the stored file was changed",
            expected=f"{algorithm}:{seen.digests[algorithm]}",
            got=f"{algorithm}:{now}",
        )
    outcome = seen.outcome
    if needs_decoding(entry, seen.digests) and (not fast or outcome is Outcome.EXACT):
        outcome, _ = compare(entry, seen.digests, examine(path, likeness=entry.likeness is not None))
    return Verified(entry.image_id, outcome, None)


def completed(
    entry: LockEntry,
    observations: list[Observation],
    store: Store,
    *,
    accepted: frozenset[Outcome],
    overwrite: bool = False,
) -> LockEntry:
    """The lock entry with its nulls filled from what was observed and is in the store.

    Parameters
    ----------
    accepted
        Outcomes whose bytes may complete the entry.
    overwrite
        Take what was observed also where the entry says something else.
    """
    seen = best_observation(observations)
    if seen is None or IDENTITY not in seen.digests or not (overwrite or seen.outcome in accepted):
        return entry
    path = store.path(seen.digests[IDENTITY], seen.format)
    if not store.is_intact(path):
        return entry
    facts: dict[str, object] = {
        "digests": {name: value for name, value in seen.digests.items() if name in (IDENTITY, FAST)},
        "bytes": seen.bytes,
    }
    picture: PictureFacts | PictureProblem = examine(path, likeness=True)
    if isinstance(picture, PictureFacts):
        facts |= picture.__dict__
    if not overwrite and seen.outcome not in (Outcome.EXACT, Outcome.UNVERIFIED):
        # Equal pixels under other bytes: the entry's own digests and size stay what they are.
        facts = {name: value for name, value in facts.items() if name in ("pixels", "likeness")}
    return filled(entry, facts, overwrite=overwrite)


def present_images(
    observed: Mapping[str, list[Observation]], verified: Mapping[str, Verified]
) -> dict[str, Observation]:
    """Image id -> what became of it, with the outcome that verifying gave; images whose file is not whole are left out.

    Only images of `verified` count: what else was observed is not of this plan.
    """
    result = {}
    for image_id, state in verified.items():
        seen = best_observation(observed.get(image_id, []))
        if seen is not None and state.problem is None:
            result[image_id] = replace(seen, outcome=state.outcome)
    return result
