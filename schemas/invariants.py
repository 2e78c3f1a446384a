"""Everything that must hold for instances, by themselves and together.

The one place of these rules: `plan` refuses to write an instance that breaks one, and `validate` reports
what a file breaks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hannun.schemas.instance import CANDIDATES, config_of
from hannun.schemas.text import nfc

# A position is called uneven when chance alone would do it less often than once in a million sets.
_UNEVEN = 1e-6


@dataclass(frozen=True)
class Violation:
    """One broken rule: a stable name, the field, and both sides."""

    rule: str
    field: str
    message: str
    expected: str
    found: str
    row_id: str | None = None


def violations(row: Mapping[str, Any]) -> list[Violation]:
    """Every rule that one instance breaks by itself.

    Parameters
    ----------
    row
        The instance as JSON. Candidates may be objects with `image_id` and `kind`, or plain ids; fields
        that are absent are not judged here (that is the schema's task). `gold`, where a file has it,
        names the right candidate.
    """
    row_id = row.get("id")
    found: list[Violation] = []

    def say(rule: str, field: str, message: str, expected: object, got: object) -> None:
        found.append(Violation(rule, field, message, str(expected), str(got), None if row_id is None else str(row_id)))

    candidates = row.get("candidates")
    if isinstance(candidates, list):
        _check_candidates(row, [image_id_of(c) for c in candidates], [_kind(c) for c in candidates], say)
        _check_spares(row, {image_id_of(c) for c in candidates}, say)
    _check_span(row, say)
    for field in ("context", "target"):
        text = row.get(field)
        if isinstance(text, str) and nfc(text) != text:
            say("text-not-nfc", field, f"{field} is not in NFC", "NFC", "decomposed or compatibility text")
    return found


def set_violations(
    rows: Iterable[Mapping[str, Any]], *, split_by: str | None = None, share_by: str | None = None
) -> list[Violation]:
    """Every rule that instances break together: ids, gold spread, wordings of an item, splits.

    Parameters
    ----------
    split_by
        Field (dotted) whose values no two splits may share, such as `source.noun`.
    share_by
        Field (dotted) by which configs share pictures, order and gold place, such as `source.item`.
    """
    rows = list(rows)
    found = [*_repeated_ids(rows), *_contexts_used_twice(rows)]
    groups: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for place, row in enumerate(rows):
        key = dotted(row, share_by) if share_by else None
        groups[("row", place) if key is None else key].append(row)
    found += _uneven_gold([group[0] for group in groups.values()])
    if share_by:
        found += _unshared_candidates(groups, share_by)
    if split_by:
        found += _shared_between_splits(rows, split_by)
    return found


def image_id_of(candidate: Any) -> str | int | float | None:
    """The image id of a candidate that is an object, or is the id itself; any JSON value has one."""
    value = candidate.get("image_id") if isinstance(candidate, Mapping) else candidate
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def gold_places(rows: Iterable[Mapping[str, Any]]) -> list[int]:
    """Gold places that are whole numbers, in row order."""
    labels = (row.get("label") for row in rows)
    return [label for label in labels if isinstance(label, int) and not isinstance(label, bool)]


def dotted(row: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, as text; None where there is none."""
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if value is None or isinstance(value, str) else str(value)


def _check_candidates(row: Mapping[str, Any], ids: list[Any], kinds: list[Any], say: Any) -> None:
    if len(ids) != CANDIDATES:
        say("candidate-count", "candidates", f"{len(ids)} candidates", CANDIDATES, len(ids))
    label = row.get("label")
    gold = row.get("gold")
    if "gold" in kinds and gold is None:
        gold = ids[kinds.index("gold")]
    repeated = [each for each, n in Counter(map(str, ids)).items() if n > 1]
    for each in repeated:
        what = "gold twice" if gold is not None and each == str(gold) else "duplicate candidate"
        say("duplicate-candidate", "candidates", f"{what}: {each}", "ten different images", f"{each} more than once")
    place = label if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < len(ids) else None
    if "label" in row and place is None:
        whole = isinstance(label, int) and not isinstance(label, bool)
        what = "gold place out of range" if whole else "gold place is not a whole number"
        say("label-range", "label", what, f"0 to {max(len(ids) - 1, 0)}", repr(label))
    if any(kind is not None for kind in kinds):
        golds = kinds.count("gold")
        if golds != 1:
            say("gold-count", "candidates", f"{golds} candidates marked gold", "exactly 1", golds)
    if gold is not None and place is not None and ids[place] != gold:
        where = f"at place {ids.index(gold)}" if gold in ids else "absent from the candidates"
        say("wrong-label", "label", f"gold is not at its place: it is {where}", f"{gold} at place {place}", ids[place])
    elif gold is not None and gold not in ids:
        say("gold-absent", "candidates", "gold is absent from the candidates", gold, "no such candidate")


def _check_spares(row: Mapping[str, Any], used: set[Any], say: Any) -> None:
    given = row.get("spares")
    if not isinstance(given, list):
        return
    spares = [image_id_of(each) for each in given]
    twice = sorted({str(each) for each in spares if each in used or spares.count(each) > 1})
    if twice:
        say(
            "spare-in-use",
            "spares",
            "a spare is already used",
            "images used nowhere else in the instance",
            ", ".join(twice),
        )
    if any(_kind(each) == "gold" for each in given):
        say("spare-gold", "spares", "a spare is marked gold", "hard, near or random", "gold")


def _check_span(row: Mapping[str, Any], say: Any) -> None:
    context, target, span = row.get("context"), row.get("target"), row.get("target_span")
    if not isinstance(context, str) or not isinstance(target, str) or not isinstance(span, list):
        return
    whole = len(span) == 2 and all(isinstance(each, int) for each in span)
    start, end = span if whole else (-1, -1)
    if not 0 <= start < end <= len(context):
        say("span-range", "target_span", "span outside the context", f"0 <= start < end <= {len(context)}", list(span))
    elif context[start:end] != target:
        say("span-target", "target_span", "the span does not hold the target", target, context[start:end])


def _repeated_ids(rows: list[Mapping[str, Any]]) -> list[Violation]:
    counts = Counter(str(row["id"]) for row in rows if row.get("id") is not None)
    return [
        Violation("duplicate-id", "id", f"id used {n} times", "every id once", each, each)
        for each, n in counts.items()
        if n > 1
    ]


def _contexts_used_twice(rows: list[Mapping[str, Any]]) -> list[Violation]:
    # One sentence may ask of several of its words.
    seen: dict[tuple[str, str, str], str] = {}
    found = []
    for row in rows:
        row_id, context = row.get("id"), row.get("context")
        if not isinstance(row_id, str) or not isinstance(context, str) or row_id.count("/") != 2:
            continue
        first = seen.setdefault((config_of(row_id), context, str(row.get("target_span"))), row_id)
        if first != row_id:
            found.append(
                Violation(
                    "duplicate-context",
                    "context",
                    "context used twice",
                    "every context once",
                    f"also in {first}",
                    row_id,
                )
            )
    return found


def _uneven_gold(rows: list[Mapping[str, Any]]) -> list[Violation]:
    places = gold_places(rows)
    total = len(places)
    counts = Counter(places)
    found = []
    for place in range(CANDIDATES):
        count = counts[place]
        if count * CANDIDATES >= total:
            chance = _at_least(count, total)
            message = f"gold index is {place} in {count} of {total}"
        else:
            chance = _at_most(count, total)
            message = f"gold index is {place} in only {count} of {total}"
        if chance * CANDIDATES < _UNEVEN:
            found.append(
                Violation("gold-spread", "label", message, f"about {total / CANDIDATES:.0f} of {total}", str(count))
            )
    return found


def _unshared_candidates(groups: Mapping[Any, list[Mapping[str, Any]]], share_by: str) -> list[Violation]:
    found: list[Violation] = []
    for key, group in groups.items():
        first = group[0]
        for row in group[1:]:
            found += [
                Violation(
                    "unshared",
                    field,
                    f"{field} differs among the wordings of {share_by} {key}",
                    f"as in {first.get('id')}",
                    f"another {field}",
                    str(row.get("id")),
                )
                for field in ("candidates", "images", "label", "spares", "split")
                if row.get(field) != first.get(field)
            ]
    return found


def _shared_between_splits(rows: list[Mapping[str, Any]], split_by: str) -> list[Violation]:
    splits: dict[Any, set[str]] = defaultdict(set)
    first: dict[tuple[Any, str], str] = {}
    for row in rows:
        key = dotted(row, split_by)
        split = row.get("split")
        if key is not None and isinstance(split, str):
            splits[key].add(split)
            first.setdefault((key, split), str(row.get("id")))
    return [
        Violation(
            "split-overlap",
            split_by,
            f"{key} stands in several splits",
            "one split",
            ", ".join(sorted(names)),
            first[key, max(names)],
        )
        for key, names in splits.items()
        if len(names) > 1
    ]


def _at_least(count: int, total: int) -> float:
    """P(X >= count) for X ~ Binomial(total, 1/10)."""
    return sum(_binomial(k, total) for k in range(count, total + 1))


def _at_most(count: int, total: int) -> float:
    return sum(_binomial(k, total) for k in range(count + 1))


def _binomial(k: int, total: int) -> float:
    log = (
        math.lgamma(total + 1)
        - math.lgamma(k + 1)
        - math.lgamma(total - k + 1)
        - k * math.log(CANDIDATES)
        + (total - k) * math.log1p(-1 / CANDIDATES)
    )
    return math.exp(log)


def _kind(candidate: Any) -> Any:
    return candidate.get("kind") if isinstance(candidate, Mapping) else None
