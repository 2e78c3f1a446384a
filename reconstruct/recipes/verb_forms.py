"""Forms of VerSe's verbs: where a text holds them, and the text with a placeholder in their stead."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.table import parse_table

TABLE = Path(__file__).parents[1] / "sage" / "verb_forms.tsv"

WHOLE_WORDS, DERIVED_WORDS = "whole-words", "derived-words"

DO = "do"
"""The placeholder that is inflected as the verb was."""
DOES, DID, DOING, DONE = "does", "did", "doing", "done"
INFLECTIONS = frozenset({DO, DOES, DID, DOING, DONE})

# A digit or an underscore beside a form leaves it a word to a reader, so words are runs of letters.
WORD = re.compile(r"[^\W\d_]+")
_VOWELS = re.compile(r"[aeiouy]+")

_ENDING = r"(?:ful)?(?:ness(?:es)?|ly)?s?"
_INFLECTED = rf"(?:ed|ing){_ENDING}"
_OF_LONG_VERBS = r"(?:ers?|able|ances?)"

_HEAD = 2
"""Letters in which every word that is derived from a form agrees with it."""


class _Letters(dict[int, int]):
    """For `str.translate`: a letter as it is, anything else as a blank."""

    def __missing__(self, code: int) -> int:
        self[code] = code if WORD.fullmatch(chr(code)) else ord(" ")
        return self[code]


_LETTERS = _Letters()


def words_of(text: str) -> list[str]:
    """The words of a text, in order; many times as fast as matching them one by one."""
    return text.translate(_LETTERS).split()


@dataclass(frozen=True)
class Verb:
    """A verb's forms, in lower case, each with the form of `do` that is inflected alike."""

    lemma: str
    forms: dict[str, str]

    def is_form(self, word: str) -> bool:
        """Whether a word is a form, in any case."""
        return word.casefold() in self.forms

    def is_derived(self, word: str) -> bool:
        """Whether a word is no form, but made of one and an ending that keeps its meaning (paintings, layed)."""
        return not self.is_form(word) and self._derivations.fullmatch(word.casefold()) is not None

    def like(self, word: str) -> str:
        """The form of `do` for a form or a derived word, in its case."""
        folded = word.casefold()
        endings = (("ing", DOING), ("ings", DOING), ("ed", DONE), ("s", DOES))
        do = self.forms.get(folded) or next((each for ending, each in endings if folded.endswith(ending)), DO)
        if len(word) > 1 and word.isupper():
            return do.upper()
        return do.capitalize() if word[0].isupper() else do

    @cached_property
    def _derivations(self) -> re.Pattern[str]:
        found = []
        for form in self.forms:
            last = form[-1]
            found.append(f"{form}{_ENDING}")
            if form != self.lemma and last == "s":
                # Cleansed is no form of clean.
                continue
            # Doubled consonants and dropped letters, whether or not spelling wants them: captions have both.
            found.append(f"{form}{last}?{_INFLECTED}")
            if last == "e":
                found.append(f"{form[:-1]}{form[-2]}?{_INFLECTED}")
        if len(_VOWELS.findall(self.lemma.removesuffix("e"))) > 1:
            # Stemmers take these for forms where the verb has several syllables.
            found.append(f"{self.lemma}{_OF_LONG_VERBS}")
        return re.compile("|".join(found))


