"""HAERAE-Vision judges' tags: the published value as seen, and the share of the checklist that is stated."""

from __future__ import annotations

import pytest
from hannun.evaluation.score_tag import published_share, read_score_tag
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "published", "careful", "flag"),
    [
        ("만족 4개.\n<score>4/5</score>", 0.8, 0.8, None),
        ("<score>0/5</score>", 0.0, 0.0, None),
        ("<score>2.5/5</score>", 0.5, 0.5, None),
        ("<score> 4 / 5 </score>", 0.8, 0.8, None),
        ("<SCORE>4/5</SCORE>", 0.8, 0.8, None),
        ("<score>+4/5</score>", 0.8, 0.8, None),
        ("<score>.5/5</score>", 0.1, 0.1, None),
        ("<score>٣/٥</score>", 0.6, 0.6, None),
        # A tag that is no K/N and no number is none to the published rule.
        ("<score>K/N</score>\n<score>4/5</score>", 0.8, 0.8, None),
        ("<score>4/5 (80%)</score>", None, 0.8, "reference-differs"),
        ("<score>**4/5**</score>", None, 0.8, "reference-differs"),
        ("<score>K=4/N=5</score>", None, 0.8, "reference-differs"),
        ("<score>Score: 4/5 points</score>", None, 0.8, "reference-differs"),
        ("<score>4⁄5</score>", None, 0.8, "reference-differs"),
        ("<score>4 out of 5</score>", None, 0.8, "reference-differs"),
        ("&lt;score&gt;4/5&lt;/score&gt;", None, 0.8, "reference-differs"),
        ("＜score＞４／５＜/score＞", None, 0.8, "reference-differs"),
        ("<score>4/5점</score>", None, 0.8, "reference-differs"),
        ("<score>4,5/5</score>", None, 0.9, "reference-differs"),
        ("<score>4/5</score> 즉 <score>4/5</score>", None, 0.8, "reference-differs"),
        ("<score>3/5</score> 아니 <score>4/5</score>", None, None, "two scores"),
        ("<think><score>1/5</score></think><score>4/5</score>", None, 0.8, "reference-differs"),
        ("<think><score>4/5</score>", 0.8, None, "cut-off"),
        ("<score>4/5", None, None, "cut-off"),
        ("<score>4/5</sco", None, None, "cut-off"),
        ("<evidence>Item 1: met: 1", None, None, "cut-off"),
        ("<evidence>Item 1: met: 1</evidence>", None, None, "no-score"),
        ("<score>1,000/5</score>", None, None, "out-of-range"),
        (f"<score>{'9' * 5_000}/5</score>", None, None, "out-of-range"),
        ("<score>1/3/5</score>", None, None, "two scores"),
        ("<score>0.000001/0.000001</score>", None, None, "other-maximum"),
        ("<score>6/5</score>", 1.2, None, "out-of-range"),
        ("<score>-1/5</score>", -0.2, None, "out-of-range"),
        ("<score>3</score>", 3.0, None, "bare-number"),
        ("<score>4/4</score>", 1.0, None, "other-maximum"),
        ("<score>80%</score>", None, None, "other-maximum"),
        ("<score>1/0</score>", None, None, "other-maximum"),
        ("<score>2.3/5</score>", 0.46, None, "not-a-half"),
        ("<score>④/5</score>", None, None, "odd digit"),
        ("<score>K/N</score>", None, None, "no-score"),
        ("<score></score>", None, None, "no-score"),
        ("4/5", None, None, "no-score"),
        ("", None, None, "no-score"),
    ],
)
def test_tags(text: str, published: float | None, careful: float | None, flag: str | None) -> None:
    reading = read_score_tag(text, 5)
    assert reading.published == (None if published is None else pytest.approx(published))
    assert reading.careful == careful
    assert reading.flag == flag


def test_without_the_checklist_any_number_of_criteria_is_taken() -> None:
    assert read_score_tag("<score>3/4</score>", None).careful == 0.75
    assert read_score_tag("<score>3/4</score>", 4).careful == 0.75
    assert read_score_tag("<score>3/4</score>", 3).careful is None


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, 2 * n), st.just(n))))
def test_every_half_is_read(halves_of: tuple[int, int]) -> None:
    halves, of = halves_of
    text = f"<score>{halves / 2:g}/{of}</score>"
    assert read_score_tag(text, of).careful == pytest.approx(halves / 2 / of) == published_share(text)


@given(st.text(max_size=60))
def test_no_text_leaves_the_range(text: str) -> None:
    for each in (text, f"<score>{text}</score>"):
        careful = read_score_tag(each, 4).careful
        assert careful is None or 0 <= careful <= 1
