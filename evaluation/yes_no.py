"""YES or NO by the likelihood of the first token: every spelling of each side summed, normalised over both.

SAGE (arXiv 2610.31838) reads the first position, capitalisations summed. The mass of both sides together says
whether the model answered with either at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

YES = frozenset({"yes", "예", "네"})
NO = frozenset({"no", "아니", "아니오", "아니요"})
PREFIXES = "Ġ▁ "
"""What vocabularies write for the blank before a word."""

LOW_MASS = 0.1


@dataclass(frozen=True)
class YesNo:
    """Probabilities of both sides in the model's own distribution."""

    yes: float
    no: float

    @property
    def mass(self) -> float:
        return self.yes + self.no

    @property
    def p_yes(self) -> float | None:
        """P(YES) over both sides; None where neither was seen."""
        return self.yes / self.mass if self.mass > 0 else None

    @property
    def flag(self) -> str | None:
        if self.mass == 0:
            return "no yes/no token seen"
        return "low mass" if self.mass < LOW_MASS else None

    @property
    def swapped(self) -> YesNo:
        """The answer to the opposite question."""
        return YesNo(self.no, self.yes)


def of_probabilities(table: Mapping[str, float]) -> YesNo:
    """From a table token -> probability of the next token."""
    return YesNo(_sum(table, YES), _sum(table, NO))


def of_logits(table: Mapping[str, float], normaliser: float | None = None) -> YesNo:
    """From a table token -> logit; sums of exponentials cannot overflow.

    Parameters
    ----------
    normaliser
        The log of the sum of all tokens' exponentials; that of the table where None.
    """
    highest = max(table.values(), default=0.0) if normaliser is None else normaliser
    shifted = {token: math.exp(logit - highest) for token, logit in table.items()}
    total = math.fsum(shifted.values()) if normaliser is None else 1.0
    return of_probabilities({token: each / total for token, each in shifted.items()})


def is_spelling(token: str, side: Iterable[str]) -> bool:
    """Whether a token is a whole word of a side, in any capitalisation, after a blank or not."""
    return token.lstrip(PREFIXES).casefold() in side


def _sum(table: Mapping[str, float], side: frozenset[str]) -> float:
    return math.fsum(probability for token, probability in table.items() if is_spelling(token, side))
