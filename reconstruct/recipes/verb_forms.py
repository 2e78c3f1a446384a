"""Forms of VerSe's verbs: where a text holds them, and the text with a placeholder in their stead."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hannun.schemas.errors import InputError
from hannun.schemas.table import parse_table

TABLE = Path(__file__).parents[1] / "sage" / "verb_forms.tsv"

WHOLE_WORDS, DERIVED_WORDS = "whole-words", "derived-words"

# A digit or an underscore beside a form leaves it a word to a reader, so only letters bound it.
_LETTER = r"[^\W\d_]"
_VOWELS = re.compile(r"[aeiouy]+")

_ENDING = r"(?:ful)?(?:ness(?:es)?|ly)?s?"
_INFLECTED = rf"(?:ed|ing){_ENDING}"
_OF_LONG_VERBS = r"(?:ers?|able|ances?)"


def forms_of(lemma: str) -> frozenset[str]:
    """All forms of a verb of VerSe, in lower case, itself among them.

    Raises
    ------
    InputError
        The table of verb forms does not hold the verb.
    """
    try:
        return _table()[lemma]
    except KeyError:
        raise InputError(
            "a verb that the table of verb forms does not hold",
            where=str(TABLE),
            expected=f"one of VerSe's {len(_table())} verbs",
            got=lemma,
            todo="enter the verb and all its forms in the table",
        ) from None


def places(text: str, lemma: str) -> list[tuple[int, int]]:
    """Spans [start, end) in characters of the verb's forms in a text, in order.

    A form counts as a whole word, in any case, also as a noun and as a part of a hyphenated compound;
    letters inside another word (play in player) do not.

    Raises
    ------
    InputError
        The table of verb forms does not hold the verb.
    """
    return [found.span() for found in _whole_words(lemma).finditer(text)]


def neutralized(text: str, lemma: str, placeholder: str) -> tuple[str, list[tuple[int, int]], str]:
    """A text without forms of the verb.

    The rules, in their order; the first that leaves nothing of the verb is used, and the last always does.

    1. `whole-words`: every form in the table is replaced.
    2. `derived-words`: so are words made of a form and an ending that keeps its meaning (shots, paintings,
       playful, performer), misspelt forms among them (layed, runing). Agents of short verbs (player) stay.

    Parameters
    ----------
    placeholder
        Stands for the verb, as it is, whatever the verb's case.

    Returns
    -------
    text, spans, rule
        The new text, the spans [start, end) of its placeholders in characters, and the rule that was used.

    Raises
    ------
    InputError
        The table of verb forms does not hold the verb, or the placeholder holds a form of it.
    """
    whole, derived = _whole_words(lemma), _derived_words(lemma)
    if whole.search(placeholder) or derived.search(placeholder):
        raise InputError("the placeholder holds the verb", expected=f"no form of {lemma}", got=placeholder)
    if derived.search(text):
        return *_replaced(text, _either(lemma), placeholder), DERIVED_WORDS
    return *_replaced(text, whole, placeholder), WHOLE_WORDS


def _replaced(text: str, pattern: re.Pattern[str], placeholder: str) -> tuple[str, list[tuple[int, int]]]:
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = done = 0
    for found in pattern.finditer(text):
        before = text[done : found.start()]
        start = length + len(before)
        length, done = start + len(placeholder), found.end()
        pieces += [before, placeholder]
        spans.append((start, length))
    return "".join([*pieces, text[done:]]), spans


@cache
def _table() -> dict[str, frozenset[str]]:
    forms: dict[str, set[str]] = defaultdict(set)
    for row in parse_table(TABLE.read_bytes(), str(TABLE), columns=("lemma", "form", "note")).rows:
        forms[row["lemma"]].add(row["form"])
    return {lemma: frozenset(each) for lemma, each in forms.items()}


@cache
def _whole_words(lemma: str) -> re.Pattern[str]:
    return _words(map(re.escape, forms_of(lemma)))


@cache
def _derived_words(lemma: str) -> re.Pattern[str]:
    """Words of a form and an ending that are not forms themselves."""
    return _words(_derivations(lemma), but=forms_of(lemma))


@cache
def _either(lemma: str) -> re.Pattern[str]:
    return _words([*map(re.escape, forms_of(lemma)), *_derivations(lemma)])


def _derivations(lemma: str) -> list[str]:
    found = []
    for form in forms_of(lemma):
        last = form[-1]
        found.append(f"{form}{_ENDING}")
        if form != lemma and last == "s":
            # Cleansed is no form of clean.
            continue
        # Doubled consonants and dropped letters, whether or not spelling wants them: captions have both.
        found.append(f"{form}{last}?{_INFLECTED}")
        if last == "e":
            found.append(f"{form[:-1]}{form[-2]}?{_INFLECTED}")
    if len(_VOWELS.findall(lemma.removesuffix("e"))) > 1:
        # Stemmers take these for forms where the verb has several syllables.
        found.append(f"{lemma}{_OF_LONG_VERBS}")
    return found


def _words(patterns: Iterable[str], but: Iterable[str] = ()) -> re.Pattern[str]:
    barred = "|".join(map(re.escape, sorted(but)))
    unless = f"(?!(?:{barred})(?!{_LETTER}))" if barred else ""
    return re.compile(f"(?<!{_LETTER}){unless}(?:{'|'.join(sorted(patterns))})(?!{_LETTER})", re.IGNORECASE)
