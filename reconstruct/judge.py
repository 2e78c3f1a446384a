"""The judge: what came, compared with the lock, as an observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hannun.reconstruct.archives.drive_page import drive_page
from hannun.reconstruct.compare import compare
from hannun.reconstruct.job import Job
from hannun.reconstruct.location import Location
from hannun.reconstruct.picture import PictureFacts, PictureProblem, examine, format_of
from hannun.reconstruct.reply import Reply
from hannun.reconstruct.store import Received, Store
from hannun.schemas.digest import IDENTITY, digests_of_file
from hannun.schemas.instant import now
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome

Examined = PictureFacts | PictureProblem

_PAGE = 1 << 16
"""Bytes of an HTML page that are looked at."""

# Media types that do not bear the format's own name.
_SUBTYPES = {"jpeg": "jpg", "mpo": "jpeg", "tiff": "tif", "ico": "vnd.microsoft.icon", "bmp": "x-ms-bmp"}


_UNEXAMINED = PictureFacts(width=0, height=0, format="", pixels=None)


def decoded(received: Received, max_pixels: int, *, any_file: bool = False) -> Examined:
    """What came, decoded in full: where no digest decides; not where any file is taken."""
    if any_file:
        return _UNEXAMINED
    return examine(received.path, max_pixels=max_pixels, likeness=True)


def judged(
    entry: LockEntry, location: Location, received: Received, picture: Examined | None, *, status: int | None = None
) -> Observation:
    """The observation of a whole transfer; `picture` may be None where the digest decides."""
    outcome, note = compare(entry, received.digests, picture)
    if outcome is Outcome.NOT_AN_IMAGE:
        with received.path.open("rb") as stream:
            explained = drive_page(stream.read(_PAGE))
        if explained is not None:
            outcome, note = Outcome.NEEDS_PERSON, str(explained)
    facts: dict[str, Any] = {"format": None}
    if isinstance(picture, PictureFacts):
        facts = dict(picture.__dict__)
    elif outcome is Outcome.EXACT:
        facts = {"format": format_of(received.path)}
    return Observation(
        image_id=entry.image_id,
        location=str(location),
        outcome=outcome,
        time=now(),
        status=status,
        digests=received.digests,
        bytes=received.bytes,
        note=note,
        **facts,
    )


def failed(
    entry: LockEntry, location: Location, outcome: Outcome, note: str | None, *, status: int | None = None
) -> Observation:
    """The observation of an attempt that brought no whole file."""
    return Observation(entry.image_id, str(location), outcome, now(), status=status, note=note)


def reused(entry: LockEntry, sha256: str | None, store: Store) -> Observation | None:
    """The observation of a file that the store holds already; None when it does not, or not whole."""
    path = store.find(sha256) if sha256 else None
    if path is None or not store.is_intact(path):
        return None
    return Observation(
        image_id=entry.image_id,
        location="store",
        outcome=Outcome.EXACT if entry.digests else Outcome.UNVERIFIED,
        time=now(),
        digests={**digests_of_file(path), IDENTITY: path.stem},
        bytes=path.stat().st_size,
        format=format_of(path),
        note="already in the store",
    )


def with_notes(observation: Observation, job: Job, reply: Reply) -> Observation:
    """The observation with what is worth knowing beside the bytes, which decide."""
    return replace(observation, note=joined(observation.note, *_notes(observation, job, reply)))


def joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _notes(observation: Observation, job: Job, reply: Reply) -> Iterator[str]:
    kind = (reply.content_type or "").partition(";")[0].strip().lower()
    known = (observation.format or "").lower()
    if (
        kind
        and (known or not kind.startswith("image/"))
        and kind not in (f"image/{known}", f"image/{_SUBTYPES.get(known, known)}")
    ):
        yield f"sent as {kind[:60]}"
    if reply.content_encoding:
        yield f"sent in {reply.content_encoding[:30]}, unpacked"
    if job.hops:
        yield f"at {job.asked}"
