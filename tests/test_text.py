from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hannun.schemas.errors import InputError
from hannun.schemas.text import Oddity, compare_texts, comparison_key, nfc, oddities
from hannun.schemas.text_file import decode, find_file, lines_of, read_text
from hypothesis import given
from hypothesis import strategies as st


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("a", "b", "same", "why"),
    [
        ("서울역", "서울역", True, "identical"),
        ("서울역 앞", nfd("서울역 앞"), True, "NFC"),
        ("광화문", "광\u200b화문", True, "zero-width"),
        ("광화문", "\ufeff광화문\u2060", True, "zero-width"),
        ("광화문", nfd("광\u200d화문"), True, "zero-width"),
        ("네모", "네모\u3164", False, "Hangul filler"),
        ("네모", "\uffa0네모", False, "Hangul filler"),
        ("KTX 12", "ＫＴＸ １２", False, "NFKC"),
        ("두 명", "두\u00a0명", False, "space"),
        ("두 명", "두\u3000명", False, "space"),
        ("ㅋㅋ", "\u110f\u110f", False, "conjoining jamo"),
        ("사과", "배", False, "different text"),
        ("👩\u200d🚀", "👩\u200d🚀", True, "identical"),
        ("👩\u200d🚀", "👩🚀", False, "different text"),
    ],
)
def test_texts_are_compared_after_nfc_and_without_what_has_no_width(a: str, b: str, same: bool, why: str) -> None:
    for left, right in ((a, b), (b, a)):
        comparison = compare_texts(left, right)
        assert comparison.same is same
        assert why in comparison.why


def test_joiners_inside_emoji_and_joining_scripts_stay() -> None:
    family = "👨\u200d👩\u200d👧"
    assert comparison_key(family) == family
    assert comparison_key("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645").count("\u200c") == 1
    assert comparison_key("경\u200d복궁") == "경복궁"
    assert oddities(family) == []


@given(st.text())
def test_the_key_is_stable_and_does_not_depend_on_the_normal_form(text: str) -> None:
    key = comparison_key(text)
    assert comparison_key(key) == key
    assert comparison_key(nfd(text)) == key
    assert nfc(key) == key


@given(st.text(alphabet="가나다라각난닫랄 ", min_size=1), st.integers(0, 20))
def test_a_zero_width_character_anywhere_changes_nothing(text: str, place: int) -> None:
    place = min(place, len(text))
    assert comparison_key(text[:place] + "\u200b" + text[place:]) == comparison_key(text)


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        (nfd("한글"), Oddity.NOT_NFC, 0),
        ("가\u200b나", Oddity.ZERO_WIDTH, 1),
        ("끝\u3164", Oddity.FILLER, 1),
        ("번호 １", Oddity.FULL_WIDTH, 3),
        ("세\u00a0개", Oddity.ODD_SPACE, 1),
        ("\u1100", Oddity.LONE_JAMO, 0),
        ("가\x07", Oddity.CONTROL, 1),
        ("깨\ufffd짐", Oddity.REPLACEMENT, 1),
        ("끝 ", Oddity.OUTER_SPACE, 1),
        ("\t앞", Oddity.OUTER_SPACE, 0),
    ],
)
def test_oddities_are_named_with_their_place(text: str, kind: Oddity, place: int) -> None:
    assert (kind, place) in oddities(text)


@pytest.mark.parametrize(
    "text",
    ["ㅋㅋㅋ 진짜?", "A/S 기사님(010) “내일” 오신대요…", "~10℃, 3㎡", "한국어 漢字 かな", "✌️👩🏽‍🚀", "줄\n바꿈\t탭"],
)
def test_ordinary_text_has_no_oddities(text: str) -> None:
    assert oddities(text) == []


def test_a_leading_mark_is_dropped_and_noted() -> None:
    decoded = decode(b"\xef\xbb\xbf" + "번호\t답\n".encode(), "a.tsv")
    assert decoded.text == "번호\t답\n"
    assert decoded.notes == ("BOM: a byte-order mark at the beginning was skipped",)
    assert decode("번호".encode(), "a.tsv").notes == ()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("가\n나".encode("utf-16"), "not UTF-8 (UTF-16 BOM)"),
        ("가\n나".encode("utf-16-be"), "NUL character"),
        (b"\xfe\xff" + "a".encode("utf-16-be"), "not UTF-8 (UTF-16 BOM)"),
        ("가".encode("utf-32"), "not UTF-8 (UTF-32 BOM)"),
        ("질문: 무슨 색?".encode("cp949"), "CP949"),
        (b"a\nb\xff", "not UTF-8"),
        (b"a\0b", "NUL character"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "byte-order mark inside"),
    ],
)
def test_what_is_not_plain_utf8_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("(", r"\(").replace(")", r"\)")):
        decode(data, "f")


def test_a_mark_inside_the_file_is_an_error_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        decode("가\n나\n\ufeff다\n".encode(), "joined.jsonl")
    assert caught.value.where == "joined.jsonl, line 3"


def test_only_lf_ends_a_line() -> None:
    assert lines_of("a\u2028b\x0bc\r\nd\x85e\n") == ["a\u2028b\x0bc", "d\x85e"]


def test_cr_ends_lines_where_there_is_no_lf() -> None:
    assert lines_of("a\rb c\r\rd\r") == ["a", "b c", "", "d"]
    assert lines_of("a\rb\r\nc") == ["a\rb", "c"]


def test_files_are_found_under_either_normal_form(tmp_path: Path) -> None:

    folder = tmp_path
    (folder / nfd("사진첩")).mkdir()
    (folder / nfd("사진첩") / nfd("강아지.jpg")).write_bytes(b"x")
    found = find_file(folder, "사진첩/강아지.jpg")
    assert found is not None
    path, note = found
    assert path.read_bytes() == b"x"
    assert note is not None
    assert "on disk" in note
    assert find_file(folder, "사진첩/고양이.jpg") is None
    (folder / "강.txt").write_bytes(b"1")
    assert find_file(folder, "강.txt") == (folder / "강.txt", None)
    for outside in ("../x", "/etc/passwd", ""):
        with pytest.raises(InputError):
            find_file(folder, outside)


def test_two_files_that_answer_to_one_name_are_not_guessed_between(tmp_path: Path) -> None:

    folder = tmp_path
    (folder / nfd("곰.png")).write_bytes(b"1")
    (folder / "곰\u200b.png").write_bytes(b"2")
    with pytest.raises(InputError, match="several files"):
        find_file(folder, "곰.png")


def test_a_missing_file_is_explained(tmp_path: Path) -> None:

    with pytest.raises(InputError, match="no such file"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(InputError, match="a folder"):
        read_text(tmp_path)
