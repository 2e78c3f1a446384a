"""The report page: what a reconstruction gave, to look at; expected and got pictures side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.cards.page import render
from hannun.reconstruct.location import read
from hannun.schemas.digest import IDENTITY
from hannun.schemas.outcome import Again, Outcome

MOST_IMAGES = 5_000
"""Images on the page, at most; report.json holds all."""

MOST_ROWS = 500
"""Rows of every other table, at most."""

Thumbnails = Mapping[str, tuple[str | None, str | None]]

_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}


def report_page(report: Mapping[str, Any], thumbnails: Thumbnails) -> str:
    """The page as HTML, without any outside asset.

    Parameters
    ----------
    report
        As `report.make_report` gives it. `got` of an image may hold `channel_difference` beside its facts:
        `[max, mean]`, as `picture.channel_difference` tells where both pictures are at hand.
    thumbnails
        Image id -> the expected and the got picture as `data:` addresses, None where there is none.
    """
    counts = report["counts"]
    hosts = sorted(report["hosts"].items(), key=lambda each: (-sum(each[1].values()), each[0]))
    images = sorted(report["images"], key=_urgency)
    shown = [_as_shown(each, thumbnails.get(each["image_id"], (None, None))) for each in images[:MOST_IMAGES]]
    return render(
        "report.html",
        benchmark=report["benchmark"],
        tool=report["tool"],
        made=report["made"],
        first_observed=report["first_observed"],
        last_observed=report["last_observed"],
        images=counts["images"],
        accepted=counts["accepted"],
        outcomes=_shares(counts["outcomes"]),
        hosts=[(host, sum(of_host.values()), _shares(of_host)) for host, of_host in hosts[:MOST_ROWS]],
        all_hosts=len(hosts),
        most_of_a_host=max((sum(of_host.values()) for of_host in report["hosts"].values()), default=0),
        filter_outcomes=[each.value for each in Outcome if any(item["outcome"] is each for item in shown)],
        filter_hosts=sorted({host for item in shown for host in item["hosts"]}),
        items=shown,
        all_items=len(images),
        sections=[
            _section(
                "Licences",
                {"licence": "licence", "images": "images", "attributed": "with an author"},
                [{**each, "licence": each["licence"] or "not known"} for each in report["licences"]],
            ),
            _section(
                "Substitutions",
                {"id": "row", "place": "place", "planned": "planned", "built": "built", "why": "why"},
                report["substitutions"],
            ),
            _section("Dropped rows", {"id": "row", "reason": "reason"}, report["dropped"]),
            _section("False negatives", {"id": "row", "image_id": "image", "why": "why"}, report["false_negatives"]),
        ],
    )


def _urgency(image: Mapping[str, Any]) -> tuple[bool, bool, int]:
    """Where an image stands in the list: what a person must look at, then what may still come, then what is built."""
    outcome = Outcome(image["outcome"])
    return outcome is Outcome.UNVERIFIED, outcome.again in (Again.YES, Again.LATER), _ORDER[outcome]


def _shares(counts: Mapping[str, int]) -> list[tuple[Outcome, str, int]]:
    """Outcome, tone and number of images, best first."""
    return [(each, _tone(each), counts[each.value]) for each in Outcome if counts.get(each.value)]


def _tone(outcome: Outcome) -> str:
    """The class that colours an outcome: as planned, to look at, still to come, or lost."""
    if outcome in (Outcome.EXACT, Outcome.UNVERIFIED):
        return "good"
    return {Again.DONE: "look", Again.NO: "lost"}.get(outcome.again, "open")


def _section(title: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A table of texts; `columns` maps a field to its heading."""
    return {
        "title": title,
        "columns": list(columns.values()),
        "rows": [[row[name] for name in columns] for row in rows[:MOST_ROWS]],
        "all_rows": len(rows),
    }


def _as_shown(image: Mapping[str, Any], pictures: tuple[str | None, str | None]) -> dict[str, Any]:
    outcome = Outcome(image["outcome"])
    facts = list(_facts(image["expected"], image["got"]))
    return {
        "image_id": image["image_id"],
        "outcome": outcome,
        "tone": _tone(outcome),
        "hosts": list(dict.fromkeys(_host(each["location"]) for each in image["tried"])),
        "pictures": [each for each in zip(("expected", "got"), pictures, strict=True) if each[1] is not None],
        "sides": [name for place, name in enumerate(("expected", "got")) if any(sides[place] for _, sides in facts)],
        "facts": [
            {"name": name, "expected": expected, "got": got, "differs": None not in (expected, got) and expected != got}
            for name, (expected, got) in facts
        ],
        "channel_difference": image["got"].get("channel_difference"),
        "credit": " · ".join(filter(None, (image["attribution"], image["licence"]))),
        "tried": [{**each, "is_link": _is_link(each["location"])} for each in image["tried"]],
        "next_step": image["next_step"],
        "used_by": image["used_by"],
    }


def _facts(expected: Mapping[str, Any], got: Mapping[str, Any]) -> Iterable[tuple[str, tuple[str | None, str | None]]]:
    """Name, and expected and got as text, of what either side knows; the locked digests, or else the identity."""
    for name, text in (("size", _size), ("bytes", _bytes), ("format", _format)):
        sides = text(expected), text(got)
        if any(sides):
            yield name, sides
    digests, given = expected.get("digests") or {}, got.get("digests") or {}
    for algorithm in digests or ([IDENTITY] if IDENTITY in given else []):
        yield algorithm, (digests.get(algorithm), given.get(algorithm))


def _size(facts: Mapping[str, Any]) -> str | None:
    return f"{facts['width']} × {facts['height']}" if facts.get("width") and facts.get("height") else None


def _bytes(facts: Mapping[str, Any]) -> str | None:
    return f"{facts['bytes']:,}" if facts.get("bytes") is not None else None


def _format(facts: Mapping[str, Any]) -> str | None:
    return facts.get("format")


def _is_link(location: str) -> bool:
    # What begins otherwise might be a script or a file of the reader's own.
    return location.lower().startswith(("https://", "http://"))


def _host(location: str) -> str:
    """The host of a tried location as the report counts it; the user's own folders and the store name themselves."""
    if location.startswith("local:") or location == "store":
        return location.partition("!")[0]
    return read(location).host
