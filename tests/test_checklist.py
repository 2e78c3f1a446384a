"""Checklists in every form in which tables hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.recipes.checklist import EXPECTED, Form, read_checklist, without_marker
from hannun.schemas.errors import InputError
from hannun.schemas.text import nfc
from hypothesis import given
from hypothesis import strategies as st

MARKERS = ("{n}. ", "{n}) ", "({n}) ", "{n}.", "- ", "* ", "• ", "·", " {n}.  ")
# What a person writes: no marker, line end or blank at its edges.
CRITERIA = st.text(st.sampled_from("가힣사진을 색이름맞다abc0123.,()"), min_size=1, max_size=30).map(
    lambda text: "답 " + nfc(text).strip()
).map(str.strip)  # fmt: skip
LISTS = st.lists(CRITERIA, min_size=1, max_size=8)


@given(LISTS, st.sampled_from(MARKERS))
def test_the_three_expected_forms_give_the_same_criteria(criteria: list[str], marker: str) -> None:
    marked = [marker.format(n=n) + text for n, text in enumerate(criteria, 1)]
    cells = {
        Form.LIST: marked,
        Form.JSON: json.dumps(marked, ensure_ascii=False),
        Form.LINES: "\r\n".join(marked),
    }
    for form, cell in cells.items():
        found = read_checklist(cell)
        assert (found.form, list(found.items), found.blank) == (form, criteria, 0)
        assert found.form in EXPECTED
        assert found.raw == cell if isinstance(cell, str) else json.loads(found.raw) == cell


@given(
    st.one_of(st.none(), st.text(max_size=60), st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=6)),
)
def test_the_verbatim_form_reads_as_the_cell_did(cell: Any) -> None:
    try:
        found = read_checklist(cell)
    except InputError:
        return
    again = read_checklist(found.raw)
    assert (again.items, again.blank, again.raw) == (found.items, found.blank, found.raw)
    assert all(item.strip() == item and nfc(item) == item and item for item in found.items)
    if isinstance(cell, list):
        assert len(found.items) + found.blank == len(cell)


@given(st.integers(1, 99), CRITERIA)
def test_one_marker_is_taken_and_no_more(number: int, text: str) -> None:
    assert without_marker(text) == text
    assert without_marker(f"{number}. {number}) {text}") == f"{number}) {text}"


@pytest.mark.parametrize(
    "text", ["1.5배라고 답한다", "-5도보다 낮다고 답한다", "3D 모델이라고 말한다", "2024. 5. 3.이라고 답한다"]
)
def test_numbers_that_are_content_stay(text: str) -> None:
    assert without_marker(text) == text


def test_nothing_null_and_empty_stay_apart() -> None:
    found = {repr(cell): read_checklist(cell) for cell in (None, [], "", [" "])}
    assert [each.items for each in found.values()] == [()] * 4
    assert [each.raw for each in found.values()] == ["null", "[]", "", '[" "]']
    assert [each.form for each in found.values()] == [Form.NULL, Form.EMPTY, Form.EMPTY, Form.LIST]
    assert [each.blank for each in found.values()] == [0, 0, 0, 1]


def test_other_forms_are_read_where_nothing_is_guessed() -> None:
    assert read_checklist("['1. 색', '2. 수']").form is Form.PYTHON
    assert read_checklist("['1. 색', '2. 수']").items == ("색", "수")
    assert read_checklist("[참고] 색을 말한다").items == ("[참고] 색을 말한다",)
    assert read_checklist("[1]").items == ("[1]",)
    assert read_checklist("\u1109\u1162\u11a8").items == ("색",)


@pytest.mark.parametrize(
    "cell",
    [
        7,
        [1, 2],
        ["색", 2],
        [["색"]],
        {},
        {"weight": [1]},
        [{"weight": 1}],
        {"item": "색"},
        '{"a": 1}',
        float("nan"),
        {"item": ["색"], "at": [b""]},
    ],
)
def test_what_would_be_guessed_is_refused(cell: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_checklist(cell)
    assert caught.value.expected
    assert caught.value.todo


def test_shapes_of_public_bug_reports(shared_cases: Path) -> None:
    import pyarrow.parquet as pq

    case = shared_cases / "D02-checklist-shape"
    if not case.is_dir():
        pytest.skip("case D02 is not at hand")
    expected = json.loads((case / "case.json").read_text("utf-8"))["expected"]
    forms: dict[str, list[int]] = {}
    for row in map(json.loads, (case / "forms.jsonl").read_text("utf-8").splitlines()):
        if "c" not in row:
            forms.setdefault("missing", []).append(row["id"])
            continue
        found = read_checklist(row["c"])
        string = isinstance(row["c"], str)
        name = {Form.TRANSPOSED: "transposed", Form.EMPTY: "empty", Form.NULL: "null"}.get(found.form)
        if found.blank:
            name = "blank_item"
        elif len(set(found.items)) < len(found.items):
            name = "duplicate_item"
        forms.setdefault(name or ("string_form" if string else "ok"), []).append(row["id"])
    assert forms == expected["forms.jsonl"]

    def cells(name: str) -> list[dict[str, Any]]:
        table = pq.read_table(case / name)
        column = next(each for each in table.column_names if each not in ("id", "question_idx"))
        return [{"id": row.get("id", place), "cell": row[column]} for place, row in enumerate(table.to_pylist())]

    lengths = [
        None if c["cell"] is None else len(read_checklist(c["cell"]).items) for c in cells("list_of_struct.parquet")
    ]
    assert lengths == expected["list_of_struct.parquet"]["lengths"]
    refused = []
    for each in cells("struct_of_list.parquet"):
        try:
            read_checklist(each["cell"])
        except InputError as error:
            refused.append((each["id"], error.what))
    wanted = expected["struct_of_list.parquet"]
    assert refused == [(each, wanted["note"]) for each in wanted["error_ids"]]
