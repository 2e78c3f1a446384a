"""Three rows of a built folder to show on its card, and their pictures in one."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hannun.cards.rights import image_right
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import Instance
from hannun.schemas.licence import Redistribution, allows_changes
from hannun.schemas.lock import LockEntry
from hannun.schemas.row import Row
from PIL import Image, ImageChops, ImageOps, UnidentifiedImageError

ROWS = 3
_SIDE, _GAP = 88, 8
"""Pixels of a picture's place and of the room around it, which holds the gold's frame."""
_PAPER, _FRAME = "white", "#2e7d32"
_BLOCK, _NOISE = 16, 6
"""Side of the blocks in which pictures are compared, and the levels (of 255) by which encoders may differ."""


@dataclass(frozen=True)
class Sample:
    """Rows to show, and whom to name for their pictures; or why none is shown."""

    rows: tuple[Row, ...]
    credits: tuple[str, ...] = ()
    why_not: str | None = None


def choose(benchmark: Benchmark, rows: Iterable[Row], lock: Iterable[LockEntry], held: Iterable[str]) -> Sample:
    """The first rows, each of another target, whose texts and pictures may all be shown, small, to anyone.

    Parameters
    ----------
    held
        Image ids of the pictures that the folder holds.
    """
    for name, licence in benchmark.text_licences.items():
        if licence.redistribution is not Redistribution.ALLOWED:
            return Sample((), why_not=f"the licence of the texts of {name} does not allow it")
    entries = {entry.image_id: entry for entry in lock}
    refused: dict[str, str] = {}
    for image_id, entry in entries.items():
        right = image_right(benchmark, entry)
        if right.redistribution is not Redistribution.ALLOWED:
            refused[image_id] = right.why
        elif not allows_changes(entry.licence):
            refused[image_id] = "its licence may not allow smaller copies"
    there = set(held)
    chosen: dict[str, Row] = {}
    why = None
    for row in rows:
        whys = [refused.get(each, "") if each in there & entries.keys() else "it is not here" for each in row.shown]
        why = why or next(filter(None, whys), None)
        if not any(whys):
            chosen.setdefault(row.target if isinstance(row, Instance) else row.id, row)
        if len(chosen) == ROWS:
            break
    if not chosen:
        return Sample((), why_not=f"no row has only pictures that may be shown (the first that may not: {why})")
    shown = [image_id for row in chosen.values() for image_id in row.shown]
    named = (entries[image_id].attribution for image_id in shown)
    return Sample(tuple(chosen.values()), tuple(dict.fromkeys(filter(None, named))))


def draw(rows: Sequence[Row], pictures: Mapping[str, bytes]) -> bytes:
    """The rows' pictures, a row below the other, the right ones framed, as WebP.

    Parameters
    ----------
    pictures
        The bytes of every picture that the rows show; a place stays empty where they do not decode.
    """
    step = _SIDE + _GAP
    width = max(len(row.shown) for row in rows) * step + _GAP
    sheet = Image.new("RGB", (width, len(rows) * step + _GAP), _PAPER)
    for line, row in enumerate(rows):
        for place, image_id in enumerate(row.shown):
            left, top = place * step + _GAP, line * step + _GAP
            if isinstance(row, Instance) and place == row.label:
                frame = Image.new("RGB", (_SIDE + _GAP, _SIDE + _GAP), _FRAME)
                sheet.paste(frame, (left - _GAP // 2, top - _GAP // 2))
                sheet.paste(_PAPER, (left, top, left + _SIDE, top + _SIDE))
            small = _small(pictures[image_id])
            if small is not None:
                at = left + (_SIDE - small.width) // 2, top + (_SIDE - small.height) // 2
                sheet.paste(small, at, small if small.mode == "RGBA" else None)
    buffer = io.BytesIO()
    sheet.save(buffer, "WEBP", quality=80, method=4)
    return buffer.getvalue()


def same_picture(one: bytes, other: bytes) -> bool:
    """Whether two sample pictures show the same, whatever encoder made them."""
    if one == other:
        return True
    try:
        with Image.open(io.BytesIO(one)) as first, Image.open(io.BytesIO(other)) as second:
            if first.size != second.size:
                return False
            difference = ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError):
        return False
    extremes = difference.reduce(_BLOCK).getextrema()
    return all(isinstance(band, tuple) and band[1] <= _NOISE for band in extremes)


def _small(data: bytes) -> Image.Image | None:
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.draft("RGB", (_SIDE * 2, _SIDE * 2))
            upright = ImageOps.exif_transpose(image).convert("RGBA" if image.has_transparency_data else "RGB")
    # Pillow's plugins raise these for broken data.
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, IndexError, TypeError):
        return None
    return ImageOps.contain(upright, (_SIDE, _SIDE))
