"""A model's text to its integer from 0 to 100, as SAGE asks closed models for (arXiv 2610.31838)."""

from __future__ import annotations

import re

from hannun.evaluation.plain_text import number_of, plain, without_markup
from hannun.evaluation.thinking import without_thinking

MOST = 100
UNREADABLE = -1
"""Where no integer is stated: below every stated one."""

_NUMBER = re.compile(r"(?<![\d.,])[-+]?\d+(?:[.,]\d+)*")
_OF_MOST = re.compile(
    r"(?P<score>\d+)\s*(?:/|out\s+of|of)\s*100\b|100점\s*(?:만점에|중에?)\s*(?P<points>\d+)", re.IGNORECASE
)


def integer_score(text: str) -> int | None:
    """The one integer from 0 to 100 that a text states; None where it states none, several, or something else.

    Examples
    --------
    >>> integer_score("<think>40 or 50?</think>**85**"), integer_score("85/100"), integer_score("between 40 and 60")
    (85, 85, None)
    """
    answer, unclosed = without_thinking(text)
    if unclosed:
        return None
    read = without_markup(plain(answer))
    if stated := list(_OF_MOST.finditer(read)):
        values = {each["score"] or each["points"] for each in stated}
    else:
        values = set(_NUMBER.findall(read))
    if len(values) != 1:
        return None
    number = number_of(values.pop())
    if number is None or number.denominator != 1 or not 0 <= number <= MOST:
        return None
    return int(number)
