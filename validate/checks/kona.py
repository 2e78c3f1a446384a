"""Checks of KoNA's own rules: the noun, its particles, and what each candidate's picture stands for."""

from __future__ import annotations

import importlib.util
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from hannun.reconstruct.recipes.kona_tables import PLACEHOLDER, WORDINGS, Tables, read_tables
from hannun.reconstruct.source import open_sources
from hannun.schemas import catalogue
from hannun.schemas.instance import config_of
from hannun.schemas.invariants import image_id_of
from hannun.schemas.korean import wrong_particle
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import Row

_TABLES = ("kona-senses", "kona-queries", "kona-depictions", "kona-confusables")
_READ_AS = PLACEHOLDER.strip("[]")


class Checks:
    """Checks rows of KoNA one by one, and at the end what they break together."""

    def __init__(self, recipe: Mapping[str, Any]) -> None:
        self._tables = _tables_of(recipe)
        self._wordings: dict[str, set[str]] = defaultdict(set)
        self._senses: dict[str, tuple[str, Place]] = {}
        self._contexts: dict[str, dict[str, str]] = defaultdict(dict)

    @property
    def unchecked(self) -> Iterator[Unchecked]:
        """What these checks could not look at here."""
        if not _can_analyse():
            yield Unchecked("that the noun is a noun, and gone where it is masked", "pip install 'hannun[kona]'")
        if self._tables is None:
            yield Unchecked("candidates against the depictions table", "built from other tables than this hannun's")

    def check(self, row: Row) -> Iterator[Finding]:
        """Findings about one row; fields that are absent or of another type are the schema's task."""
        values = row.values
        source, context, span = values.get("source"), values.get("context"), values.get("target_span")
        named = isinstance(source, Mapping) and all(isinstance(source.get(k), str) for k in ("item", "noun", "sense"))
        if not named or not isinstance(values.get("id"), str) or values["id"].count("/") != 2:
            return
        assert isinstance(source, Mapping)
        wording = config_of(values["id"]).partition("-")[0]
        self._wordings[source["item"]].add(wording)
        self._senses.setdefault(source["item"], (source["sense"], row.place))
        if isinstance(context, str) and isinstance(span, list) and len(span) == 2:
            self._contexts[source["item"]][wording] = context
            yield from self._check_text(row, wording, source["noun"], context, span)
        if self._tables is not None and isinstance(values.get("candidates"), list):
            yield from _check_pictures(row, self._tables, source["noun"], source["sense"])

    def finish(self) -> Iterator[Finding]:
        """Findings about all rows together: wordings that are missing, senses that are not balanced."""
        for item, found in self._wordings.items():
            missing = [each for each in WORDINGS if each not in found]
            if missing:
                place = self._senses[item][1]
                message = f"{item} has no {' and no '.join(missing)} wording"
                yield finding("kona-wordings", place, message, expected=", ".join(WORDINGS), found=", ".join(found))
        counts = Counter(sense for sense, _ in self._senses.values())
        for sense, count in counts.items():
            if count < 2:
                place = next(place for each, place in self._senses.values() if each == sense)
                message = f"sense {sense} has one query"
                yield finding("kona-balance", place, message, expected="two or more", found=str(count))

    def _check_text(self, row: Row, wording: str, noun: str, context: str, span: list[Any]) -> Iterator[Finding]:
        masked = wording == "neutralized"
        word = PLACEHOLDER if masked else noun
        if row.values.get("target") != word:
            yield finding(
                "kona-target", row.at("target"), "another target", expected=word, found=str(row.values.get("target"))
            )
            return
        ends = [span[1]] if not masked else [each + len(word) for each in _places(context, word)]
        for end in ends:
            wrong = wrong_particle(_READ_AS if masked else noun, context[end:])
            if wrong:
                expected, found = wrong
                message = f"a particle does not follow the sound of {_READ_AS if masked else noun}"
                yield finding("kona-particle", row.at("context"), message, expected=expected, found=found)
        if masked and len(noun) > 1 and noun in context.replace(PLACEHOLDER, " "):
            yield finding("kona-noun-left", row.at("context"), f"{noun} is still there", found=context)
        elif _can_analyse():
            yield from _check_noun(row, noun, context, span, masked=masked)


