"""The score out of ten that a text states as its final one, or why none can be taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.plain_text import ODD, plain, without_markup

MOST = 10


def stated_score(text: str) -> int | Doubt:
    """The integer from 0 to 10 that the text states as its final score.

    A statement follows a marker such as `최종 점수` or `final score`; without any, `총점`, `점수` and the like outside
    criteria; without those, a last line that is a score and nothing else. Statements that differ are a doubt.
    """
    if (asked := _ASKED.search(text)) and text.count("점수") == 1:
        return int(asked[1])
    # A text that is cut leaves off in a number; closing markup or a full stop says that it was not.
    is_open = re.search(r"[\w:]\s*$", text) is not None
    read = [_read(each, is_open=is_open) for each in _statements(without_markup(plain(text)))]
    known = [each for each in read if each is not None]
    scores = dict.fromkeys(each for each in known if isinstance(each, int))
    if len(scores) > 1:
        return Doubt(Flag.TWO_SCORES, " and ".join(map(str, scores)))
    # A doubt about the last statement is not settled by an earlier one.
    return known[-1] if known else Doubt(Flag.NO_SCORE)


# The form that the judge is asked for, by far the most frequent: read at once.
_ASKED = re.compile(r"^최종 점수: 10점 만점에 (10|\d)점\.?\s*\Z", re.MULTILINE | re.ASCII)
_MARKER = re.compile(
    r"최종\s*(?:점수|평점|채점(?:\s*결과)?|평가(?:\s*점수)?|결과)|(?:final|overall|total)[\s_]*(?:score|rating|grade)",
    re.IGNORECASE,
)
_WEAK_MARKER = re.compile(r"총\s*점수?|총합|합계|점수|score|rating|grade", re.IGNORECASE)
_OF_ONE_CRITERION = re.compile(r"기준|항목|배점|부분|criteri|item", re.IGNORECASE)

_DATE = re.compile(r"\d{4}\s*[-/.년]\s*\d{1,2}\s*[-/.월]\s*\d{1,2}일?")
_NUMBER = r"\d+(?:[.,]\d+)*"
_MAXIMUM = re.compile(
    rf"(?<![\d.,])(?P<full>{_NUMBER})\s*점?\s*만점(?:에서|에|중에서|중|으로|기준으로|기준|의)?"
    rf"|만점\s*(?:은|이|:)?\s*(?P<after>{_NUMBER})\s*점?"
    rf"|(?<![\d.,])(?P<among>{_NUMBER})\s*점?\s*중(?:에서|에)?(?![가-힣])"
    rf"|\b(?:out\s+of|of)\s+(?P<out>{_NUMBER})(?:\s*(?:points?|pts?|점))?"
    rf"|(?<=[\d점)\s])/\s*(?P<slash>{_NUMBER})\s*점?",
    re.IGNORECASE,
)
_DEDUCTED = re.compile(rf"{_NUMBER}\s*점?(?:을|이|만)?\s*(?:감점|차감|깎|뺀|빼)|{_NUMBER}\s*점에서")
_RANGE = re.compile(rf"{_NUMBER}\s*점?\s*(?:~|-|–|내지|또는|혹은|이나|\bor\b|\bto\b)\s*{_NUMBER}", re.IGNORECASE)
_SCORE = re.compile(
    rf"(?P<number>(?<![\d점.,])-?{_NUMBER}|(?<=\d)-{_NUMBER})(?P<points>\s*(?:점|points?\b|pts?\b))?", re.IGNORECASE
)
_LEAD = re.compile(r"^[\s:=>|은는이가]*(?=-?\d)")
_PLACEHOLDER = re.compile(r"(?<![A-Za-z])[XNOY○◯?…]+\s*점", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"(?<![가-힣])(?:영|공|빵|하나|한|두|둘|세|셋|네|넷|다섯|여섯|일곱|여덟|아홉|열|일|이|삼|사|오|육|륙|칠|팔|구|십)\s*점"
    r"|(?<![가-힣])만점|[零〇一二三四五六七八九十]\s*[점분點点]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b",
    re.IGNORECASE,
)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?。])\s+|(?<=니다)\s+|(?<=이다)\s+")


@dataclass(frozen=True)
class _Statement:
    """What stands after a marker; `is_last` where the text ends with it."""

    text: str
    is_last: bool


def _statements(text: str) -> Iterator[_Statement]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for marker in (_MARKER, _WEAK_MARKER):
        found = [(number, each) for number, line in enumerate(lines) for each in [*marker.finditer(line)][-1:]]
        if marker is _WEAK_MARKER:
            found = [each for each in found if not _OF_ONE_CRITERION.search(lines[each[0]])]
        if found:
            yield from (_after(lines, number, each.end()) for number, each in found)
            return
    if lines and (_MAXIMUM.search(lines[-1]) or re.fullmatch(rf"-?{_NUMBER}\s*점?\.?", lines[-1])):
        yield _Statement(lines[-1], is_last=True)


def _after(lines: list[str], number: int, place: int) -> _Statement:
    """What stands after a marker: the rest of its line, or the next line where nothing stands there."""
    rest = lines[number][place:]
    if not re.search(rf"[\w{ODD}]", rest) and number + 1 < len(lines):
        number, rest = number + 1, lines[number + 1]
    return _Statement(rest, is_last=number + 1 == len(lines))


def _read(statement: _Statement, *, is_open: bool) -> int | Doubt | None:
    """The score of the first sentence that has one, or a doubt; None where the statement says nothing of a score."""
    sentences = _BETWEEN_SENTENCES.split(statement.text)
    for number, sentence in enumerate(sentences, 1):
        is_last = statement.is_last and number == len(sentences)
        value = _of_sentence(sentence, may_be_cut=is_last and is_open, is_last=is_last)
        if value is not None:
            return value
    return None


def _of_sentence(sentence: str, *, may_be_cut: bool, is_last: bool) -> int | Doubt | None:
    text = _DATE.sub(" ", sentence)
    if ODD in text:
        return Doubt(Flag.ODD_DIGIT)
    if re.search(r"\d\s*%", text):
        return Doubt(Flag.OTHER_MAXIMUM, sentence.strip(" :"))
    maxima = [next(filter(None, each.groups())) for each in _MAXIMUM.finditer(text)]
    if any(_integer(each) != MOST for each in maxima):
        return Doubt(Flag.OTHER_MAXIMUM, sentence.strip(" :"))
    rest = _DEDUCTED.sub(" ", _MAXIMUM.sub(" ", text)).rpartition("=")[2]
    if _RANGE.search(rest):
        return Doubt(Flag.TWO_SCORES, rest.strip(" :"))
    numbers = _scores(rest)
    if not numbers:
        return _without_number(rest, bool(maxima), is_last=is_last)
    if len(set(numbers)) > 1:
        return Doubt(Flag.TWO_SCORES, " and ".join(dict.fromkeys(numbers)))
    [number] = set(numbers)
    # What is left of `10점 만점에 8점`, or of `10점 만점에 10점`, when the text was cut.
    if may_be_cut and re.search(r"(?<!\d)1\s*$" if maxima else r"(?<!\d)10\s*점?\s*$", rest):
        return Doubt(Flag.CUT_OFF, sentence.strip(" :"))
    return whole_score(number)


def _scores(text: str) -> list[str]:
    """The numbers that may be the score: those in points, or the one that stands first or alone."""
    outside = re.sub(r"\([^()]*\)", " ", text)
    for part in (outside, text):
        lead = _LEAD.match(part)
        found = [*_SCORE.finditer(part)]
        points = [each["number"] for each in found if each["points"]]
        if lead is not None and found:
            return [found[0]["number"], *points]
        if points:
            return points
        if len(found) == 1:
            return [found[0]["number"]]
    return []


def _without_number(text: str, has_maximum: bool, *, is_last: bool) -> Doubt | None:  # noqa: FBT001
    if _PLACEHOLDER.search(text):
        return Doubt(Flag.NO_SCORE, "the template, not filled in")
    if words := _IN_WORDS.search(text):
        return Doubt(Flag.IN_WORDS, words[0])
    if is_last and (has_maximum or not re.search(r"\w", text)):
        return Doubt(Flag.CUT_OFF)
    return Doubt(Flag.NO_SCORE) if has_maximum else None


def whole_score(number: str) -> int | Doubt:
    """A number as a score: an integer from 0 to 10, or what is wrong with it."""
    value = _integer(number)
    if value is None:
        return Doubt(Flag.NOT_AN_INTEGER, number)
    return value if 0 <= value <= MOST else Doubt(Flag.OUT_OF_RANGE, number)


def _integer(number: str) -> int | None:
    """8 of `8`, `08` and `8.0`; 1000 of `1,000`; None of `7.5` and `7,5`."""
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+", number):
        number = number.replace(",", "")
    whole, _, fraction = number.replace(",", ".").partition(".")
    return int(whole) if not fraction.strip("0.") else None
