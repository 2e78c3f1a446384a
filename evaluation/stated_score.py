"""The score out of ten that a text states as its final one, or why none can be taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hannun.evaluation.doubt import Doubt, Flag
from hannun.evaluation.plain_text import ODD, plain, without_markup
from hannun.evaluation.score_phrase import MAXIMUM, NUMBER, read_phrase


def stated_score(text: str) -> int | Doubt:
    """The integer from 0 to 10 that the text states as its final score.

    A statement follows a marker such as `최종 점수` or `final score`; without any, `총점`, `점수` and the like outside
    criteria; without those, a last line that is a score and nothing else. Statements that differ are a doubt.
    """
    plain_text = plain(text)
    if (given := _json_object(plain_text)) is not None:
        return _of_object(given)
    # A text that is cut leaves off in a number; closing markup or a full stop says that it was not.
    is_open = re.search(r"[\w:/]\s*$", text) is not None
    read = [_read(each, is_open=is_open) for each in _statements(without_markup(plain_text))]
    known = [each for each in read if each is not None]
    scores = dict.fromkeys(each for each in known if isinstance(each, int))
    if len(scores) > 1:
        return Doubt(Flag.TWO_SCORES, " and ".join(map(str, scores)))
    # A doubt about the last statement is not settled by an earlier one.
    return known[-1] if known else Doubt(Flag.NO_SCORE)


_MARKER = re.compile(
    r"최종\s*(?:적인\s*)?(?:점수|평점|스코어|득점|총점|합계|채점(?:\s*결과)?|평가(?:\s*점수)?|결과)|최종(?=\s*:)"
    r"|(?:final|overall|total)(?:[\s_-]*(?:score|rating|grade|mark|points?)|(?=\s*:))",
    re.IGNORECASE,
)
_WEAK_MARKER = re.compile(
    r"총\s*점수?|총(?=\s*\d+\s*점)|총합|합계|(?<!최고\s)(?<!최대\s)(?:점수|스코어)"
    r"|(?<!max[\s_])(?<!maximum[\s_])(?:score|rating|grade)",
    re.IGNORECASE,
)
_OF_ONE_CRITERION = re.compile(r"기준|항목|배점|부분|criteri|item", re.IGNORECASE)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?。])\s+|(?<=니다)\s+|(?<=이다)\s+")
_FENCE = re.compile(r"^\s*`{3}\w*\s*|\s*`{3}\s*$")
_KEYS = (_MARKER, re.compile(r"총점|점수|스코어|score|rating|grade", re.IGNORECASE))
_MAXIMUM_KEY = re.compile(r"max(?:imum)?(?:[\s_]*(?:score|points?))?|out[\s_]of|만점|최고\s*점수", re.IGNORECASE)


def _json_object(text: str) -> Mapping[str, Any] | None:
    """The text as a JSON object, in a code block or not; None where it is none."""
    inner = _FENCE.sub("", text)
    if not inner.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(inner, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_object(value: Mapping[str, Any]) -> int | Doubt:
    """The score that an object gives under the name of a score; an object may hold its maximum too."""
    for names in _KEYS:
        found = [each for name, each in value.items() if names.fullmatch(name.strip())]
        if found:
            most = [str(each) for name, each in value.items() if _MAXIMUM_KEY.fullmatch(name.strip())]
            of = f" / {most[0]}" if most else ""
            read = {_of_value(each, of) for each in found}
            return read.pop() if len(read) == 1 else Doubt(Flag.TWO_SCORES, " and ".join(map(str, found)))
    return Doubt(Flag.NO_SCORE)


def _of_value(value: Any, of: str) -> int | Doubt:
    if not isinstance(value, str):
        return Doubt(Flag.NO_SCORE)
    read = read_phrase(without_markup(value) + of, is_last=False, may_be_cut=False)
    return Doubt(Flag.NO_SCORE) if read is None else read


@dataclass(frozen=True)
class _Statement:
    """What stands after a marker; `is_last` where the text ends with it."""

    text: str
    is_last: bool


def _statements(text: str) -> Iterator[_Statement]:
    lines = [line.strip() for line in text.splitlines() if re.search(rf"[\w{ODD}]", line)]
    for marker in (_MARKER, _WEAK_MARKER):
        marked = [number for number, line in enumerate(lines) if marker.search(line)]
        if marker is _WEAK_MARKER:
            marked = [number for number in marked if not _OF_ONE_CRITERION.search(lines[number])]
        if marked:
            for number in marked:
                yield from _of_line(lines, number, marker)
            return
    if lines and (MAXIMUM.search(lines[-1]) or re.fullmatch(rf"\W*-?{NUMBER}\s*점?\W*", lines[-1])):
        yield _Statement(lines[-1], is_last=True)


def _of_line(lines: list[str], number: int, marker: re.Pattern[str]) -> Iterator[_Statement]:
    """What stands after each marker of a line; after the last one, on the next line where nothing does on this."""
    *earlier, last = marker.split(lines[number])[1:]
    yield from (_Statement(each, is_last=False) for each in earlier)
    if not re.search(rf"[\w{ODD}]", MAXIMUM.sub("", last)) and number + 1 < len(lines):
        number += 1
        if not _OF_ONE_CRITERION.search(lines[number]):
            last += " " + re.sub(r"^[-•]\s+", "", lines[number])
    yield _Statement(last, is_last=number + 1 == len(lines))


def _read(statement: _Statement, *, is_open: bool) -> int | Doubt | None:
    """The score of the first sentence that has one, or a doubt; None where the statement says nothing of a score."""
    sentences = _BETWEEN_SENTENCES.split(statement.text)
    for number, sentence in enumerate(sentences, 1):
        is_last = statement.is_last and number == len(sentences)
        value = read_phrase(sentence, is_last=is_last, may_be_cut=is_last and is_open)
        if value is not None:
            return value
    return None
