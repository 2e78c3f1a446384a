"""Pictures as models are shown them: as a person sees them, no larger than a given side."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from hannun.reconstruct.picture import PictureProblem, seen, undecodable
from hannun.schemas.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

SIDE = 2048
"""Pixels of the longer side, at most, where nothing is said: VWSD's originals have up to 178 megapixels."""

_SENT_AS_THEY_ARE = {"JPEG": "jpeg", "PNG": "png", "WEBP": "webp"}
_ORIENTATION = 0x0112


class PictureError(InputError):
    """A picture of which nothing can be seen."""


def shown(data: bytes, side: int) -> Image.Image:
    """The picture that a model of this machine is shown: upright, on white, RGB; of one that is cut, what is there.

    Raises
    ------
    PictureError
        Nothing of it can be seen.
    """
    picture = seen(data, side)
    if isinstance(picture, PictureProblem):
        raise PictureError(f"a picture cannot be shown: {picture.outcome.value}, {picture.note}")
    return picture


def data_address(data: bytes, side: int) -> str:
    """The picture that an endpoint is sent, as a `data:` address: its own bytes where any reader sees the same in them.

    Raises
    ------
    PictureError
        Nothing of it can be seen.
    """
    kind = _as_it_is(data, side)
    if kind is None:
        buffer = io.BytesIO()
        shown(data, side).save(buffer, "PNG")
        data, kind = buffer.getvalue(), "png"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _as_it_is(data: bytes, side: int) -> str | None:
    """The media subtype under which the bytes can be sent unchanged; None where they cannot."""
    from PIL import Image

    # Decoded in full: servers refuse a picture that is cut.
    if undecodable(data) is not None:
        return None
    with Image.open(io.BytesIO(data)) as image:
        plain = (
            getattr(image, "n_frames", 1) == 1
            and image.getexif().get(_ORIENTATION, 1) == 1
            and image.mode in ("RGB", "L", "P")
            and not image.has_transparency_data
            and max(image.size) <= side
        )
        return _SENT_AS_THEY_ARE.get(image.format or "") if plain else None
