"""A HAERAE-Vision judge's text to its score: `<score>K/N</score>`, K points of a checklist of N criteria.

A criterion earns 0, 0.5 or 1 (arXiv 2601.06165). The published parser takes the content of the only tag: K/N, or a
number alone as it is; it looks neither at the range nor at the checklist, and fails on two tags. Its file is not
at hand: the rule is that which it was seen to follow.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.plain_text import ODD, plain
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


_PUBLISHED_TAG = re.compile(r"<score>(.*?)</score>", re.DOTALL)
_PUBLISHED = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:/\s*(-?\d+(?:\.\d+)?)\s*)?")


def published_share(text: str) -> float | None:
    """The published parser's value; None where it fails."""
    tags = _PUBLISHED_TAG.findall(text)
    match = _PUBLISHED.fullmatch(tags[0]) if len(tags) == 1 else None
    if match is None:
        return None
    points, of = float(match[1]), float(match[2] or 1)
    return points / of if of else None


_TAG = re.compile(r"<\s*score\s*>(.*?)<\s*/\s*score\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(r"<\s*score\b|<\s*/?\s*s?c?o?r?e?$", re.IGNORECASE)
_NUMBER = r"-?\d+(?:[.,]\d+)?"
_SHARE = re.compile(rf"({_NUMBER})\s*점?\s*(?:/|out\s+of|of)\s*({_NUMBER})\s*점?\s*\.?", re.IGNORECASE)


def _stated(text: str, criteria: int | None) -> float | Doubt:
    found = list(dict.fromkeys(re.sub(r"\s+", " ", tag).strip() for tag in _TAG.findall(text)))
    if not found:
        return Doubt(Flag.CUT_OFF if _OPEN.search(text) else Flag.NO_SCORE)
    read = {_content(each, criteria) for each in found}
    return read.pop() if len(read) == 1 else Doubt(Flag.TWO_SCORES, " and ".join(found))


def _content(content: str, criteria: int | None) -> float | Doubt:
    """What stands in a tag: the share of the checklist that is met."""
    if ODD in content:
        return Doubt(Flag.ODD_DIGIT)
    share = _SHARE.fullmatch(content)
    if share is None:
        return Doubt(_other_form(content), content)
    points, of = (float(each.replace(",", ".")) for each in share.groups())
    if not of.is_integer() or of < 1 or (criteria is not None and of != criteria):
        expected = f", expected {criteria} criteria" if criteria is not None else ""
        return Doubt(Flag.OTHER_MAXIMUM, content + expected)
    if not 0 <= points <= of:
        return Doubt(Flag.OUT_OF_RANGE, content)
    return points / of if (2 * points).is_integer() else Doubt(Flag.NOT_A_HALF, content)


def _other_form(content: str) -> Flag:
    if re.fullmatch(_NUMBER, content):
        return Flag.BARE_NUMBER
    if re.fullmatch(rf"{_NUMBER}\s*%", content):
        return Flag.OTHER_MAXIMUM
    if len(re.findall(_NUMBER, content)) > 2:
        return Flag.TWO_SCORES
    return Flag.NO_SCORE
