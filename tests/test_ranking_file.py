"""Files of rankings: three forms with the same meaning, and every wrong one named with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.ranking_file import read_rankings
from hannun.schemas.errors import InputError
from rankings import by_id, instance, lines

ROWS = by_id(instance("sage/vwsd/0", 3), instance("sage/vwsd/1", 0, offset=10))
ORDER = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9]
SCORES = [9.0, 8.0, 7.0, 10.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
SAME = [10.0 - place for place in range(10)]


def names(offset: int, order: list[int]) -> list[str]:
    return [f"{offset + place}.jpg" for place in order]


def test_every_form_says_the_same(tmp_path: Path) -> None:
    own = lines(
        tmp_path / "own.jsonl",
        {"id": "sage/vwsd/0", "ranking": ORDER},
        {"id": "1", "scores": SAME, "model": None} | {"model": "own"},
    )
    shuffled = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    carried = lines(
        tmp_path / "carried.jsonl",
        {"images": names(10, list(range(10))), "ranking": list(range(10)), "gold": "10.jpg", "mrr": 1.0},
        {"images": names(0, shuffled), "ranking": [shuffled.index(each) for each in ORDER], "gold": "4.jpg"},
    )
    official = tmp_path / "official.txt"
    official.write_bytes(
        b"\xef\xbb\xbf"
        + "\r\n".join("\t".join(each) for each in (names(0, ORDER), names(10, list(range(10))))).encode()
    )
    read = read_rankings([own, carried, official], ROWS)
    assert read.models["own"] == {"sage/vwsd/0": tuple(SCORES), "sage/vwsd/1": tuple(SAME)}
    assert read.models["carried"] == read.models["own"] == read.models["official"]
    # What a file says of the gold does not count, and is told.
    assert len(read.notes) == 1
    assert "the gold of 1 lines" in read.notes[0]


def test_models_are_called_as_lines_say_or_as_their_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    row = {"id": "sage/vwsd/0", "ranking": ORDER}
    first, second = lines(tmp_path / "m.jsonl", row), lines(tmp_path / "b" / "m.jsonl", row)
    assert list(read_rankings([first, second], ROWS).models) == ["m", "m (2)"]
    both = lines(tmp_path / "two.jsonl", {**row, "model": "x"}, {**row, "model": "y"})
    assert list(read_rankings([both], ROWS).models) == ["x", "y"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "sage/vwsd/0", "ranking": ORDER[:9]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "ranking": [*ORDER[:9], 3]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "ranking": [10, *ORDER[1:]]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "ranking": [*ORDER[:9], True]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "scores": [*SAME[:9], "1"]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "scores": [*SAME, 0.0]}, "not a ranking"),
        ({"id": "sage/vwsd/0", "scores": SAME, "ranking": ORDER}, "not a ranking"),
        ({"id": "sage/vwsd/0"}, "not a ranking"),
        ({"ranking": ORDER}, "not a ranking"),
        ({"id": "sage/vwsd/9", "ranking": ORDER}, "no such row"),
        ({"id": "kona/original/0", "ranking": ORDER}, "no such row"),
        ({"images": names(5, ORDER), "ranking": ORDER}, "no row has these images"),
        ({"id": "sage/vwsd/0", "images": names(10, ORDER), "ranking": ORDER}, "not those of the row"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    path = lines(tmp_path / "a.jsonl", {"id": "sage/vwsd/1", "ranking": ORDER}, row)
    with pytest.raises(InputError, match=says) as caught:
        read_rankings([path], ROWS)
    assert "a.jsonl, line 2" in str(caught.value.where)
    assert caught.value.todo


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "1", "scores": SAME}).replace("10.0", number))
    with pytest.raises(InputError, match=r"line 1|not JSON|range"):
        read_rankings([path], ROWS)


def test_a_row_ranked_twice_is_found(tmp_path: Path) -> None:
    row = {"id": "sage/vwsd/0", "ranking": ORDER}
    with pytest.raises(InputError, match="ranked twice") as caught:
        read_rankings([lines(tmp_path / "a.jsonl", row, {**row, "id": "0"})], ROWS)
    assert "line 2" in str(caught.value.where)
    assert "line 1" in str(caught.value.got)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\t".join(names(0, ORDER)), "not as many lines"),
        ("\n".join(["\t".join(names(0, ORDER))] * 2), "ten images of sage/vwsd/1"),
        ("\t".join(names(0, ORDER[:9])) + "\n" + "\t".join(names(10, ORDER)), "ten images of sage/vwsd/0"),
        ("\t".join(names(0, [3, 3, *ORDER[2:]])) + "\n" + "\t".join(names(10, ORDER)), "ten images of sage/vwsd/0"),
        ("", "not as many lines"),
    ],
)
def test_wrong_files_of_the_official_form_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_rankings([path], ROWS)


def test_rows_of_the_same_images_need_an_id(tmp_path: Path) -> None:
    rows = by_id(instance("sage/verse-spis/a"), instance("sage/verse-spis-neutralized/a"))
    with pytest.raises(InputError, match="several rows") as caught:
        read_rankings([lines(tmp_path / "a.jsonl", {"images": names(0, ORDER), "ranking": ORDER})], rows)
    assert "sage/verse-spis/a" in str(caught.value.got)
    with pytest.raises(InputError, match="which config"):
        read_rankings([lines(tmp_path / "b.jsonl", {"id": "a", "ranking": ORDER})], rows)
    read = read_rankings([lines(tmp_path / "c.jsonl", {"id": "a", "config": "verse-spis", "ranking": ORDER})], rows)
    assert list(read.models["c"]) == ["sage/verse-spis/a"]
