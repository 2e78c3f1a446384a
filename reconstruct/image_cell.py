"""Image cells of tables: raw bytes, structs of bytes and path, or base64 in the forms that are in use."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

from hannun.reconstruct.picture import PictureProblem, examine
from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome

_DATA_URL = re.compile(r"data:(?P<media>[\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,\s*", re.IGNORECASE)
_STANDARD = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_MAGIC = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/webp": b"RIFF"}


def picture_cells(cell: Any) -> list[Any]:
    """The cells of a column that holds several pictures a row: a list, or its JSON where a table holds text only.

    A single picture is a list of one; nothing is none.
    """
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return [cell]
    if isinstance(cell, list):
        return cell
    return [] if cell is None or cell == "" else [cell]


def image_bytes(cell: Any) -> tuple[bytes, str | None]:
    """The picture's bytes in a cell, and a note where it was not written plainly.

    Text is base64: with or without a `data:` prefix, white space, padding, in the standard or the URL-safe
    alphabet. Nothing else is repaired.

    Raises
    ------
    Failed
        `gone`: the cell is empty, or holds a path only. `damaged`: the text is not base64, or is cut.
    """
    if isinstance(cell, Mapping):
        cell = cell.get("bytes")
    if isinstance(cell, bytes) and cell:
        return cell, None
    if isinstance(cell, str) and cell.strip():
        return _decoded(cell)
    raise Failed(Outcome.GONE, "no picture in the cell")


def _decoded(text: str) -> tuple[bytes, str | None]:
    notes = []
    data_url = _DATA_URL.match(text.lstrip())
    body = text.lstrip()[data_url.end() :] if data_url else text
    compact = "".join(body.split())
    if compact != body.strip():
        notes.append("white space inside")
    if data_url:
        notes.append("a data: prefix")
    if _STANDARD.fullmatch(compact) is None:
        if _URL_SAFE.fullmatch(compact) is None:
            raise Failed(Outcome.DAMAGED, f"not base64: {_what_else(compact)}")
        notes.append("the URL-safe alphabet")
        compact = compact.translate(str.maketrans("-_", "+/"))
    bare = compact.rstrip("=")
    if len(bare) % 4 == 1:
        raise Failed(Outcome.DAMAGED, "base64 that is cut")
    if len(compact) % 4:
        if compact != bare:
            raise Failed(Outcome.DAMAGED, "base64 with wrong padding")
        notes.append("no padding")
    missing = -len(compact) % 4
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error as error:
        raise Failed(Outcome.DAMAGED, f"not base64: {error}") from None
    _refuse_what_is_no_picture(data, bare)
    if missing and isinstance(examine(data), PictureProblem):
        # Without padding, text that is cut looks like text that is whole: the picture tells.
        raise Failed(Outcome.DAMAGED, "base64 that is cut")
    media = (data_url["media"] or "").lower() if data_url else ""
    if media in _MAGIC and not data.startswith(_MAGIC[media]):
        notes.append(f"named {media}, and is another format")
    return data, "; ".join(notes) or None


def _refuse_what_is_no_picture(data: bytes, text: str) -> None:
    """Base64 letters spell many things: base64 of base64, hexadecimal digits, a path."""
    if not data:
        raise Failed(Outcome.GONE, "no picture in the cell")
    if _STANDARD.fullmatch(data.decode("latin-1").strip()) and len(data) > 16:
        raise Failed(Outcome.DAMAGED, "base64 inside base64")
    if re.fullmatch(r"[0-9a-fA-F]+", text) and len(text) > 16:
        raise Failed(Outcome.DAMAGED, "hexadecimal digits, not base64")


def _what_else(text: str) -> str:
    if text.startswith(("b'", 'b"')):
        return "the repr of Python's bytes"
    if re.search(r"\.(?:jpe?g|png|gif|webp)$", text, re.IGNORECASE):
        return "a file's name"
    bad = re.search(r"[^A-Za-z0-9+/=_-]", text)
    return f"character {bad[0]!a}" if bad else "two alphabets mixed, or padding in the middle"
