"""Checks of SAGE's neutralized verbs: nothing that a model sees holds a form of the verb."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hannun.reconstruct.recipes.sage_verse import NEUTRALIZED, PLACEHOLDER
from hannun.reconstruct.recipes.verb_forms import DO, INFLECTIONS, WORD, reviewed
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.validate.finding import Finding, Unchecked, finding
from hannun.validate.reader import Row


class Checks:
    """Checks neutralized rows by the table of verb forms and by a stemmer that knows nothing of it."""

    def __init__(self, recipe: Mapping[str, Any]) -> None:
        self._unknown: set[str] = set()
        placeholder = recipe.get("options", {}).get("verse.placeholder", PLACEHOLDER)
        self._targets = INFLECTIONS if placeholder == DO else {placeholder}

    @property
    def unchecked(self) -> Iterator[Unchecked]:
        """What these checks could not look at here."""
        if not _can_stem():
            yield Unchecked("by a stemmer that the masked verbs are gone", "pip install 'hannun[sage]'")
        if self._unknown:
            verbs = ", ".join(sorted(self._unknown))
            yield Unchecked(f"that the masked verbs are gone: {verbs}", "the table of verb forms does not hold them")

    def check(self, row: Row) -> Iterator[Finding]:
        """Findings about one row; fields that are absent or of another type are the schema's task."""
        values = row.values
        source, row_id = values.get("source"), values.get("id")
        if not isinstance(row_id, str) or row_id.count("/") != 2 or config_of(row_id) != NEUTRALIZED:
            return
        if not isinstance(source, Mapping) or not isinstance(source.get("lemma"), str):
            return
        target = values.get("target")
        if isinstance(target, str) and not {target, target.lower()} & self._targets:
            expected = " or ".join(sorted(self._targets))
            yield finding("sage-placeholder", row.at("target"), "another target", expected=expected, found=target)
        for field in ("context", "target"):
            text = values.get(field)
            if isinstance(text, str):
                left = self._left(text, source["lemma"])
                if left:
                    message = f"a form of {source['lemma']} is still there: {', '.join(left)}"
                    yield finding("sage-verb-left", row.at(field), message, found=text)

    def finish(self) -> Iterator[Finding]:
        """No findings: every row stands for itself."""
        yield from ()

    def _left(self, text: str, lemma: str) -> list[str]:
        """Words of a text that the table or the stemmer takes for the verb."""
        try:
            by_table = [text[start:end] for start, end in reviewed().places(text, lemma)]
        except InputError:
            self._unknown.add(lemma)
            return []
        by_stem = [word for word in WORD.findall(text) if _stem(word) in _stems_of(lemma)] if _can_stem() else []
        return list(dict.fromkeys([*by_table, *by_stem]))


def _can_stem() -> bool:
    return importlib.util.find_spec("snowballstemmer") is not None


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word.lower()))


@cache
def _stems_of(lemma: str) -> frozenset[str]:
    """Stems of all forms: a stemmer does not lead an irregular one (threw) to its verb."""
    return frozenset(map(_stem, reviewed().verb(lemma).forms))
