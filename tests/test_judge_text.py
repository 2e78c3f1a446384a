"""Judges' texts: what the published parser makes of them, and what they state."""

from __future__ import annotations

import re
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
    # What stands in brackets beside a score is no other score, and their maximum is.
    "최종 점수: 8/10 (80%)": 8,
    "최종 점수: 10점 만점에 8점 (신뢰도 90%)": 8,
    "최종 점수 (0-10): 8": 8,
    "최종 점수(10점 만점): 8": 8,
    "최종 점수: 8점 (기준 1: 5점 만점에 3점, 기준 2: 5점 만점에 5점)": 8,
    "최종 점수: 8점 (10점 만": 8,
    "최종 점수: 10점 만점에 8점 (기준 ①, ② 충족)": 8,
    "최종 점수: 여덟 점(8점)": 8,
    "최종 점수: 만점 (10점)": 10,
    "최종 점수: 우수(8/10)": 8,
    "최종 점수: 기준 1은 4점, 기준 2는 4점이므로 8점": 8,
    "The final score is 8 out of 10 because criterion 2 is not met.": 8,
    "I give this answer a score of 8.": 8,
    "최종 점수: 8점, 즉 8.0점": 8,
    "총 8점": 8,
    "최종 스코어: 8점": 8,
    "최종: 8점": 8,
    "최종 점수: 10점 만점에\n8점": 8,
    "최종 점수는 다음과 같습니다. 10점 만점에 8점입니다.": 8,
    "| 최종 점수 |\n|---|\n| 8 |": 8,
    "┌──────┐\n│ 최종 점수 │\n├──────┤\n│ 8점 │\n└──────┘": 8,
    "<p>최종 점수: 10점 만점에 <b>8</b>점</p>": 8,
    "최종 점수: $\\frac{8}{10}$": 8,
    "최종 점수: 10점 만점에 ٨점": 8,
    "최종 점수: 10점 만점에 8️⃣점": 8,
    # Objects by their keys, with their own maximum.
    '{"score": 8, "max_score": 10}': 8,
    '{"criteria": [{"score": 5}, {"score": 3}], "final_score": 8}': 8,
    '```json\n{"점수": "8점", "이유": "기준 1의 점수는 5점"}\n```': 8,
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
    "최종 점수: 10점 만점에 6점 다시 보면 최종 점수: 10점 만점에 8점": "two scores",
    "최종 점수: 10점 만점에 8점에서 9점 사이": "two scores",
    "최종 점수: 10점 만점에 8...9점": "two scores",
    "최종 점수: between 8 and 9": "two scores",
    "최종 점수: 4점 + 4점": "two scores",
    "|항목|배점|점수|\n|---|---|---|\n|최종 점수|10|8|": "two scores",
    '{"score": 8, "rating": 7}': "two scores",
    "최종 점수: 10점 만점에 8점 이상": "no-score",
    "최종 점수: 최대 8점": "no-score",
    "최종 점수: 10점 만점에 X/10": "no-score",
    "최종 점수: 10점 만점에 [점수]점": "no-score",
    "최종 점수: 10점 만점에 ___점": "no-score",
    "최종 점수: 없음 (기준 1은 5점)": "no-score",
    "## 최종 점수\n기준 1: 5점\n기준 2: 3점\n8점": "no-score",
    '{"score": null}': "no-score",
    '{"scores": {"기준 1": 4}}': "no-score",
    '{"score": "8점", "max": 5}': "other-maximum",
    '{"score": 8.5}': "not-an-integer",
    '{"score": 11}': "out-of-range",
    "최종 점수: 10점 만": "cut-off",
    "최종 점수: 1": "cut-off",
    "최종 점수: 8/1": "cut-off",
    "최종 점수: 8/": "cut-off",
    "최종 점수: 8 out of": "cut-off",
    "최종 점수: 10점 만점에 - 3점": "out-of-range",
    "최종 점수: 10점 만점에 마이너스 3점": "out-of-range",
    f"최종 점수: {'9' * 5_000}점": "out-of-range",
    "최종 점수: 10점 만점에 7 1/2점": "not-an-integer",
    "최종 점수: 10점 만점에 15/2점": "not-an-integer",
    "최종 점수: 10점 만점에 8.3.1점": "not-an-integer",
    "최종 점수: 80퍼센트": "other-maximum",
    "최종 점수: 10점 만점의 80%": "other-maximum",
    "최종 점수: 4점 (총 5점 만점)": "other-maximum",
    "최종 점수 (5점 만점): 4점": "other-maximum",
    "최종 점수 (0~5): 4": "other-maximum",
    "최종 점수: 여덟": "score-in-words",
    "최종 점수: 팔": "score-in-words",
    "최종 점수: 10점 만점에 🔟점": "odd digit",
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
        ("9" * 5_000, 0),
        ("９점", 9),
    ],
)
def test_the_published_parser_is_reproduced(text: str, value: int) -> None:
    assert published_score(text) == value


