"""The page on which people choose pictures: a form's questions without their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.cards.page import render
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import Instance
from hannun.schemas.lock import LockEntry


def annotation_page(
    benchmark: Benchmark,
    config: str,
    asked: Sequence[tuple[int, str, str, Instance]],
    columns: Sequence[str],
    *,
    lock: Iterable[LockEntry],
    thumbnails: Mapping[str, str],
) -> str:
    """The page as HTML, in Korean; answers stay in the reader's browser and are saved as the form's CSV.

    Parameters
    ----------
    asked
        Number, item and sentence as the form has them, and the row.
    columns
        The form's columns.
    thumbnails
        Image id -> its picture as a `data:` address.
    """
    used = dict.fromkeys(c.image_id for *_, row in asked for c in row.candidates)
    css = {image_id: f"p{place}" for place, image_id in enumerate(used)}
    return render(
        "annotation.html",
        title=benchmark.title,
        config=config,
        storage=f"hannun/{benchmark.name}/{config}",
        columns=list(columns),
        pictures=[{"css": css[each], "uri": thumbnails[each]} for each in used if each in thumbnails],
        questions=[_as_shown(*each, css) for each in asked],
        attributions=sorted({entry.attribution for entry in lock if entry.attribution}),
    )


def _as_shown(number: int, item: str, sentence: str, row: Instance, css: Mapping[str, str]) -> dict[str, Any]:
    start, end = row.target_span
    return {
        "number": number,
        "item": item,
        "sentence": sentence,
        "before": row.context[:start],
        "target": row.context[start:end],
        "after": row.context[end:],
        "pictures": [css[each.image_id] for each in row.candidates],
    }
