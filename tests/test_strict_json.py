from __future__ import annotations

import pytest
from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import dump_lines, dumps, loads, numbered_lines
from hypothesis import given
from hypothesis import strategies as st

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_what_is_written_reads_back_and_is_one_line(value: object) -> None:
    text = dumps(value)
    assert "\n" not in text
    assert loads(text, "here") == value
    assert dumps(loads(text, "here")) == text


@given(st.dictionaries(st.text(), st.integers()))
def test_equal_objects_give_equal_text_whatever_their_order(value: dict[str, int]) -> None:
    assert dumps(dict(reversed(value.items()))) == dumps(value)


def test_korean_is_written_as_it_is() -> None:
    assert dumps({"나": 1, "가": [1.5, None]}) == '{"가":[1.5,null],"나":1}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "out of range"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 1}}', "twice"),
        (r'["\ud83c"]', "surrogate"),
        ("{'a': 1}", "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "deeply"),
        ('{"a": 1} {"b": 2}', "not JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        loads(text, "rows.jsonl, line 7")
    assert caught.value.where == "rows.jsonl, line 7"


@pytest.mark.parametrize(
    ("text", "says", "got"),
    [
        ('{"a": 1}\n{"b": 2}\n', "not JSON but JSON lines", "Extra data at line 2, column 1"),
        ('{"a": 1} {"b": 2}', "not JSON", "Extra data at column 10"),
        ('{"a": "b', "not JSON: the text ends too early", "Unterminated string starting at column 7"),
        ("[\n1,\n", "not JSON: the text ends too early", "Expecting value at line 3, column 1"),
        (" \n", "not JSON but an empty text", "Expecting value at column 1"),
    ],
)
def test_the_kind_and_the_place_of_a_fault_are_told(text: str, says: str, got: str) -> None:
    with pytest.raises(InputError) as caught:
        loads(text, "here.json")
    assert caught.value.what.startswith(says)
    assert caught.value.got == got
    assert caught.value.todo == "get the file again, or mend it there"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nothing_unreadable_is_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        dumps({"a": value})


def test_lines_are_counted_from_one_and_empty_ones_skipped() -> None:
    assert list(numbered_lines('{"a":1}\n\r\n  \n{"b":2}\r\n', "f")) == [(1, {"a": 1}), (4, {"b": 2})]
    assert dump_lines([{"b": 1}, {}]) == '{"b":1}\n{}\n'
