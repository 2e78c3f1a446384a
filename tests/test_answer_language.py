"""The language rule: py3langid's own labels, NFC, digits, and what is in doubt."""

from __future__ import annotations

import pytest

py3langid = pytest.importorskip("py3langid")

import unicodedata  # noqa: E402

from hannun.evaluation.answer_language import detector_version, languages  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

MIXED = st.text(alphabet="가나다라 네아니요ㅋ hello12.,在のßéдаю①½\n", max_size=30)


@settings(max_examples=40, deadline=None)
@given(st.lists(MIXED, min_size=1, max_size=5))
def test_labels_are_those_of_py3langid(answers: list[str]) -> None:
    said = languages(answers)
    for answer in answers:
        assert said[answer].label == py3langid.classify(answer)[0]


def test_more_answers_than_a_batch_are_labelled_alike() -> None:
    answers = [f"사진에는 우산이 {number}개 있습니다." for number in range(4_100)] + ["It is an umbrella."]
    said = languages(answers)
    assert {each.label for each in said.values()} == {"ko", "en"}
    assert [each for each, language in said.items() if not language.kept] == ["It is an umbrella."]


@pytest.mark.parametrize("answer", ["12", "12.5%", "2024-05-01", "(3)", "１２", "③", " \n"])
def test_digits_and_punctuation_are_kept(answer: str) -> None:
    assert languages([answer])[answer].kept


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        ("빨간색입니다.", None),
        ("정답은 B입니다.", None),
        ("It is red.", "not Korean"),
        ("25℃", "not Korean"),
        ("ㅋㅋ", "language in doubt"),
        ("The sign on the wall says 출구.", "language in doubt"),
        (unicodedata.normalize("NFD", "서울특별시 종로구"), "language in doubt"),
        ("", "empty answer"),
        ("  ", "empty answer"),
    ],
)
def test_flags(answer: str, flag: str | None) -> None:
    assert languages([answer])[answer].flag == flag


def test_nfc_first_keeps_decomposed_korean() -> None:
    answer = unicodedata.normalize("NFD", "빨간색입니다.")
    said = languages([answer])[answer]
    assert (said.kept, said.kept_nfc) == (False, True)
    assert said.note.endswith("of its NFC form ko")


def test_the_version_is_known() -> None:
    assert detector_version().count(".") >= 1
    assert languages([]) == {}
