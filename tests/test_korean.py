"""Particles follow the sound before them, whatever the noun."""

from __future__ import annotations

import pytest
from hannun.schemas.korean import wrong_particle
from hypothesis import given
from hypothesis import strategies as st

PAIRS = [("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("으로", "로"), ("이랑", "랑"), ("이나", "나")]
SYLLABLES = st.integers(0xAC00, 0xD7A3).map(chr)
AFTER = st.sampled_from(["", " 먹자", ".", "?", ", 그리고"])


def final(word: str) -> int:
    return (ord(word[-1]) - 0xAC00) % 28


@given(st.text(SYLLABLES, min_size=1, max_size=4), st.sampled_from(PAIRS), AFTER)
def test_the_right_form_passes_and_the_other_is_named(word: str, pair: tuple[str, str], after: str) -> None:
    like_vowel = final(word) == 0 or (final(word) == 8 and pair == ("으로", "로"))
    right, wrong = (pair[1], pair[0]) if like_vowel else pair
    assert wrong_particle(word, right + after) is None
    assert wrong_particle(word, wrong + after) == (right, wrong)


@pytest.mark.parametrize(
    ("word", "rest"),
    [
        ("명사", "이다"),  # a copula written out
        ("명사", "인데"),
        ("명사", "이라니"),
        ("명사", " 이름"),
        ("말", "로는"),
        ("밤", "마다"),
        ("밤", "나무"),
        ("배", ""),
        ("NASA", "을"),  # the analyser of sounds reads Hangul only
        ("", "을"),
    ],
)
def test_what_may_be_right_is_not_named(word: str, rest: str) -> None:
    assert wrong_particle(word, rest) is None


@pytest.mark.parametrize(
    ("word", "rest", "expected"),
    [
        ("명사", "은요?", ("는", "은")),
        ("명사", "으로는 안 돼", ("로", "으로")),
        ("눈", "는 온다", ("은", "는")),
        ("말", "으로 하자", ("로", "으로")),
        ("밤", "로부터", ("으로", "로")),
        ("명사", "이에요", ("예요", "이에요")),
        ("밤", "예요", ("이에요", "예요")),
    ],
)
def test_forms_with_more_behind_them(word: str, rest: str, expected: tuple[str, str]) -> None:
    assert wrong_particle(word, rest) == expected
