"""One phrase of plain text to the score out of ten that it states, or why none can be taken."""

from __future__ import annotations

import re

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.plain_text import ODD, number_of

MOST = 10

NUMBER = r"(?<![\d.,])\d+(?:[.,]\d+)*"
MAXIMUM = re.compile(
    rf"(?:최대\s*|총\s*)?(?P<full>{NUMBER})\s*점?\s*만점(?:에서|에|중에서|중|으로|기준으로|기준|의)?"
    rf"|만점\s*(?:은|이|:)?\s*(?P<after>{NUMBER})\s*점?"
    rf"|(?:최대\s*|총\s*)?(?P<among>{NUMBER})\s*점?\s*중(?:에서|에)?(?![가-힣])"
    rf"|(?:(?<=\d)\s+|\bout\s+)of\s+(?P<out>{NUMBER})(?:\s*(?:points?|pts?|점))?"
    rf"|/\s*(?P<slash>{NUMBER})\s*점?",
    re.IGNORECASE,
)
_SPAN = re.compile(rf"\(\s*[01]\s*점?\s*[-~–]\s*({NUMBER})\s*점?\s*\)(?=\s*[:=])")
_POINTS = rf"{NUMBER}\s*점?"
_DATE = re.compile(r"\d{4}\s*[-/.년]\s*\d{1,2}\s*[-/.월]\s*\d{1,2}일?")
_MINUS = re.compile(r"(?:마이너스|\bminus|\bnegative)\s*(?=\d)|(?<=[에:=])\s*-\s+(?=\d)", re.IGNORECASE)
_BRACKETED = re.compile(r"\([^()]*(?:\)|$)")
_PERCENT = re.compile(rf"{NUMBER}\s*(?:%|퍼센트|percent)", re.IGNORECASE)
_MIXED = re.compile(r"\d\s+\d+\s*/\s*\d")
_FRACTION = re.compile(rf"-?{NUMBER}\s*/\s*\d")
# Points that are taken off, or given for one criterion.
_OTHER_POINTS = re.compile(
    rf"{_POINTS}에서(?=.*(?:감점|차감|깎|뺀|빼))|{_POINTS}(?:을|이|만)?\s*(?:감점|차감|깎|뺀|빼)"
    rf"|(?:기준|항목|criterion|item)\s*\d+\s*번?\s*(?:은|는|이|가|의|에서|:)+\s*{_POINTS}",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"{_POINTS}\s*(?:~|-|–|—|→|\.{{2,}}|\+|에서|부터|내지|또는|혹은|이나|\bor\b|\bto\b|\band\b)\s*\d", re.IGNORECASE
)
_BOUND = re.compile(
    rf"{_POINTS}\s*(?:이상|이하|미만|초과|(?:이|가)?\s*아[니닌닙])"
    rf"|(?:최대|최소|\bat\s+(?:least|most)|\bup\s+to|\b(?:less|more)\s+than|\bnot|[<>≤≥])\s*{_POINTS}",
    re.IGNORECASE,
)
_SCORE = re.compile(
    r"(?P<number>(?:(?<![\d점.,A-Za-z])-)?(?<![\d.,A-Za-z])\d+(?:[.,]\d+)*|(?<=\d)-\d+(?:[.,]\d+)*)"
    r"(?![.,]*[a-z]*\d)(?P<points>\s*(?:점|points?\b|pts?\b))?",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:[\s:;=>|은는이가]|is\b|was\b|of\b|약|총)*(?=-?\d)", re.IGNORECASE)
_CELLS = re.compile(r"\d\s*\|\s*-?\d")
_PLACEHOLDER = re.compile(r"(?<![A-Za-z가-힣])(?:[XNKOY○◯□■?…]+|점수)?\s*점|^[\s:]*[XNKY○◯□■?]+\s*$", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"(?<![가-힣])(?:영|공|빵|하나|한|두|둘|세|셋|네|넷|다섯|여섯|일곱|여덟|아홉|열|[일이삼사오육륙칠팔구십백]+)\s*점"
    r"|(?<![가-힣])(?:만점|(?:하나|다섯|여섯|일곱|여덟|아홉)(?![가-힣]))|[零〇一二三四五六七八九十]\s*[점분點点]"
    r"|^[\s:]*(?:[영공일이삼사오육륙칠팔구십열]|[零〇一二三四五六七八九十])\s*[.]?\s*$"
    r"|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b",
    re.IGNORECASE,
)
_CUT_AFTER_MAXIMUM = re.compile(r"(?<![\d.,-])1\s*$")
_CUT = re.compile(r"(?<![\d.,-])10?\s*$|(?<!\d)10\s*점\s*만?\s*$")
_NOTHING = re.compile(r"(?:[\W_]|은|는|이|가|점|약|입니다|이다|is\b|points?\b)*", re.IGNORECASE)


