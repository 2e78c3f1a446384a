"""What a picture is: decoded in full, or why it cannot be.

`PIL.Image.verify()` passes a truncated JPEG; only `load()` tells.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hannun.schemas.outcome import Outcome

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 250_000_000
"""Default pixel cap; the largest known picture of the four benchmarks has 178 megapixels."""

_LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class PictureFacts:
    """Facts of a decoded picture. Sizes in pixels, as stored (before EXIF orientation)."""

    width: int
    height: int
    format: str
    pixels: dict[str, str] | None
    """sha256 of `RGB w h\\n` and the first frame, upright, alpha over white; and the decoder."""


@dataclass(frozen=True)
class PictureProblem:
    """Why bytes are not a usable picture."""

    outcome: Outcome
    note: str


def decoder() -> str:
    """Name and version of what decodes, as it stands beside a pixel digest."""
    from PIL import __version__, features

    jpeg = features.version("jpg")
    return f"Pillow {__version__}" + (f", libjpeg {jpeg}" if jpeg else "")


def header(source: Path | bytes) -> PictureFacts | None:
    """Size and format from the header alone; None when it is not a picture that Pillow knows."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(_readable(source)) as image:
                return PictureFacts(image.width, image.height, image.format or "", None)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError):
        return None


def examine(source: Path | bytes, *, max_pixels: int = MAX_PIXELS) -> PictureFacts | PictureProblem:
    """Decode a picture in full and digest its pixels.

    Parameters
    ----------
    source
        A file, or bytes in memory.
    max_pixels
        Width times height over which nothing is decoded.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    head = _head(source)
    named = sniff(head)
    if named is not None:
        return named
    try:
        with warnings.catch_warnings():
            # The cap below is ours; Pillow's own warning would only repeat it.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(_readable(source)) as image:
                if image.width * image.height > max_pixels:
                    return PictureProblem(Outcome.TOO_LARGE, f"{image.width} x {image.height} pixels, cap {max_pixels}")
                width, height, format_name = image.width, image.height, image.format or ""
                image.load()
                upright = ImageOps.exif_transpose(image)
                return PictureFacts(width, height, format_name, _pixels(upright))
    except Image.DecompressionBombError as error:
        return PictureProblem(Outcome.TOO_LARGE, str(error))
    except UnidentifiedImageError:
        return PictureProblem(Outcome.DAMAGED, f"no decoder knows it; begins {head[:8].hex(' ')}")
    # Pillow's plugins raise these for broken data.
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, IndexError, TypeError) as error:
        return PictureProblem(Outcome.DAMAGED, f"cannot be decoded: {error}")


def sniff(head: bytes) -> PictureProblem | None:
    """Name what is certainly not a picture, from the first bytes; None leaves it to the decoder."""
    if not head:
        return PictureProblem(Outcome.NOT_AN_IMAGE, "empty")
    if head.startswith(_LFS):
        return PictureProblem(Outcome.NOT_AN_IMAGE, "a Git LFS pointer, not the file")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:512].lower()
    if b"<svg" in text and text.startswith((b"<?xml", b"<svg", b"<!doctype svg", b"<!--")):
        return PictureProblem(Outcome.UNSUPPORTED_FORMAT, "svg")
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script")):
        return PictureProblem(Outcome.NOT_AN_IMAGE, "html")
    if text.startswith(b"<?xml"):
        return PictureProblem(Outcome.NOT_AN_IMAGE, "xml")
    if text.startswith((b"{", b"[")):
        return PictureProblem(Outcome.NOT_AN_IMAGE, "json or other text")
    if head.startswith(b"%PDF-"):
        return PictureProblem(Outcome.UNSUPPORTED_FORMAT, "pdf")
    return None


def _pixels(image: Image.Image) -> dict[str, str]:
    from PIL import Image

    if image.has_transparency_data:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        rgb = Image.alpha_composite(white, over).convert("RGB")
    else:
        rgb = image.convert("RGB")
    digest = hashlib.sha256(b"RGB %d %d\n" % rgb.size)
    digest.update(rgb.tobytes())
    return {"sha256": digest.hexdigest(), "decoder": decoder()}


def _head(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:1024]
    with source.open("rb") as stream:
        return stream.read(1024)


def _readable(source: Path | bytes) -> Path | io.BytesIO:
    return io.BytesIO(source) if isinstance(source, bytes) else source
