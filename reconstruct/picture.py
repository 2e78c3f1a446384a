"""What a picture is: decoded in full, or why it cannot be.

`PIL.Image.verify()` passes a truncated JPEG; only `load()` tells.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hannun.reconstruct.likeness import likeness as likeness_of
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")

MAX_PIXELS = 250_000_000
"""Default pixel cap; the largest known picture of the four benchmarks has 178 megapixels."""

_SIGNATURE = 16
"""Bytes by which Pillow's plugins tell their format."""

_LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class PictureFacts:
    """Facts of a decoded picture. Sizes in pixels, as stored (before EXIF orientation)."""

    width: int
    height: int
    format: str
    pixels: dict[str, str] | None
    """sha256 of `RGB w h\\n` and the first frame, upright, alpha over white; and the decoder."""
    likeness: dict[str, str] | None = None
    """The fields of a `Likeness`, where it was asked for."""


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


def format_of(path: Path) -> str | None:
    """Pillow's name of a file's format, told by its first bytes alone; None when Pillow knows none."""
    from PIL import Image

    with path.open("rb") as stream:
        # Padded, since the plugins count on that many bytes.
        head = stream.read(_SIGNATURE).ljust(_SIGNATURE, b"\0")
    # The few usual formats are loaded first, all others only when none of them fits.
    for load in (Image.preinit, Image.init):
        load()
        for name in Image.ID:
            accepts = Image.OPEN[name][1]
            if accepts is not None and accepts(head) is True:
                return name
    return None


def examine(
    source: Path | bytes, *, max_pixels: int = MAX_PIXELS, likeness: bool = False
) -> PictureFacts | PictureProblem:
    """Decode a picture in full and digest its pixels.

    Parameters
    ----------
    source
        A file, or bytes in memory.
    max_pixels
        Width times height over which nothing is decoded.
    likeness
        Tell also what the picture looks like; unknown where ImageHash is not installed.
    """
    decoded = _decoded(source, max_pixels)
    if isinstance(decoded, PictureProblem):
        return decoded
    facts, image = decoded
    looks = likeness_of(image) if likeness else None
    return replace(facts, pixels=_pixels(image), likeness=asdict(looks) if looks else None)


def undecodable(data: bytes, *, max_pixels: int = MAX_PIXELS) -> PictureProblem | None:
    """Why bytes cannot be decoded in full; None where they can. Nothing else is told, which saves half the time."""

    def in_full(image: Image.Image) -> None:
        image.load()

    return _read(data, max_pixels, in_full)


def refused_by_header(data: bytes, *, max_pixels: int = MAX_PIXELS) -> PictureProblem | None:
    """What the header alone says against a picture; nothing is decoded, so one that is cut passes.

    Not a picture, of no known format, over the pixel cap, or of a single pixel as trackers and placeholders are.
    """
    size = _read(data, max_pixels, lambda image: image.size)
    if isinstance(size, PictureProblem):
        return size
    return PictureProblem(Outcome.PLACEHOLDER, "1 x 1 pixels") if size == (1, 1) else None


def channel_difference(a: Path | bytes, b: Path | bytes) -> tuple[int, float]:
    """The largest and the mean difference of the channels of two pictures, pixel by pixel, in steps of 255.

    Raises
    ------
    InputError
        One of them cannot be decoded, or they are of different sizes.
    """
    from PIL import ImageChops

    one, other = _picture(a), _picture(b)
    if one.size != other.size:
        raise InputError(
            "pictures of different sizes have no pixels in common",
            expected=f"{one.width} x {one.height}",
            got=f"{other.width} x {other.height}",
            todo="compare their likeness",
        )
    # 256 counts for each channel, one after another.
    counts = ImageChops.difference(one, other).histogram()
    steps = [(place % 256, count) for place, count in enumerate(counts) if count]
    return max(step for step, _ in steps), sum(step * count for step, count in steps) / sum(counts)


def as_seen(image: Image.Image) -> Image.Image:
    """The picture as a person sees it: first frame, upright, alpha over white, RGB."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.has_transparency_data:
        over = upright.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        return Image.alpha_composite(white, over).convert("RGB")
    return upright.convert("RGB")


def seen(data: bytes, side: int) -> Image.Image | PictureProblem:
    """The picture as a person sees it, its longer side of `side` pixels at most; of one that is cut, what is there."""

    def fitted(image: Image.Image) -> Image.Image:
        shown = as_seen(image)
        shown.thumbnail((side, side))
        return shown

    with cut_pictures_read():
        return _read(data, MAX_PIXELS, fitted)


@contextmanager
def cut_pictures_read() -> Iterator[None]:
    """While it lasts, Pillow gives of a picture that is cut what is there. Not for threads: the switch is Pillow's."""
    from PIL import ImageFile

    before = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before


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


def _decoded(source: Path | bytes, max_pixels: int) -> tuple[PictureFacts, Image.Image] | PictureProblem:
    """The header's facts and the picture as seen, decoded in full."""

    def in_full(image: Image.Image) -> tuple[PictureFacts, Image.Image]:
        facts = PictureFacts(image.width, image.height, image.format or "", None)
        image.load()
        return facts, as_seen(image)

    return _read(source, max_pixels, in_full)


def _read(source: Path | bytes, max_pixels: int, use: Callable[[Image.Image], T]) -> T | PictureProblem:
    """What `use` makes of the opened picture, of which the header alone was read."""
    from PIL import Image, UnidentifiedImageError

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
                return use(image)
    except Image.DecompressionBombError as error:
        return PictureProblem(Outcome.TOO_LARGE, str(error))
    except UnidentifiedImageError:
        return PictureProblem(Outcome.DAMAGED, f"no decoder knows it; begins {head[:8].hex(' ')}")
    # Pillow's plugins raise these for broken data.
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, IndexError, TypeError) as error:
        return PictureProblem(Outcome.DAMAGED, f"cannot be decoded: {error}")


def _picture(source: Path | bytes) -> Image.Image:
    decoded = _decoded(source, MAX_PIXELS)
    if isinstance(decoded, PictureProblem):
        where = None if isinstance(source, bytes) else str(source)
        raise InputError(
            "not a picture that can be compared", where=where, got=f"{decoded.outcome.value}: {decoded.note}"
        )
    return decoded[1]


def _pixels(image: Image.Image) -> dict[str, str]:
    digest = hashlib.sha256(b"RGB %d %d\n" % image.size)
    digest.update(image.tobytes())
    return {"sha256": digest.hexdigest(), "decoder": decoder()}


def _head(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:1024]
    with source.open("rb") as stream:
        return stream.read(1024)


def _readable(source: Path | bytes) -> Path | io.BytesIO:
    return io.BytesIO(source) if isinstance(source, bytes) else source
