"""Pictures small enough for a page, as `data:` addresses."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

from hannun.reconstruct.picture import cut_pictures_read
from PIL import Image, ImageOps

SIDE = 192
"""Pixels of a picture's longer side on a page, at most, as a rule."""


@dataclass(frozen=True)
class Sides:
    """Pixels of a picture's longer side, at most: `few`, and `many` on a page that shows more than `limit` pictures.

    Browsers hold all of a page in memory.
    """

    few: int
    many: int
    limit: int

    def of(self, pictures: int) -> int:
        """The side for a page of so many pictures."""
        return self.few if pictures <= self.limit else self.many


_AS_IT_IS = 6_000
"""Bytes up to which a small picture is put on the page as it is."""

_SHOWN_BY_BROWSERS = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}


def thumbnail(data: bytes, side: int = SIDE) -> str:
    """A picture small enough for a page, as a `data:` address.

    Parameters
    ----------
    data
        The bytes of a picture that decodes.
    side
        Pixels of its longer side, at most.
    """
    with Image.open(io.BytesIO(data)) as image:
        kind = _SHOWN_BY_BROWSERS.get(image.format or "")
        if kind is not None and max(image.size) <= side and len(data) <= _AS_IT_IS:
            return _uri(kind, data)
        # Decoders of JPEG can shrink while they read.
        image.draft("RGB", (side, side))
        small = ImageOps.exif_transpose(image).convert("RGBA" if image.has_transparency_data else "RGB")
    small.thumbnail((side, side))
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=80, method=4)
    return _uri("webp", buffer.getvalue())


def remains(data: bytes, side: int = SIDE) -> str | None:
    """What can be seen of a picture that is cut, as `thumbnail` gives it; None where nothing can."""
    try:
        with cut_pictures_read():
            return thumbnail(data, side)
    # Pillow's plugins raise these for broken data.
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, IndexError, TypeError):
        return None


def _uri(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
