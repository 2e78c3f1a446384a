"""The gallery: one static page of every instance, its wordings, its ten pictures, and what each one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.cards.frame import anchor, credit, frame, in_config_order
from hannun.cards.page import render
from hannun.cards.thumbnail import SIDE, Sides
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import KINDS, Instance, config_of
from hannun.schemas.invariants import dotted
from hannun.schemas.lock import LockEntry

SIDES = Sides(few=SIDE, many=128, limit=2_000)


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
        **frame(benchmark, rows, entries.values()),
        baselines=dict(sorted(baselines.items(), key=lambda each: each[1])),
        group_name=(benchmark.split_by or "word").rpartition(".")[2],
        groups=sorted({_group(benchmark, row) for row in rows}),
        configs=list(dict.fromkeys(config_of(row.id) for row in in_config_order(benchmark, rows))),
        kinds=[kind for kind in KINDS if any(c.kind == kind for row in rows for c in row.candidates)],
        pictures=[{"css": css[image_id], "uri": thumbnails[image_id]} for image_id in used],
        items=[_as_shown(benchmark, key, of_item, css, entries) for key, of_item in items.items()],
    )


def shown_images(row: Instance) -> list[str]:
    """Image ids of what the page shows of a row: its candidates, and the described picture where it is none of them."""
    candidates = [each.image_id for each in row.candidates]
    return candidates if row.described is None or row.described in candidates else [*candidates, row.described]


def _items(benchmark: Benchmark, rows: Sequence[Instance]) -> dict[str, list[Instance]]:
    """Rows of one item with the same candidates and gold, together, by key and in its order."""
    items: dict[tuple[Any, ...], list[Instance]] = {}
    for row in in_config_order(benchmark, rows):
        items.setdefault((row.id.rpartition("/")[2], row.label, row.candidates), []).append(row)
    named = {}
    for of_item in items.values():
        first = of_item[0]
        shared = dotted(first.to_json(), benchmark.share_by) if benchmark.share_by else None
        named[str(shared or first.id)] = of_item
    return dict(sorted(named.items()))


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
            "credit": credit(entries.get(image_id)),
        }
        for image_id in shown_images(first)
    ]
    return {
        "key": key,
        "anchor": anchor(key),
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
