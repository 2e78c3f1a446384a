"""One comparison of what was got with what the lock says; `fetch`, `verify` and `validate` use it."""

from __future__ import annotations

from collections.abc import Mapping

from hannun.reconstruct.picture import PictureFacts, PictureProblem
from hannun.schemas.digest import agree
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome


def needs_decoding(expected: LockEntry, digests: Mapping[str, str]) -> bool:
    """Whether the digests leave the outcome open, so that the picture must be decoded."""
    return agree(expected.digests, digests) is not True


def compare(
    expected: LockEntry, digests: Mapping[str, str], picture: PictureFacts | PictureProblem | None
) -> tuple[Outcome, str | None]:
    """The outcome of a complete transfer, and a note.

    Parameters
    ----------
    expected
        What the lock says.
    digests
        Of the bytes that came, algorithm -> hex.
    picture
        The decoded facts, or why decoding fails; may be None only where `needs_decoding` is False.
    """
    agreed = agree(expected.digests, digests)
    if agreed:
        # The digest decides first, even if the picture itself is cut.
        return Outcome.EXACT, None
    if picture is None:
        raise ValueError("digests do not settle it: decode the picture first")
    if isinstance(picture, PictureProblem):
        return picture.outcome, picture.note
    if expected.pixels is not None and picture.pixels is not None:
        if expected.pixels["sha256"] == picture.pixels["sha256"]:
            return Outcome.SAME_PIXELS, None
        if expected.pixels["decoder"] == picture.pixels["decoder"]:
            return Outcome.DIFFERENT, _size_note(expected, picture)
        # Decoders round differently; unequal pixels from another one prove nothing.
        return Outcome.CHANGED, f"pixels differ, but were recorded with {expected.pixels['decoder']}"
    if agreed is None:
        return Outcome.UNVERIFIED, None
    return Outcome.CHANGED, _size_note(expected, picture)


def _size_note(expected: LockEntry, picture: PictureFacts) -> str | None:
    if expected.width and expected.height and (expected.width, expected.height) != (picture.width, picture.height):
        return f"{expected.width} x {expected.height} expected, {picture.width} x {picture.height} got"
    return None
