"""Resolve: from what a plan says and what was observed to what is built. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hannun.reconstruct.likeness import Likeness, distance, is_similar
from hannun.schemas.digest import IDENTITY
from hannun.schemas.instance import Candidate, Instance
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome, is_accepted
from hannun.schemas.question import Question
from hannun.schemas.row import Row

_PHOTOGRAPHS = frozenset({"JPEG", "MPO", "WEBP"})
"""Formats in which likeness means something: drawings come as PNG, GIF and SVG."""

OnMissing = Literal["drop", "substitute", "fail"]
OnFalseNegative = Literal["report", "substitute"]


@dataclass(frozen=True)
class Policy:
    """What may be built.

    Parameters
    ----------
    accept
        Outcomes accepted beside `exact` and `unverified`.
    locked
        `unverified` is not accepted.
    on_missing
        What a missing negative does to its instance: it is dropped, or the next spare takes its place.
        `fail` drops too and leaves it to the caller to stop. A missing gold always drops its instance.
    false_negatives
        Whether a negative with the gold's bytes or pixels is replaced by the next spare. One that only
        looks like it is reported.
    """

    accept: frozenset[Outcome] = frozenset()
    locked: bool = False
    on_missing: OnMissing = "drop"
    false_negatives: OnFalseNegative = "report"


@dataclass(frozen=True)
class Substitution:
    """A candidate that another one replaces, in its place."""

    id: str
    place: int
    planned: str
    built: str
    why: str

    def to_json(self) -> dict[str, Any]:
        return {"what": "candidate", **self.__dict__}


@dataclass(frozen=True)
class Dropped:
    id: str
    reason: str


@dataclass(frozen=True)
class FalseNegative:
    """A negative that is the gold's picture under another id, or a photograph that looks like it."""

    id: str
    image_id: str
    why: str


@dataclass(frozen=True)
class Resolution:
    """What is built, and every difference from the plan; each list in row order."""

    rows: tuple[Row, ...]
    dropped: tuple[Dropped, ...] = ()
    substitutions: tuple[Substitution, ...] = ()
    false_negatives: tuple[FalseNegative, ...] = ()


@dataclass
class _Log:
    substitutions: list[Substitution] = field(default_factory=list)
    false_negatives: list[FalseNegative] = field(default_factory=list)


def resolve(rows: Iterable[Row], observed: Mapping[str, Observation], policy: Policy) -> Resolution:
    """Decide what is built.

    Parameters
    ----------
    observed
        Image id -> the observation that says what became of it; an image that is absent is pending.
    """
    usable = {
        image_id: seen
        for image_id, seen in observed.items()
        if IDENTITY in seen.digests and is_accepted(seen.outcome, accept=policy.accept, locked=policy.locked)
    }
    built: list[Row] = []
    dropped: list[Dropped] = []
    log = _Log()
    for row in rows:
        result = (
            _resolve_question(row, usable, observed)
            if isinstance(row, Question)
            else _resolve_row(row, usable, observed, policy, log)
        )
        if isinstance(result, Dropped):
            dropped.append(result)
        else:
            built.append(result)
    return Resolution(tuple(built), tuple(dropped), tuple(log.substitutions), tuple(log.false_negatives))


def _resolve_question(
    row: Question, usable: Mapping[str, Observation], observed: Mapping[str, Observation]
) -> Question | Dropped:
    """A question is asked with all of its pictures or not at all."""
    missing = next((image_id for image_id in row.images if image_id not in usable), None)
    return row if missing is None else Dropped(row.id, f"image {missing} is {_state(missing, observed)}")


def _resolve_row(
    row: Instance,
    usable: Mapping[str, Observation],
    observed: Mapping[str, Observation],
    policy: Policy,
    log: _Log,
) -> Instance | Dropped:
    if row.gold not in usable:
        return Dropped(row.id, f"gold {row.gold} is {_state(row.gold, observed)}")
    gold = usable[row.gold]
    spares = _usable_spares(row, usable, gold)
    candidates: list[Candidate] = []
    substitutions: list[Substitution] = []
    for place, candidate in enumerate(row.candidates):
        why = None
        if candidate.image_id not in usable:
            why = _state(candidate.image_id, observed)
            if policy.on_missing != "substitute":
                return Dropped(row.id, f"negative {candidate.image_id} is {why}")
        elif place != row.label:
            same = _same_picture(gold, usable[candidate.image_id])
            alike = same or _looks_alike(gold, usable[candidate.image_id])
            if alike is not None:
                log.false_negatives.append(FalseNegative(row.id, candidate.image_id, alike))
                # A set without spares is given as it is.
                if policy.false_negatives == "substitute" and row.spares:
                    why = same
        if why is None:
            candidates.append(candidate)
            continue
        spare = next(spares, None)
        if spare is None:
            return Dropped(row.id, f"negative {candidate.image_id} is {why}, and no spare is left")
        candidates.append(spare)
        substitutions.append(Substitution(row.id, place, candidate.image_id, spare.image_id, why))
    log.substitutions.extend(substitutions)
    used = {candidate.image_id for candidate in candidates}
    left = tuple(spare for spare in row.spares if spare.image_id not in used)
    return replace(row, candidates=tuple(candidates), spares=left) if substitutions else row


def _usable_spares(row: Instance, usable: Mapping[str, Observation], gold: Observation) -> Iterator[Candidate]:
    for spare in row.spares:
        if spare.image_id in usable and _same_picture(gold, usable[spare.image_id]) is None:
            yield spare


def _same_picture(gold: Observation, other: Observation) -> str | None:
    if gold.digests[IDENTITY] == other.digests[IDENTITY]:
        return "equal bytes to the gold's"
    if gold.pixels and other.pixels and gold.pixels["sha256"] == other.pixels["sha256"]:
        return "equal pixels to the gold's"
    return None


def _looks_alike(gold: Observation, other: Observation) -> str | None:
    """Whether a photograph can be taken for the gold; of drawings a likeness does not tell."""
    if gold.likeness is None or other.likeness is None or not {gold.format, other.format} <= _PHOTOGRAPHS:
        return None
    known, found = Likeness(**gold.likeness), Likeness(**other.likeness)
    if not is_similar(known, found):
        return None
    bits, colour = distance(known, found)
    return f"looks like the gold: {bits} of 64 bits and {colour} of 255 colour steps apart"


def _state(image_id: str, observed: Mapping[str, Observation]) -> str:
    seen = observed.get(image_id)
    return (seen.outcome if seen else Outcome.PENDING).value
