"""A HAERAE-Vision judge's text to its score: `<score>K/N</score>`, K points of a checklist of N criteria.

A criterion earns 0, 0.5 or 1 (arXiv 2601.06165). The published parser (HAE-RAE/HAERAE-VISION, score.py, which
imports it from a file that was left out there and stands in guijinSON/haerae-bench-vision, utils/evaluate.py) takes
the one tag that holds K/N, or a number alone as it is; it looks neither at the range nor at the checklist, and fails
on two such tags.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from fractions import Fraction

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.plain_text import ODD, number_of, plain, without_markup
from hannun.evaluation.thinking import without_thinking


@dataclass(frozen=True)
class TagReading:
    """What a judge's text says.

    `published` is the published parser's value, which may leave [0, 1], or None where it fails; `careful` the
    share of the checklist that is met, or None. Where they differ, or nothing is stated, `flag` says why.
    """

    published: float | None
    careful: float | None
    flag: Flag | None = None
    found: str | None = None


def read_score_tag(text: str, criteria: int | None) -> TagReading:
    """Read one judge's text.

    Parameters
    ----------
    criteria
        Number of criteria in the row's checklist; None where the row is not at hand.
    """
    published = published_share(text)
    answer, unclosed = without_thinking(html.unescape(text))
    stated = Doubt(Flag.CUT_OFF, "its thinking does not end") if unclosed else _stated(plain(answer), criteria)
    if isinstance(stated, Doubt):
        return TagReading(published, None, stated.flag, stated.found)
    if stated == published:
        return TagReading(published, stated)
    said = "fails" if published is None else f"reads {published:g}"
    return TagReading(published, stated, Flag.REFERENCE_DIFFERS, f"stated {stated:g}, the published rule {said}")


_PUBLISHED_NUMBER = r"([+-]?(?:\d+(?:\.\d+)?|\.\d+))"
_PUBLISHED_TAG = re.compile(rf"<score>\s*{_PUBLISHED_NUMBER}\s*(?:/\s*{_PUBLISHED_NUMBER}\s*)?</score>", re.IGNORECASE)
_LARGEST_DENOMINATOR = 100_000


def published_share(text: str) -> float | None:
    """The published parser's value; None where it fails.

    A tag that holds anything else is no tag to it. It calculates in fractions of a largest denominator.
    """
    tags = _PUBLISHED_TAG.findall(text)
    if len(tags) != 1:
        return None
    try:
        points, of = (Fraction(each or 1).limit_denominator(_LARGEST_DENOMINATOR) for each in tags[0])
        return float(points / of)
    except (ValueError, ArithmeticError):
        return None


_TAG = re.compile(r"<\s*score\s*>(.*?)<\s*/\s*score\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(
    r"<\s*score\b|<\s*/?\s*s?c?o?r?e?$|<\s*evidence\s*>(?!.*<\s*/\s*evidence\s*>)", re.IGNORECASE | re.DOTALL
)
_NUMBER = r"-?\d+(?:[.,]\d+)*"
_SHARE = re.compile(
    rf"(?:score|점수|K)?\s*[:=]?\s*\+?({_NUMBER}|\.\d+)\s*점?\s*(?:/|out\s+of|of)\s*(?:N\s*=\s*)?({_NUMBER})"
    r"\s*(?:점|points?)?\s*\.?\s*(?:\([^()]*\))?",
    re.IGNORECASE,
)


def _stated(text: str, criteria: int | None) -> float | Doubt:
    found = list(dict.fromkeys(re.sub(r"\s+", " ", without_markup(tag)).strip() for tag in _TAG.findall(text)))
    if not found:
        return Doubt(Flag.CUT_OFF if _OPEN.search(text) else Flag.NO_SCORE)
    # A template that is repeated before it is filled in says nothing.
    filled = [each for each in found if re.search(rf"[\d{ODD}]", each)] or found
    read = {_content(each, criteria) for each in filled}
    return read.pop() if len(read) == 1 else Doubt(Flag.TWO_SCORES, " and ".join(filled))


def _content(content: str, criteria: int | None) -> float | Doubt:
    """What stands in a tag: the share of the checklist that is met."""
    if ODD in content:
        return Doubt(Flag.ODD_DIGIT)
    share = _SHARE.fullmatch(content)
    points, of = (number_of(each) for each in share.groups()) if share is not None else (None, None)
    if points is None or of is None:
        return Doubt(_other_form(content), content)
    if of.denominator != 1 or of < 1 or (criteria is not None and of != criteria):
        expected = f", expected {criteria} criteria" if criteria is not None else ""
        return Doubt(Flag.OTHER_MAXIMUM, content + expected)
    if not 0 <= points <= of:
        return Doubt(Flag.OUT_OF_RANGE, content)
    return float(points / of) if (2 * points).denominator == 1 else Doubt(Flag.NOT_A_HALF, content)


def _other_form(content: str) -> Flag:
    if re.fullmatch(_NUMBER, content):
        return Flag.BARE_NUMBER
    if re.fullmatch(rf"{_NUMBER}\s*%", content):
        return Flag.OTHER_MAXIMUM
    if len(re.findall(_NUMBER, content)) > 2:
        return Flag.TWO_SCORES
    return Flag.NO_SCORE
