"""The gallery of questions: one static page of every item, its pictures, wordings, and what answers are judged by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hannun.cards.frame import anchor, credit, frame, in_config_order
from hannun.cards.page import render
from hannun.cards.thumbnail import Sides
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import config_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.question import Question

SIDES = Sides(few=640, many=480, limit=400)
"""Documents and tables are read on the page."""

_PAIRED = "question_"
"""What the fields begin with by which a record holds several wordings at once, as `question_explicit`."""

_KINDS = {
    "additive": "criteria, added up",
    "exclusive": "criteria, one of them",
    "unknown": "criteria; how they count is not known",
}


@dataclass(frozen=True)
class ShownPicture:
    """A picture as a `data:` address, None where nothing of it can be seen, and what is wrong with its bytes."""

    uri: str | None
    problem: str | None = None


def question_gallery(
    benchmark: Benchmark,
    rows: Sequence[Question],
    lock: Iterable[LockEntry],
    pictures: Mapping[str, ShownPicture],
) -> str:
    """The page as HTML, without any outside asset.

    Parameters
    ----------
    pictures
        Image id -> the picture; one that is absent is shown as missing.
    """
    entries = {entry.image_id: entry for entry in lock}
    items = [_as_shown(key, of_item, pictures, entries) for key, of_item in _items(benchmark, rows).items()]
    counts = {len(item["pictures"]) for item in items}
    return render(
        "questions.html",
        **frame(benchmark, rows, entries.values()),
        categories=sorted({item["category"] for item in items if item["category"]}),
        configs=list(dict.fromkeys(each["config"] for item in items for each in item["wordings"])),
        counts=[str(count) for count in sorted(counts)],
        items=items,
    )


def _items(benchmark: Benchmark, rows: Sequence[Question]) -> dict[str, list[Question]]:
    """Rows of one item together, by `benchmark/item`, numbers in their order."""
    items: dict[str, list[Question]] = {}
    for row in in_config_order(benchmark, rows):
        name, _, item = row.id.split("/")
        items.setdefault(f"{name}/{item}", []).append(row)
    return dict(sorted(items.items(), key=lambda each: _natural(each[0])))


def _natural(text: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", text)]


def _as_shown(
    key: str, rows: Sequence[Question], pictures: Mapping[str, ShownPicture], entries: Mapping[str, LockEntry]
) -> dict[str, Any]:
    first = rows[0]
    record = first.record
    checklist, criteria = record.get("checklist") or [], record.get("criteria") or []
    return {
        "key": key,
        "anchor": anchor(key),
        "category": record.get("category") or "",
        "labels": [record[name] for name in ("main_category", "source") if record.get(name)],
        "split": first.split,
        "pictures": [_picture(each, pictures.get(each), entries.get(each)) for each in first.images],
        "wordings": [{"config": config, "question": text} for config, text in _wordings(rows).items()],
        "checklist": checklist,
        "criteria": _criteria(criteria),
        "verbatim": list(_verbatim(record, checklist, criteria)),
    }


def _picture(image_id: str, shown: ShownPicture | None, entry: LockEntry | None) -> dict[str, Any]:
    return {
        "image_id": image_id,
        "uri": shown.uri if shown else None,
        "problem": shown.problem if shown else None,
        "credit": credit(entry),
    }


def _wordings(rows: Iterable[Question]) -> dict[str, str]:
    """Config -> its question; a row that holds several wordings adds those that no other row of the item holds."""
    wordings: dict[str, str] = {}
    for row in rows:
        if "question" in row.record:
            wordings[config_of(row.id)] = row.record["question"]
        for name, text in row.record.items():
            config = name.removeprefix(_PAIRED)
            if name.startswith(_PAIRED) and config != "idx":
                wordings.setdefault(config, text)
    return wordings


def _criteria(criteria: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Criteria by kind, each kind's in the order in which they are given."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for each in criteria:
        groups.setdefault(each["kind"], []).append(each)
    return [
        {
            "title": _title(kind, of_kind),
            "rows": [{"points": _points(each["points"], kind), "text": each["text"]} for each in of_kind],
        }
        for kind, of_kind in groups.items()
    ]


def _title(kind: str, criteria: Sequence[Mapping[str, Any]]) -> str:
    points = [each["points"] for each in criteria]
    return _KINDS[kind] + (f" to {sum(points):g}" if kind == "additive" and None not in points else "")


def _points(points: float | None, kind: str) -> str:
    if points is None:
        return "?"
    return f"{points:+g}" if kind == "additive" else f"{points:g}"


def _verbatim(
    record: Mapping[str, Any], checklist: Sequence[Any], criteria: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[str, str]]:
    """Title and text of what is shown as it was published: where reading it gave nothing sure, and the answer."""
    if record.get("checklist_raw") and not checklist:
        yield "checklist, as published", record["checklist_raw"]
    if record.get("criteria_raw") and (not criteria or any(each["kind"] == "unknown" for each in criteria)):
        yield "criteria, as published", record["criteria_raw"]
    if record.get("answer"):
        yield "answer", record["answer"]
