from __future__ import annotations

import pytest
from hannun.schemas.errors import InputError
from hannun.schemas.table import parse_table
from hypothesis import given
from hypothesis import strategies as st


def test_a_plain_table_takes_quotes_as_letters() -> None:
    data = '번호\t질문\t답\n1\t"왼쪽은?\t예\n2\t오른쪽?"\tNA\n'.encode()
    table = parse_table(data, "t.tsv", columns=("번호", "답"))
    assert [row.cells for row in table.rows] == [
        {"번호": "1", "질문": '"왼쪽은?', "답": "예"},
        {"번호": "2", "질문": '오른쪽?"', "답": "NA"},
    ]
    assert [row.line for row in table.rows] == [2, 3]


def test_a_quoted_table_keeps_tabs_and_lines_inside_cells() -> None:
    data = '번호\t질문\n1\t"첫 줄\n둘째\t줄 ""인용"""\n2\t끝\n'.encode()
    table = parse_table(data, "t.tsv", dialect="quoted")
    assert table.rows[0]["질문"] == '첫 줄\n둘째\t줄 "인용"'
    assert [row.line for row in table.rows] == [2, 4]


def test_huge_cells_are_read() -> None:
    cell = "A" * 300_000
    data = f"index\timage\n1\t{cell}\n".encode()
    for dialect in ("plain", "quoted"):
        assert parse_table(data, "t.tsv", dialect=dialect).rows[0]["image"] == cell


def test_a_mark_does_not_change_the_first_column() -> None:
    table = parse_table(b"\xef\xbb\xbf" + "번호\t답\r\n1\t가\r\n".encode(), "t.tsv")
    assert table.columns == ("번호", "답")
    assert table.rows[0].cells == {"번호": "1", "답": "가"}
    assert table.notes


@pytest.mark.parametrize("cell", ["NA", "null", "None", "nan", "N/A", "", "007", "1.0", "True", "-"])
def test_cells_stay_text(cell: str) -> None:
    assert parse_table(f"a\tb\n{cell}\tx\n".encode(), "t").rows[0]["a"] == cell


@pytest.mark.parametrize(
    ("data", "dialect", "says"),
    [
        ("a\tb\n1\n", "plain", "number of cells"),
        ("a\tb\n1\t2\t3\n", "plain", "number of cells"),
        ("a\ta\n1\t2\n", "plain", "repeated column"),
        ("x\ty\n1\t2\n", "plain", "missing column"),
        ("", "plain", "empty table"),
        ('a\tb\n1\t"open\n', "quoted", "quoting is broken"),
    ],
)
def test_a_broken_table_is_an_error_with_its_line(data: str, dialect: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        parse_table(data.encode(), "t.tsv", columns=("a", "b"), dialect=dialect)
    assert "t.tsv" in str(caught.value.where)


cells = st.text(st.characters(exclude_characters="\t\n\r\0\ufeff", exclude_categories=("Cs",)))


@given(st.lists(st.tuples(cells, cells)))
def test_what_has_no_tab_or_line_end_reads_back_plainly(rows: list[tuple[str, str]]) -> None:
    data = "".join(f"k{a}\t{b}\n" for a, b in [("ey", "value"), *rows]).encode()
    table = parse_table(data, "t")
    assert [tuple(row.cells.values()) for row in table.rows] == [(f"k{a}", b) for a, b in rows]
