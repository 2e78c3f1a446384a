"""Judges' texts: what the published parser makes of them, and what they state."""

from __future__ import annotations

import unicodedata

import pytest
from hannun.evaluation.judge_text import published_score, read_judge_text
from hannun.evaluation.thinking import without_thinking
from hypothesis import given
from hypothesis import strategies as st

STATED = {
    "최종 점수: 10점 만점에 9점": 9,
    "최종 점수는 10점 만점에 9점입니다.": 9,
    "**최종 점수:** 10점 만점에 **3점**": 3,
    "## 최종 점수\n\n10점 만점에 7점": 7,
    "최종점수 : 8 점 / 10 점": 8,
    "최종 점수: 8": 8,
    "최종 점수 - 8점": 8,
    "최종 점수: 약 8점": 8,
    "최종 점수: 8점 (기준 1 4점, 기준 2 4점)": 8,
    "최종 점수: 8 (기준 3개 중 2개 만족)": 8,
    "최종 점수: 4점 + 4점 = 8점": 8,
    "최종 점수: 10점에서 2점 감점하여 8점": 8,
    "최종 점수: 10점 중 8점": 8,
    "최종 점수: 10점 만점 중 8점": 8,
    "최종 점수: 10점 만점에 8점(8/10)": 8,
    "최종 점수: ８／１０": 8,
    "최종 점수: 10점 만점에 8\u200b점": 8,
    "최종 점수: 10점 만점에 8.0점": 8,
    "최종 점수: $\\boxed{8}$점": 8,
    "최종 점수: 10점 만점에 [8]점": 8,
    '{"final_score": 8, "reason": "기준 1 충족"}': 8,
    "| 기준 | 만족 |\n| 최종 점수 | 8점 |": 8,
    "Final score: 8 points": 8,
    "The final score is 8.": 8,
    "Rating: [[8]]": 8,
    "기준 1: 5점\n기준 2: 3점\n총점: 8점": 8,
    "8/10": 8,
    "8점": 8,
    "10점 만점에 8점": 8,
    "최종 점수는 각 기준의 합입니다.\n최종 점수: 10점 만점에 3점": 3,
    "최종 점수: 10점 만점에 8점\n요약하면 최종 점수: 8점": 8,
    "최종 점수: 10점 만점에 8점\n2024년 5월 1일": 8,
    "최종 점수: 10점 만점에 8점. 10점이 아닌 까닭은 기준 2입니다.": 8,
    # Ten points, and not what is left of `10점 만점에 X점`.
    "최종 점수: 10점입니다.": 10,
    "**최종 점수: 10점**": 10,
    "최종 점수: 10점\n\n모든 기준을 충족합니다.": 10,
    "최종 점수: 10/10": 10,
    "최종 점수: 10점 만점에 1점": 1,
    "최종 점수: 0점": 0,
}
DOUBTFUL = {
    "": "no-score",
    "답변이 부적절하여 채점할 수 없습니다.": "no-score",
    "최종 점수: 10점 만점에 X점": "no-score",
    "최종 점수: 10점 만점에 ○점": "no-score",
    "최종 점수: 없음": "no-score",
    "기준 1: 5점\n기준 2: 3점": "no-score",
    "기준 1 점수: 5점": "no-score",
    "최종 점수: 10점 만점에": "cut-off",
    "최종 점수: 10점": "cut-off",
    "최종 점수:": "cut-off",
    "최종 점수: 10점 만점에 1": "cut-off",
    "최종 점수: 열 점": "score-in-words",
    "최종 점수: 만점": "score-in-words",
    "최종 점수: 八점": "score-in-words",
    "Final score: eight out of ten": "score-in-words",
    "최종 점수: 10점 만점에 ⑨점": "odd digit",
    "최종 점수: 10점 만점에 ½점": "odd digit",
    "최종 점수: 10점 만점에 9.5점": "not-an-integer",
    "최종 점수: 10점 만점에 9,5점": "not-an-integer",
    "최종 점수: 10점 만점에 12점": "out-of-range",
    "최종 점수: -2점": "out-of-range",
    "최종 점수: 1,000점": "out-of-range",
    "최종 점수: 5점 만점에 4점": "other-maximum",
    "최종 점수: 80/100": "other-maximum",
    "최종 점수: 80%": "other-maximum",
    "최종 점수: 7~8점": "two scores",
    "최종 점수: 7점 또는 8점": "two scores",
    "최종 점수: 10점 만점에 6점\n다시 보면\n최종 점수: 10점 만점에 8점": "two scores",
}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_score_that_is_stated_is_read(form: str) -> None:
    read = {text: read_judge_text(unicodedata.normalize(form, text)) for text in STATED}
    assert {text: each.careful for text, each in read.items()} == STATED
    for text, each in read.items():
        assert (each.flag is None) == (each.published == each.careful), text


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_is_not_stated_is_nothing_and_says_why(form: str) -> None:
    read = {text: read_judge_text(unicodedata.normalize(form, text)) for text in DOUBTFUL}
    assert {text: each.flag for text, each in read.items()} == DOUBTFUL
    assert not [text for text, each in read.items() if each.careful is not None]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("최종 점수: 10점 만점에 8점", 8),
        ("8/10", 10),
        ("7.5점", 5),
        ("-3점", 3),
        ("최종 점수: 10점", 10),
        ("100점", 0),
        ("", 0),
        ("점수 없음", 0),
        ("8점. 기준 2 미달", 2),
        ("⑧점", 0),
        ("12a34b", 0),
        ("a7b", 7),
        ("９점", 9),
    ],
)
def test_the_published_parser_is_reproduced(text: str, value: int) -> None:
    assert published_score(text) == value


@given(st.integers(0, 10), st.sampled_from(["", "\n", ".", " 입니다.", "\n기준 1: 만족\n", "\n2024-05-01"]))
def test_every_score_in_the_asked_form_is_read(score: int, after: str) -> None:
    assert read_judge_text(f"기준 1: 만족\n최종 점수: 10점 만점에 {score}점{after}").careful == score


@given(st.text(max_size=80))
def test_no_text_gives_a_score_out_of_range_or_fails(text: str) -> None:
    for each in (text, f"최종 점수: {text}", f"최종 점수: 10점 만점에 {text}점"):
        reading = read_judge_text(each)
        assert reading.careful is None or 0 <= reading.careful <= 10
        assert 0 <= reading.published <= 10
        assert reading.careful == reading.published or reading.flag is not None


@given(st.text(alphabet="가나다 .\n점수최종만에", max_size=60))
def test_words_alone_never_make_a_score(text: str) -> None:
    assert read_judge_text(text).careful is None


@pytest.mark.parametrize(
    ("text", "rest", "unclosed"),
    [
        ("<think>2점?</think>\n8점", "\n8점", False),
        ("2점?</think>8점", "8점", False),
        ("<THINKING>a</THINKING> <think>b</think>8점", "8점", False),
        ("<reasoning>2점", "", True),
        ("<think>a</think>8점<think>다시", "", True),
        ("답변은 '<think>'라고 썼다. 8점", "답변은 '<think>'라고 썼다. 8점", False),
        ("<|channel|>analysis<|message|>2<|end|><|start|>assistant<|channel|>final<|message|>8점", "8점", False),
        ("8점", "8점", False),
    ],
)
def test_thinking_is_no_part_of_the_answer(text: str, rest: str, unclosed: bool) -> None:
    assert without_thinking(text) == (rest, unclosed)
