"""A KOFFVQA judge's text to its score, by the published parser's rule and with care.

The judge is asked to end with `최종 점수: 10점 만점에 X점`. The published parser (maum-ai/KOFFVQA, src/utils.py) takes
the last digits of the last word that has any, and 0 where they are over 10 or there are none. The careful
reading takes what the text states as its final score, and nothing where it states none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.score_phrase import MOST
from hannun.evaluation.stated_score import stated_score
from hannun.evaluation.thinking import without_thinking


@dataclass(frozen=True)
class Reading:
    """What a judge's text says.

    `published` is the published parser's value, `careful` the score that the text states or None. Where they
    differ, or nothing is stated, `flag` says why, and `found` what was found.
    """

    published: int
    careful: int | None
    flag: Flag | None = None
    found: str | None = None


# The form that the judge is asked for, by far the most frequent: both read it alike where no tag of thinking and no
# other marker stands before it, however written.
_PLAIN_LINES = r"(?:[^A-Za-z<\[◁&\u1100-\u11ff\u200b-\u200f\u2060\ufeff\uff00-\uffef]*\n)?"
_ASKED = re.compile(rf"{_PLAIN_LINES}최종 점수: 10점 만점에 (10|[0-9])점\.?\s*")


def read_judge_text(text: str) -> Reading:
    """Read one judge's text; the published rule reads all of it, its thinking too."""
    if (asked := _ASKED.fullmatch(text)) and text.count("최종") == 1:
        return Reading(int(asked[1]), int(asked[1]))
    published = published_score(text)
    answer, unclosed = without_thinking(text)
    stated = Doubt(Flag.CUT_OFF, "its thinking does not end") if unclosed else stated_score(answer)
    if isinstance(stated, Doubt):
        return Reading(published, None, stated.flag, stated.found)
    if stated == published:
        return Reading(published, stated)
    return Reading(published, stated, Flag.REFERENCE_DIFFERS, f"stated {stated}, the published rule reads {published}")


def published_score(text: str) -> int:
    """The published parser's value: the last digits of the last word that has any; 0 where that fails."""
    for word in reversed(text.split()):
        end = next((place for place in range(len(word), 0, -1) if word[place - 1].isdigit()), 0)
        if end:
            start = end
            while start and word[start - 1].isdigit():
                start -= 1
            try:
                value = int(word[start:end])
            except ValueError:
                # ² and ⑧ are digits to it, and no numbers.
                return 0
            return value if value <= MOST else 0
    return 0
