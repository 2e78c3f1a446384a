"""YES and NO by likelihood: spellings summed, mass told, no overflow."""

from __future__ import annotations

import math

import pytest
from hannun.evaluation.yes_no import YesNo, is_spelling, of_logits, of_probabilities
from hypothesis import given
from hypothesis import strategies as st


def test_spellings_of_both_sides_are_summed() -> None:
    answer = of_probabilities({"Yes": 0.2, "Ġyes": 0.1, "▁YES": 0.1, " No": 0.1, "Ġnope": 0.3, "Not": 0.1, "": 0.1})
    assert (answer.yes, answer.no) == (pytest.approx(0.4), pytest.approx(0.1))
    assert answer.p_yes == pytest.approx(0.8)
    assert answer.flag is None
    assert answer.swapped.p_yes == pytest.approx(0.2)


@pytest.mark.parametrize("token", ["예", "▁네", "Ġ예", " yes", "YES"])
def test_yes(token: str) -> None:
    assert of_probabilities({token: 1.0}) == YesNo(1.0, 0.0)


@pytest.mark.parametrize("token", ["아니", "아니오", "▁아니요", "No", "ĠNO"])
def test_no(token: str) -> None:
    assert of_probabilities({token: 1.0}) == YesNo(0.0, 1.0)


@pytest.mark.parametrize("token", ["아", "ĠNot", "yesterday", "네가", "", "Ġ", "none"])
def test_neither(token: str) -> None:
    answer = of_probabilities({token: 0.9})
    assert (answer.p_yes, answer.flag) == (None, "no yes/no token seen")
    assert not is_spelling(token, {"yes", "no"})


def test_little_mass_is_told() -> None:
    assert of_probabilities({"Yes": 0.003, "No": 0.001}).flag == "low mass"


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(-2_000, 2_000))
def test_logits_do_not_overflow_and_only_differences_count(yes: float, no: float, shift: float) -> None:
    wanted = 1 / (1 + math.exp(no - yes))
    assert of_logits({"Yes": yes + shift, "No": no + shift}).p_yes == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_a_given_normaliser_makes_the_mass_that_of_the_whole_vocabulary() -> None:
    logits = {"Yes": 1.0, "No": 0.0}
    answer = of_logits(logits, math.log(math.exp(1) + math.exp(0) + math.exp(5)))
    assert answer.mass == pytest.approx((math.e + 1) / (math.e + 1 + math.exp(5)))
    assert answer.flag == "low mass"
