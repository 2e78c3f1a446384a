"""Which tokens of a vocabulary say yes or no in the first place of an answer.

SAGE (arXiv 2610.31838) sums the variants of capitalisation; tokens with a blank before them count too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hannun.evaluation.yes_no import is_spelling
from hannun.schemas.errors import InputError

_SIDES = {"en": (("yes",), ("no",)), "ko": (("예", "네"), ("아니오", "아니요", "아니"))}
"""By language: words of yes and of no."""


@dataclass(frozen=True)
class YesNoTokens:
    """Token ids of both sides; `partial` names the sides of which only the beginning of a word is a token."""

    yes: tuple[int, ...]
    no: tuple[int, ...]
    partial: tuple[str, ...] = ()


def yes_no_tokens(vocabulary: Sequence[str], encode: Callable[[str], Sequence[int]], language: str) -> YesNoTokens:
    """The tokens that say yes and no.

    Where a vocabulary writes a side in pieces only, the first piece stands for it.

    Parameters
    ----------
    vocabulary
        Text of every token by its id, decoded alone.
    encode
        Text to token ids, without tokens that begin or end a text.
    language
        `ko`, or any other for English.

    Raises
    ------
    InputError
        Both sides begin with the same piece: their likelihoods cannot be told apart.
    """
    words = _SIDES.get(language, _SIDES["en"])
    ids = [_whole(vocabulary, side) for side in words]
    partial = tuple(name for name, found in zip(("yes", "no"), ids, strict=True) if not found)
    yes, no = (found or _first_pieces(encode, side) for found, side in zip(ids, words, strict=True))
    if not yes or not no or yes & no:
        raise InputError(
            "the model's vocabulary does not tell yes from no by the first token",
            expected=f"a token that begins {words[0][0]!r}, and another that begins {words[1][0]!r}",
            got=", ".join(repr(vocabulary[each]) for each in sorted(yes & no)) or "none",
            todo="rank with another model, or through an endpoint: --endpoint",
        )
    return YesNoTokens(tuple(sorted(yes)), tuple(sorted(no)), partial)


def _whole(vocabulary: Sequence[str], side: Sequence[str]) -> set[int]:
    return {token_id for token_id, text in enumerate(vocabulary) if is_spelling(text, side)}


def _first_pieces(encode: Callable[[str], Sequence[int]], side: Sequence[str]) -> set[int]:
    spellings = {form for word in side for form in (word, word.capitalize(), word.upper())}
    return {ids[0] for form in spellings if (ids := encode(form))}