class VerbForms:
    """The table of verb forms: lemma, form, the form of `do` that is inflected alike, and a note, a line.

    Raises
    ------
    InputError
        Not the table, or a word that is no form of `do`.
    """

    def __init__(self, source: Source) -> None:
        self._where = source.where
        forms: dict[str, dict[str, str]] = defaultdict(dict)
        for row in parse_table(source.data, source.where, columns=("lemma", "form", "do")).rows:
            where = f"{source.where}, line {row.line}"
            if row["do"] not in INFLECTIONS:
                raise InputError("no form of do", where=where, expected=", ".join(sorted(INFLECTIONS)), got=row["do"])
            if len(row["form"]) <= _HEAD or not WORD.fullmatch(row["form"]):
                raise InputError("no form of a verb", where=where, expected="three letters or more", got=row["form"])
            forms[row["lemma"]][row["form"].casefold()] = row["do"]
        self._verbs = {lemma: Verb(lemma, each) for lemma, each in forms.items()}
        self._by_head: dict[str, list[Verb]] = defaultdict(list)
        for verb in self._verbs.values():
            for head in sorted({form[:_HEAD] for form in verb.forms}):
                self._by_head[head].append(verb)

    def verb(self, lemma: str) -> Verb:
        """The verb of that lemma.

        Raises
        ------
        InputError
            The table does not hold it.
        """
        try:
            return self._verbs[lemma]
        except KeyError:
            raise InputError(
                "a verb that the table of verb forms does not hold",
                where=self._where,
                expected=f"one of its {len(self._verbs)} verbs",
                got=lemma,
                todo="give a table with the verb and all its forms with --source verb-forms=PATH",
            ) from None

    def verbs_of(self, word: str) -> list[str]:
        """Lemmas of which a word is a form or derived."""
        found = self._by_head.get(word.casefold()[:_HEAD], ())
        return [verb.lemma for verb in found if verb.is_form(word) or verb.is_derived(word)]

    def places(self, text: str, lemma: str) -> list[tuple[int, int]]:
        """Spans [start, end) in characters of the verb's forms in a text, in order.

        A form counts as a whole word, in any case, also as a noun and as a part of a hyphenated compound;
        letters inside another word (play in player) do not.

        Raises
        ------
        InputError
            The table does not hold the verb.
        """
        verb = self.verb(lemma)
        return [found.span() for found in WORD.finditer(text) if verb.is_form(found[0])]

    def neutralized(self, text: str, lemma: str, placeholder: str) -> tuple[str, list[tuple[int, int]], str]:
        """A text without forms of the verb.

        The rules, in their order; the first that leaves nothing of the verb is used, and the last always does.

        1. `whole-words`: every form in the table is replaced.
        2. `derived-words`: so are words made of a form and an ending that keeps its meaning (shots, paintings,
           playful, performer), misspelt forms among them (layed, runing). Agents of short verbs (player) stay.

        Parameters
        ----------
        placeholder
            Stands for the verb. `do` is inflected as the form is, in its case (Doing, done); any other text
            stands as it is.

        Returns
        -------
        text, spans, rule
            The new text, the spans [start, end) of its placeholders in characters, and the rule that was used.

        Raises
        ------
        InputError
            The table does not hold the verb, or the placeholder holds a form of it.
        """
        verb = self.verb(lemma)
        words = INFLECTIONS if placeholder == DO else WORD.findall(placeholder)
        if any(verb.is_form(word) or verb.is_derived(word) for word in words):
            raise InputError("the placeholder holds the verb", expected=f"no form of {lemma}", got=placeholder)
        stand_in = verb.like if placeholder == DO else lambda _: placeholder
        if any(verb.is_derived(word) for word in WORD.findall(text)):
            return *_replaced(text, lambda word: verb.is_form(word) or verb.is_derived(word), stand_in), DERIVED_WORDS
        return *_replaced(text, verb.is_form, stand_in), WHOLE_WORDS


@cache
def reviewed() -> VerbForms:
    """The table that this package ships: VerSe's 90 verbs, made and tested with lemminflect, exceptions by hand."""
    return VerbForms(Source("verb-forms", str(TABLE), TABLE.read_bytes()))


def _replaced(
    text: str, is_replaced: Callable[[str], bool], stand_in: Callable[[str], str]
) -> tuple[str, list[tuple[int, int]]]:
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = done = 0
    for found in WORD.finditer(text):
        if not is_replaced(found[0]):
            continue
        before, word = text[done : found.start()], stand_in(found[0])
        start = length + len(before)
        length, done = start + len(word), found.end()
        pieces += [before, word]
        spans.append((start, length))
    return "".join([*pieces, text[done:]]), spans