@given(st.integers(0, 10), st.sampled_from(["", "\n", ".", " 입니다.", "\n기준 1: 만족\n", "\n2024-05-01"]))
def test_every_score_in_the_asked_form_is_read(score: int, after: str) -> None:
    assert read_judge_text(f"기준 1: 만족\n최종 점수: 10점 만점에 {score}점{after}").careful == score


LINES = (
    "기준 1: 만족", "최종", "점수: ", "최종 점수: 3", "최\u200b종 점수: 3", "final score: 7", "총점: 4점", "</think>", "<think>",
    "X점", "[THINK]", "8²", unicodedata.normalize("NFD", "최종 점수: 3"), "ｆｉｎａｌ ｓｃｏｒｅ: 3",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=4), st.integers(0, 10), st.sampled_from(["", "\n", ".", " \u2028"]))
def test_the_asked_form_is_read_at_once_only_where_nothing_else_is_said(
    before: list[str], score: int, after: str
) -> None:
    text = "\n".join([*before, f"최종 점수: 10점 만점에 {score}점{after}"])
    with pytest.MonkeyPatch.context() as patch:
        at_once = read_judge_text(text)
        patch.setattr("hannun.evaluation.judge_text._ASKED", re.compile(r"(?!)"))
        assert read_judge_text(text) == at_once


@given(st.integers(0, 10), st.text(alphabet="가나 다.점수최종만에기준XN*|\n", max_size=40))
def test_text_without_a_number_never_changes_a_score(score: int, after: str) -> None:
    careful = read_judge_text(f"최종 점수: 10점 만점에 {score}점\n{after}").careful
    assert careful in (score, None)


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
        ("[THINK]2점[/THINK]8점", "8점", False),
        ("[THINK]2점, 8점", "", True),
        ("◁think▷2점◁/think▷8점", "8점", False),
        ("＜think＞2점＜/think＞8점", "8점", False),
        ("&lt;think&gt;2점&lt;/think&gt;8점", "8점", False),
        ("<seed:think>2점</seed:think>8점", "8점", False),
        ("<think budget='3'>2점</think>8점", "8점", False),
        ("<|START_THINKING|>2점<|END_THINKING|>8점", "8점", False),
        ('답변은 "3 <think> 4"라고 썼다. 8점', '답변은 "3 <think> 4"라고 썼다. 8점', False),
        ('<think>"2점"</think>8점', "8점", False),
        ("it's 2점?</think>8점", "8점", False),
        ("답변의 `</think>` 표시는 보지 않았다. 8점", "답변의 `</think>` 표시는 보지 않았다. 8점", False),
        ("8점", "8점", False),
    ],
)
def test_thinking_is_no_part_of_the_answer(text: str, rest: str, unclosed: bool) -> None:
    assert without_thinking(text) == (rest, unclosed)
