"""Reports: what a reconstruction gave, as JSON and as Markdown to paste into an issue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.reconstruct.location import read
from hannun.reconstruct.resolve import Resolution
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from hannun.schemas.row import Row

_MOST_USES = 20
_MOST_LINES = 200


def make_report(
    *,
    tool: str,
    benchmark: str,
    made: str,
    rows: Sequence[Row],
    lock: Sequence[LockEntry],
    observed: Mapping[str, list[Observation]],
    seen: Mapping[str, Observation],
    accepted: int,
    resolution: Resolution,
) -> dict[str, Any]:
    """The report as JSON (`report.schema.json`).

    Parameters
    ----------
    made
        The instant of the report, UTC.
    observed
        Image id -> all its attempts, in order.
    seen
        Image id -> the observation that counts now.
    accepted
        Number of images that the policy accepts.
    """
    uses: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for image_id in row.shown:
            uses[image_id].append(row.id)
    times = [each.time for attempts in observed.values() for each in attempts]
    outcomes: Counter[str] = Counter()
    hosts: dict[str, Counter[str]] = defaultdict(Counter)
    images = []
    for entry in lock:
        attempts = observed.get(entry.image_id, [])
        state = seen.get(entry.image_id)
        outcome = state.outcome if state else Outcome.PENDING
        outcomes[outcome.value] += 1
        hosts[_host(state.location if state and state.location != "store" else entry.locations[0])][outcome.value] += 1
        if outcome is not Outcome.EXACT:
            images.append(_image_report(entry, attempts, state, outcome, uses[entry.image_id]))
    return {
        "tool": tool,
        "benchmark": benchmark,
        "made": made,
        "first_observed": min(times, default=None),
        "last_observed": max(times, default=None),
        "counts": {"images": len(lock), "accepted": accepted, "outcomes": dict(outcomes)},
        "hosts": {host: dict(counts) for host, counts in hosts.items()},
        "licences": _licences(lock),
        "images": images,
        "substitutions": [each.to_json() for each in resolution.substitutions],
        "dropped": [each.__dict__ for each in resolution.dropped],
        "false_negatives": [each.__dict__ for each in resolution.false_negatives],
    }


def _licences(lock: Iterable[LockEntry]) -> list[dict[str, Any]]:
    """Licences of the images, the most frequent first; without a name where none is known."""
    counts: Counter[tuple[str | None, str | None]] = Counter()
    named: Counter[tuple[str | None, str | None]] = Counter()
    for entry in lock:
        licence = entry.licence or {}
        key = licence.get("spdx") or licence.get("name"), licence.get("url")
        counts[key] += 1
        named[key] += entry.attribution is not None
    return [
        {"licence": name, "url": url, "images": count, "attributed": named[name, url]}
        for (name, url), count in sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))
    ]


def _image_report(
    entry: LockEntry,
    attempts: Iterable[Observation],
    seen: Observation | None,
    outcome: Outcome,
    used_by: list[str],
) -> dict[str, Any]:
    facts = ("bytes", "width", "height", "format")
    return {
        "image_id": entry.image_id,
        "outcome": outcome.value,
        "tried": [{"location": each.location, "outcome": each.outcome.value, "note": each.note} for each in attempts],
        "expected": {"digests": dict(entry.digests), **{name: getattr(entry, name) for name in facts}},
        "got": {"digests": dict(seen.digests), **{name: getattr(seen, name) for name in facts}} if seen else {},
        "licence": (entry.licence or {}).get("spdx") or (entry.licence or {}).get("name"),
        "attribution": entry.attribution,
        "next_step": outcome.next_step,
        "used_by": sorted(used_by)[:_MOST_USES],
    }


def markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown; long lists are cut, and say so."""
    counts = report["counts"]
    lines = [
        f"# {report['benchmark']}: {counts['accepted']:,} of {counts['images']:,} images",
        "",
        f"{report['tool']}, {report['made']}; observed {report['first_observed'] or 'never'}"
        + (f" to {report['last_observed']}" if report["last_observed"] else ""),
        "",
        "| outcome | images | meaning |",
        "| --- | ---: | --- |",
    ]
    for outcome in Outcome:
        count = counts["outcomes"].get(outcome.value)
        if count:
            lines.append(f"| {outcome.value} | {count:,} | {outcome.meaning} |")
    lines += ["", "| host | " + "images | outcomes |", "| --- | ---: | --- |"]
    for host, by_outcome in sorted(report["hosts"].items()):
        named = ", ".join(f"{name} {n:,}" for name, n in sorted(by_outcome.items()))
        lines.append(f"| {_cell(host)} | {sum(by_outcome.values()):,} | {named} |")
    lines += ["", "| licence | images | with an author |", "| --- | ---: | ---: |"]
    lines += [
        f"| {_cell(each['licence'] or 'not known')} | {each['images']:,} | {each['attributed']:,} |"
        for each in report["licences"]
    ]
    lines += _section(
        "Images that are not exact",
        ["image", "outcome", "tried", "next step"],
        [[each["image_id"], each["outcome"], _tried(each["tried"]), each["next_step"]] for each in report["images"]],
    )
    lines += _section(
        "Substitutions",
        ["instance", "place", "planned", "built", "why"],
        [[s["id"], str(s["place"]), s["planned"], s["built"], s["why"]] for s in report["substitutions"]],
    )
    lines += _section("Dropped", ["instance", "reason"], [[d["id"], d["reason"]] for d in report["dropped"]])
    lines += _section(
        "False negatives",
        ["instance", "image", "why"],
        [[f["id"], f["image_id"], f["why"]] for f in report["false_negatives"]],
    )
    return "\n".join(lines) + "\n"


def _section(title: str, header: list[str], rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    lines = ["", f"## {title} ({len(rows):,})", "", f"| {' | '.join(header)} |", "| --- " * len(header) + "|"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows[:_MOST_LINES]]
    if len(rows) > _MOST_LINES:
        lines += ["", f"... and {len(rows) - _MOST_LINES:,} more in report.json"]
    return lines


def _tried(attempts: list[dict[str, Any]]) -> str:
    last = attempts[-1:] and attempts[-1]
    if not last:
        return "nothing yet"
    return f"{last['location']} ({last['note'] or last['outcome']})"


def _cell(text: str) -> str:
    # Somebody else's text: it must stay one cell, and plain.
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _host(location: str) -> str:
    return location.partition("!")[0] if location.startswith("local:") else read(location).host
