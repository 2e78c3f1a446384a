"""Likeness: what a picture looks like, in a few bytes, so that a re-encoded or resized copy is known again."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

GRID = 4
"""Cells on a side of the grid of mean colours."""

# Measured on 27 photographs, 1,041 crops of them, the reported cases of drifted files, and 5,422 emoji.
# Copies of a photograph: JPEG down to quality 20, WebP down to 40, 256 colours, resized down to a quarter by an
# averaging filter: at most 4 bits and 6 colour steps; resized to a tenth: 6 bits and 11.
# Other pictures: of the 541,320 pairs of crops none came within 6 bits; the nearest two photographs, a stereo pair,
# are 4 bits and 20 steps apart. The hash sees no colour: the emoji of a blue and of a red drop, or two squares, are
# 0 bits, but 165 and 170 steps apart. Drawings are told apart less well: of 4,009 emoji 254 pairs are within both
# (skin tones, mouths), so likeness is for photographs, or for one address whose picture changed.
MAX_BITS = 6
"""Bits of 64 by which the perceptual hashes of similar pictures differ at most."""

MAX_COLOUR = 12
"""Steps of 255 by which any channel of any cell of similar pictures differs at most."""

INSTALL = "pip install 'hannun[similar]'"
"""What brings ImageHash."""


@dataclass(frozen=True)
class Likeness:
    """A picture's looks; both parts as hex digits."""

    phash: str
    """Perceptual hash of 64 bits, by ImageHash."""
    colour: str
    """Mean red, green and blue, a byte each, of the cells of a 4 x 4 grid, row by row."""


def likeness(image: Image.Image) -> Likeness | None:
    """The likeness of a picture; None where ImageHash is not installed.

    Parameters
    ----------
    image
        RGB, as a person sees it (`picture.as_seen`).
    """
    if not is_available():
        return None
    import imagehash
    from PIL import Image

    cells = image.resize((GRID, GRID), Image.Resampling.BOX)
    return Likeness(str(imagehash.phash(image)), cells.tobytes().hex())


def is_available() -> bool:
    """Whether ImageHash is installed."""
    return importlib.util.find_spec("imagehash") is not None


def distance(a: Likeness, b: Likeness) -> tuple[int, int]:
    """How far two likenesses are apart: bits of 64, and steps of 255 of the channel and cell that differ most."""
    bits = (int(a.phash, 16) ^ int(b.phash, 16)).bit_count()
    colours = zip(bytes.fromhex(a.colour), bytes.fromhex(b.colour), strict=True)
    return bits, max(abs(x - y) for x, y in colours)


def is_similar(a: Likeness, b: Likeness) -> bool:
    """Whether two pictures look the same: within both `MAX_BITS` and `MAX_COLOUR`."""
    bits, colour = distance(a, b)
    return bits <= MAX_BITS and colour <= MAX_COLOUR
