"""One comparison of what was got with what the lock says; `fetch`, `verify` and `validate` use it."""

from __future__ import annotations

from collections.abc import Mapping

from hannun.reconstruct.likeness import INSTALL, Likeness, distance, is_available, is_similar
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
        The decoded facts, with their likeness where the lock knows one, or why decoding fails; may be None only where
        `needs_decoding` is False.
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
        if expected.likeness is None:
            return _by_pixels(expected, expected.pixels, picture, picture.pixels)
    if expected.likeness is not None and picture.likeness is not None:
        return _by_likeness(expected, Likeness(**expected.likeness), picture, Likeness(**picture.likeness))
    if agreed is None and expected.pixels is None:
        return Outcome.UNVERIFIED, None
    untold = None
    if expected.likeness is not None and not is_available():
        untold = f"whether it looks the same was not checked: {INSTALL}"
    return Outcome.CHANGED, _joined(_sizes(expected, picture), untold)


def _by_pixels(
    expected: LockEntry, locked: Mapping[str, str], picture: PictureFacts, pixels: Mapping[str, str]
) -> tuple[Outcome, str | None]:
    if locked["decoder"] == pixels["decoder"]:
        return Outcome.DIFFERENT, _sizes(expected, picture)
    # Decoders round differently; unequal pixels from another one prove nothing.
    return Outcome.CHANGED, f"pixels differ, but were recorded with {locked['decoder']}"


def _by_likeness(
    expected: LockEntry, locked: Likeness, picture: PictureFacts, got: Likeness
) -> tuple[Outcome, str | None]:
    sizes = _sizes(expected, picture)
    bits, colour = distance(locked, got)
    apart = f"{bits} of 64 bits and {colour} of 255 colour steps apart"
    if is_similar(locked, got):
        return Outcome.SIMILAR, _joined(sizes and f"resized {sizes}", apart)
    return Outcome.DIFFERENT, _joined(sizes, apart)


def _sizes(expected: LockEntry, picture: PictureFacts) -> str | None:
    if expected.width and expected.height and (expected.width, expected.height) != (picture.width, picture.height):
        return f"{expected.width} x {expected.height} expected, {picture.width} x {picture.height} got"
    return None


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None
