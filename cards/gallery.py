"""The gallery: one static page of every instance, its wordings, its ten pictures, and what each one is."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.cards.page import render
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import KINDS, Instance, config_of
from hannun.schemas.invariants import dotted
from hannun.schemas.lock import LockEntry
from hannun.schemas.version import version
from PIL import Image, ImageOps

SIDE = 192
"""Pixels of a picture's longer side on the page, at most."""

SIDE_OF_MANY, MANY = 128, 2_000
"""The same where the page shows more pictures than that: browsers hold all of it in memory."""

_AS_IT_IS = 6_000
"""Bytes up to which a small picture is put on the page as it is."""

_SHOWN_BY_BROWSERS = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}


def gallery(
    benchmark: Benchmark,
    rows: Sequence[Instance],
    lock: Iterable[LockEntry],
    thumbnails: Mapping[str, str],
    baselines: Mapping[str, float],
) -> str:
    """The page as HTML, without any outside asset.

    Parameters
    ----------
    thumbnails
        Image id -> its picture as a `data:` address; an image without one is shown as missing.
    baselines
        Hits@1 of answers that need no picture, by name.
    """
    items = _items(benchmark, rows)
    used = {image_id: None for row in rows for image_id in shown_images(row) if image_id in thumbnails}
    entries = {entry.image_id: entry for entry in lock}
    css = {image_id: f"p{place}" for place, image_id in enumerate(used)}
    return render(
        "gallery.html",
        title=benchmark.title,
        language=benchmark.languages[0],
        summary=benchmark.summary,
        baselines=dict(sorted(baselines.items(), key=lambda each: each[1])),
        group_name=(benchmark.split_by or "word").rpartition(".")[2],
        groups=sorted({_group(benchmark, row) for row in rows}),
        configs=list(dict.fromkeys(config_of(row.id) for row in _in_config_order(benchmark, rows))),
        splits=sorted({row.split for row in rows}),
        kinds=[kind for kind in KINDS if any(c.kind == kind for row in rows for c in row.candidates)],
        pictures=[{"css": css[image_id], "uri": thumbnails[image_id]} for image_id in used],
        items=[_as_shown(benchmark, key, of_item, css, entries) for key, of_item in items.items()],
        attributions=sorted({entry.attribution for entry in entries.values() if entry.attribution}),
        rows=f"{len(rows):,}",
        tool=f"hannun {version()}",
    )


def shown_images(row: Instance) -> list[str]:
    """Image ids of what the page shows of a row: its candidates, and the described picture where it is none of them."""
    candidates = [each.image_id for each in row.candidates]
    return candidates if row.described is None or row.described in candidates else [*candidates, row.described]


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


def _items(benchmark: Benchmark, rows: Sequence[Instance]) -> dict[str, list[Instance]]:
    """Rows of one item with the same candidates and gold, together, by key and in its order."""
    items: dict[tuple[Any, ...], list[Instance]] = {}
    for row in _in_config_order(benchmark, rows):
        items.setdefault((row.id.rpartition("/")[2], row.label, row.candidates), []).append(row)
    named = {}
    for of_item in items.values():
        first = of_item[0]
        shared = dotted(first.to_json(), benchmark.share_by) if benchmark.share_by else None
        named[str(shared or first.id)] = of_item
    return dict(sorted(named.items()))


def _in_config_order(benchmark: Benchmark, rows: Sequence[Instance]) -> list[Instance]:
    order = {config.name: place for place, config in enumerate(benchmark.configs)}
    return sorted(rows, key=lambda row: order.get(config_of(row.id), len(order)))


def _group(benchmark: Benchmark, row: Instance) -> str:
    """The noun, verb or mention that a row asks about."""
    shared = dotted(row.to_json(), benchmark.split_by) if benchmark.split_by else None
    return str(shared or row.source.get("lemma") or row.target)


def _as_shown(
    benchmark: Benchmark,
    key: str,
    rows: Sequence[Instance],
    css: Mapping[str, str],
    entries: Mapping[str, LockEntry],
) -> dict[str, Any]:
    first = rows[0]
    kinds = {each.image_id: each.kind for each in first.candidates}
    pictures = [
        {
            "css": css.get(image_id, ""),
            "image_id": image_id,
            "kind": kinds.get(image_id, "described"),
            "credit": _credit(entries.get(image_id)),
        }
        for image_id in shown_images(first)
    ]
    return {
        "key": key,
        "anchor": key.replace("/", "-"),
        "group": _group(benchmark, first),
        "gloss": first.source.get("gloss") or first.source.get("sense"),
        "split": first.split,
        "wordings": [
            {
                "config": config_of(row.id),
                "before": row.context[: row.target_span[0]],
                "target": row.context[slice(*row.target_span)],
                "after": row.context[row.target_span[1] :],
            }
            for row in rows
        ],
        "candidates": pictures[: len(first.candidates)],
        "described": pictures[len(first.candidates) :],
    }


def _credit(entry: LockEntry | None) -> str:
    """Author and licence of one picture, as far as they are known."""
    if entry is None:
        return ""
    licence = entry.licence or {}
    return " · ".join(filter(None, (entry.attribution, licence.get("spdx") or licence.get("name"))))


def _uri(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