def read_phrase(phrase: str, *, is_last: bool, may_be_cut: bool) -> int | Doubt | None:
    """The score that a phrase states, or a doubt; None where it says nothing of a score.

    Parameters
    ----------
    phrase
        Plain text without markup, as it stands after a marker.
    is_last
        Whether the text ends with it.
    may_be_cut
        Whether the text ends with it and leaves off in a word, a number or a colon.
    """
    text = _MINUS.sub("-", _DATE.sub(" ", phrase))
    body, aside = _body_and_aside(text)
    said = phrase.strip(" :;")
    if ODD in body:
        return Doubt(Flag.ODD_DIGIT)
    if may_be_cut and re.search(r"\d\s*/\s*1?\s*$|\bof\s*1?\s*$", body):
        return Doubt(Flag.CUT_OFF, said)
    maxima = _maxima(body) or _maxima(aside, alone=True) + _SPAN.findall(text)
    if doubt := _doubt_of_maxima(body, maxima):
        return Doubt(doubt, said)
    rest = MAXIMUM.sub(" ", body)
    percent = _PERCENT.search(rest)
    rest = _OTHER_POINTS.sub(" ", _PERCENT.sub(" ", rest))
    result = rest.rpartition("=")[2]
    rest = result if re.search(r"\d", result) else rest
    if _RANGE.search(rest):
        return Doubt(Flag.TWO_SCORES, rest.strip(" :;"))
    if bound := _BOUND.search(rest):
        return Doubt(Flag.NO_SCORE, bound[0])
    numbers = _numbers(rest)
    if len({number_of(each) for each in numbers}) > 1:
        return Doubt(Flag.TWO_SCORES, " and ".join(dict.fromkeys(numbers)))
    if not numbers:
        if percent:
            return Doubt(Flag.OTHER_MAXIMUM, percent[0])
        return _without_number(rest, has_maximum=bool(maxima), is_last=is_last)
    # What is left of `10점 만점에 8점`, or of `10점 만점에 10점`, when the text was cut.
    if may_be_cut and (_CUT_AFTER_MAXIMUM if maxima else _CUT).search(rest):
        return Doubt(Flag.CUT_OFF, said)
    return whole_score(numbers[0])


def _body_and_aside(text: str) -> tuple[str, str]:
    """The phrase outside brackets and what stands in them; all of it where nothing but a maximum stands outside."""
    outside = _BRACKETED.sub(" ", text)
    left = MAXIMUM.sub(" ", outside)
    if re.search(rf"[\d{ODD}]", left):
        return outside, " ".join(_BRACKETED.findall(text))
    aside = _maxima(" ".join(_BRACKETED.findall(text)))
    if _NOTHING.fullmatch(left) or _IN_WORDS.search(left) or str(MOST) in aside:
        return re.sub(r"[()]", ";", text), ""
    return outside, ""


def _maxima(text: str, *, alone: bool = False) -> list[str]:
    """The numbers that are said to be the most; `alone`: only those beside which no score is said."""
    found = []
    for each in MAXIMUM.finditer(text):
        has_score = re.match(r"\s*-?\d", text[each.end() :]) or re.search(r"\d\s*점?\s*$", text[: each.start()])
        if not (alone and has_score):
            found.append(next(filter(None, each.groups())))
    return found


def _doubt_of_maxima(body: str, maxima: list[str]) -> Flag | None:
    others = [each for each in maxima if number_of(each) != MOST]
    if not others:
        return None
    # A fraction of a point beside the maximum.
    is_fraction = _MIXED.search(body) or (len(others) < len(maxima) and _FRACTION.search(body))
    return Flag.NOT_AN_INTEGER if is_fraction else Flag.OTHER_MAXIMUM


def _numbers(text: str) -> list[str]:
    """The numbers that may be the score: those in points, or the one that stands first or alone."""
    found = [*_SCORE.finditer(text)]
    points = [each["number"] for each in found if each["points"]]
    if _CELLS.search(text):
        return [each["number"] for each in found]
    if found and _LEAD.match(text):
        return [found[0]["number"], *points]
    if points:
        return points
    return [found[0]["number"]] if len(found) == 1 else []


def _without_number(text: str, *, has_maximum: bool, is_last: bool) -> Doubt | None:
    if words := _IN_WORDS.search(text):
        return Doubt(Flag.IN_WORDS, words[0].strip(" :"))
    if _PLACEHOLDER.search(text):
        return Doubt(Flag.NO_SCORE, "the template, not filled in")
    if is_last and not re.search(r"\w", text):
        return Doubt(Flag.CUT_OFF)
    return Doubt(Flag.NO_SCORE) if has_maximum else None


def whole_score(number: str) -> int | Doubt:
    """A number as a score: an integer from 0 to 10, or what is wrong with it."""
    value = number_of(number)
    if value is None or value.denominator != 1:
        return Doubt(Flag.NOT_AN_INTEGER, number)
    return int(value) if 0 <= value <= MOST else Doubt(Flag.OUT_OF_RANGE, number)
