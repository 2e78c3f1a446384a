"""Doubts: what is to be said of a row, in a few fixed words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Flag(StrEnum):
    """What is to be said of a judge's text, of an answer, or of a ranking."""

    NO_SCORE = "no-score"
    JUDGE_ERROR = "judge-error"
    MISSING = "missing"
    CUT_OFF = "cut-off"
    IN_WORDS = "score-in-words"
    ODD_DIGIT = "odd digit"
    NOT_AN_INTEGER = "not-an-integer"
    NOT_A_HALF = "not-a-half"
    OUT_OF_RANGE = "out-of-range"
    OTHER_MAXIMUM = "other-maximum"
    BARE_NUMBER = "bare-number"
    TWO_SCORES = "two scores"
    REFERENCE_DIFFERS = "reference-differs"
    NOT_KOREAN = "not Korean"
    EMPTY_ANSWER = "empty answer"
    LANGUAGE_IN_DOUBT = "language in doubt"
    TIE = "tie"


@dataclass(frozen=True)
class Doubt:
    """Why no score is taken, and what was found in its place."""

    flag: Flag
    found: str | None = None