def _check_noun(row: Row, noun: str, context: str, span: list[Any], *, masked: bool) -> Iterator[Finding]:
    # The placeholder is read as the word that it is named after; the analyser takes brackets for a break.
    tokens = _tokens(context.replace(PLACEHOLDER, _READ_AS))
    nouns = [token for token in tokens if token.tag.startswith("N")]
    if masked:
        if any(token.form == noun for token in nouns):
            yield finding("kona-noun-left", row.at("context"), f"{noun} is still there", found=context)
    elif not any([token.start, token.end] == span for token in nouns):
        covering = [token for token in tokens if token.start < span[1] and token.end > span[0]]
        found = " ".join(f"{token.form}/{token.tag}" for token in covering)
        yield finding("kona-noun", row.at("context"), f"{noun} is not read as a noun", expected=noun, found=found)


def _can_analyse() -> bool:
    return importlib.util.find_spec("kiwipiepy") is not None


@cache
def _analyser() -> Any:
    import kiwipiepy

    # Its model takes a second to load.
    return kiwipiepy.Kiwi()


@lru_cache(maxsize=4096)
def _tokens(text: str) -> list[Any]:
    tokens: list[Any] = _analyser().tokenize(text)
    return tokens


def _check_pictures(row: Row, tables: Tables, noun: str, sense: str) -> Iterator[Finding]:
    """Findings where the gold does not show the sense, another candidate does, or a kind is not what it says."""
    cells = [c for c in row.values["candidates"] if isinstance(c, Mapping)]
    gold = next((_key(c) for c in cells if c.get("kind") == "gold"), None)
    of_noun = tables.senses_of(noun)
    if sense not in of_noun:
        yield finding("kona-sense", row.at("source"), f"{sense} is no sense of {noun}", found=sense)
        return
    for cell in [*cells, *(c for c in row.values.get("spares") or () if isinstance(c, Mapping))]:
        key, kind = _key(cell), cell.get("kind")
        picture = tables.pictures.get(key)
        at = row.at("candidates")
        if picture is None:
            yield finding("kona-picture", at, f"{key} is not in the depictions table", found=key)
        elif kind == "gold":
            if sense not in picture.shows:
                yield finding("kona-gold", at, f"{key} does not show {sense}", found=" ".join(sorted(picture.shows)))
        elif sense in picture.fits:
            yield finding("kona-also-fits", at, f"{key} can stand for {sense} too", found=key)
        elif gold is not None and key in tables.confusable.get(gold, ()):
            yield finding("kona-confusable", at, f"{key} can be taken for the gold {gold}", found=key)
        else:
            shows_other = bool(picture.shows & of_noun)
            of_gold = tables.pictures.get(gold or "")
            same_kind = of_gold is not None and of_gold.kind == picture.kind
            right = "hard" if shows_other else "near" if same_kind else "random"
            fits_other = bool(picture.fits & of_noun)
            if kind != right or (fits_other and kind != "hard"):
                why = f"{key} can stand for another sense of {noun}" if fits_other else f"{key} is not {kind}"
                yield finding("kona-kind", at, why, expected=right, found=str(kind))


def _tables_of(recipe: Mapping[str, Any]) -> Tables | None:
    """The tables that hannun ships, where the recipe was made from these very ones."""
    entries = catalogue.benchmark("kona").sources
    sources = open_sources({name: entries[name] for name in _TABLES}, {})
    used = {each["name"]: each["digest"] for each in recipe["sources"]}
    if any(used.get(name) != source.digest for name, source in sources.items()):
        return None
    return read_tables(sources)


def _key(candidate: Mapping[str, Any]) -> str:
    return str(image_id_of(candidate)).partition(":")[2]


def _places(text: str, word: str) -> Iterator[int]:
    start = text.find(word)
    while start >= 0:
        yield start
        start = text.find(word, start + 1)
