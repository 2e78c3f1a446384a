"""WikiDiverse's rows: a mention in a sentence, its entity, and the entities that were retrieved for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from hannun.reconstruct.archives.packed_texts import Wanted, packed_text
from hannun.reconstruct.recipes.wikidiverse_entities import Entity, entity
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import loads
from hannun.schemas.text import nfc

_LAYOUT = "[sentence, img_url, mention, type, left_ctx, right_ctx, entity_url, cands, topic, start, end]"
_FIELDS = _LAYOUT.count(",") + 1
_GIVE = "give wikidiverse_w_cands/test_w_10cands.json"
_TEST = Wanted(re.compile(r"test\w*cands\w*\.json"), "the test set with its candidates (test_w_10cands.json)")
_OTHER_SPLIT = re.compile(r"(?:train|valid|dev)(?:[_.-]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Mention:
    """A row of the file.

    `span` is [start, end) in characters of the NFC sentence, None where the mention does not stand in it;
    `linked` is None for nil; `retrieved` holds each entity once. `rule` says in which form the candidates
    are and how the mention was found.
    """

    row: int
    sentence: str
    span: tuple[int, int] | None
    linked: Entity | None
    retrieved: tuple[Entity, ...]
    rule: str


def read_mentions(source: Source) -> list[Mention]:
    """All rows of `test_w_10cands.json`, or of the archive that holds it, in the file's order.

    Raises
    ------
    InputError
        Not JSON, a row of another layout, or another split by its name; the message names file and row.
    """
    text, where = packed_text(source.data, source.where, _TEST)
    if _OTHER_SPLIT.match(PurePath(where).name):
        raise InputError("another split, by its name", where=where, expected="the test set", todo=_GIVE)
    rows = loads(text, where)
    if not isinstance(rows, list):
        raise InputError(
            "not WikiDiverse's candidates", where=where, expected="a list of rows", got=type(rows).__name__, todo=_GIVE
        )
    return [_mention(number, row, f"{where}, row {number}") for number, row in enumerate(rows)]


def _mention(number: int, row: Any, where: str) -> Mention:
    if not isinstance(row, list) or len(row) != _FIELDS:
        got = f"{len(row)} fields" if isinstance(row, list) else type(row).__name__
        raise InputError(
            "not a row of WikiDiverse's candidates",
            where=where,
            expected=_LAYOUT,
            got=got,
            todo=_GIVE,
        )
    sentence, _, mention, _, _, _, linked, candidates, _, start, end = row
    for name, value in (("sentence", sentence), ("mention", mention), ("entity_url", "" if linked is None else linked)):
        if not isinstance(value, str):
            raise InputError(f"{name} is no text", where=where, expected=_LAYOUT, got=repr(value)[:80], todo=_GIVE)
    form, names = _names(candidates, where)
    retrieved = {each.key: each for each in map(entity, reversed(names)) if each is not None}
    span, found = _span(sentence, mention, start, end)
    return Mention(
        row=number,
        sentence=nfc(sentence),
        span=span,
        linked=entity(linked or ""),
        retrieved=tuple(reversed(retrieved.values())),
        rule=f"candidates: {form}; mention: {found}",
    )


def _names(candidates: Any, where: str) -> tuple[str, list[str]]:
    """The form in which a row holds its candidates, and their names."""
    if candidates is None or candidates in ([], ""):
        return "none", []
    if isinstance(candidates, str) and candidates.lstrip()[:1] not in ("[", "{"):
        return "names separated by tabs", candidates.split("\t")
    if isinstance(candidates, list):
        if all(isinstance(each, str) for each in candidates):
            return "list of names", candidates
        if all(_is_scored(each) for each in candidates):
            return "list of names and scores", [name for name, _ in candidates]
    raise InputError(
        "candidates in a form that is not known",
        where=where,
        expected="a list of names, a list of [name, score], or names separated by tabs",
        got=repr(candidates)[:120],
        todo=f"{_GIVE} as published",
    )


def _is_scored(candidate: Any) -> bool:
    return (
        isinstance(candidate, list)
        and len(candidate) == 2
        and isinstance(candidate[0], str)
        and isinstance(candidate[1], int | float)
        and not isinstance(candidate[1], bool)
    )


def _span(sentence: str, mention: str, start: Any, end: Any) -> tuple[tuple[int, int] | None, str]:
    """Where the mention stands in the NFC sentence, and how it was found."""
    wanted, whole = nfc(mention).strip(), nfc(sentence)
    if not wanted:
        return None, "empty"
    places = type(start) is int and type(end) is int and 0 <= start < end <= len(sentence)
    if places:
        # The file counts characters of the sentence as it is written there.
        before = nfc(sentence[:start])
        if nfc(sentence[start:end]) == wanted and whole.startswith(before + wanted):
            return (len(before), len(before) + len(wanted)), "at its place"
    near = start if places else 0
    for pattern in (rf"(?<!\w){re.escape(wanted)}(?!\w)", re.escape(wanted)):
        for flags in (0, re.IGNORECASE):
            spans = [each.span() for each in re.finditer(pattern, whole, flags)]
            if spans:
                return _nearest(spans, near), "found in its sentence"
    return None, "not in its sentence"


def _nearest(spans: Sequence[tuple[int, int]], place: int) -> tuple[int, int]:
    return min(spans, key=lambda span: (abs(span[0] - place), span))
