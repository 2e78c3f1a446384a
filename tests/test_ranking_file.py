"""Files of rankings: three forms with the same meaning, and every wrong one named with its line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.ranking_file import read_rankings
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Candidate
from hypothesis import given
from hypothesis import strategies as st
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


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    large = [2**53 + 1, 2**53, 10**400, *range(7)]
    read = read_rankings([lines(tmp_path / "a.jsonl", {"id": "0", "scores": large})], ROWS)
    scores = read.models["a"]["sage/vwsd/0"]
    assert scores[2] > scores[0] > scores[1]


def test_what_a_file_says_of_its_rows_and_scores_is_checked_and_does_not_count(tmp_path: Path) -> None:
    carried = {
        "images": names(0, list(range(10))),
        "ranking": ORDER,
        "gold": "3.jpg",
        "positive_txt": " a bird can fly",
    }
    # The gold is first; 1/3 of single precision is right for the third place.
    third = {"id": "1", "ranking": [1, 2, 0, *range(3, 10)], "mrr": 0.3333333432674408, "hit@1": 0}
    right = lines(tmp_path / "right.jsonl", {**carried, "hit@1": 1, "mrr": 1.0}, third)
    assert read_rankings([right], ROWS).notes == []
    tied = lines(tmp_path / "tied.jsonl", {"id": "0", "scores": [1.0] * 10, "hit@1": 1, "mrr": 0.2})
    assert read_rankings([tied], ROWS).notes == []
    wrong = lines(
        tmp_path / "wrong.jsonl",
        {**carried, "hit@1": 0, "mrr": 0.5, "gold": "2.jpg", "positive_txt": "a fly"},
        {**third, "mrr": 0.5, "hit@1": "no number is not read"},
    )
    read = read_rankings([wrong], ROWS)
    assert read.models["wrong"] == read_rankings([right], ROWS).models["right"]
    assert [note.partition(": ")[2] for note in read.notes] == [
        f"{what} of {count} lines is not that of the data set, which counts"
        for what, count in (("the gold", 1), ("the phrase", 1), ("hit@1", 1), ("mrr", 2))
    ]


def test_the_phrase_tells_rows_of_the_same_images_apart(tmp_path: Path) -> None:
    rows = by_id(instance("sage/vwsd/0"), instance("sage/vwsd/1", context="fly fishing"))
    line = {"images": names(0, ORDER), "ranking": ORDER}
    read = read_rankings([lines(tmp_path / "a.jsonl", {**line, "positive_txt": "fly fishing\u200e"})], rows)
    assert list(read.models["a"]) == ["sage/vwsd/1"]
    for more in ({}, {"positive_txt": "fly ball"}):
        with pytest.raises(InputError, match="several rows"):
            read_rankings([lines(tmp_path / "b.jsonl", {**line, **more})], rows)


@pytest.mark.parametrize("config", ["sage/vwsd", "sage/verse-spis", "kona/original"])
def test_the_official_form_may_be_of_one_config(tmp_path: Path, config: str) -> None:
    rows = by_id(
        *(instance(f"{config}/{n}", n, offset=10 * n) for n in range(2)), instance("sage/wikidiverse/0", offset=90)
    )
    path = tmp_path / "a.txt"
    path.write_text("".join("\t".join(names(10 * n, ORDER)) + "\n" for n in range(2)) + "\n")
    assert list(read_rankings([path], rows).models["a"]) == [f"{config}/0", f"{config}/1"]
    both = by_id(*rows.values(), *(instance(f"kona/explicit/{n}", n, offset=10 * n) for n in range(2)))
    with pytest.raises(InputError, match="several configs"):
        read_rankings([path], both)
    path.write_text(path.read_text() * 2)
    with pytest.raises(InputError, match="not as many lines") as caught:
        read_rankings([path], rows)
    assert f"2 of {config.partition('/')[2]}, 1 of wikidiverse" in str(caught.value.expected)


def test_names_of_images_in_either_normal_form(tmp_path: Path) -> None:
    row = instance("sage/wikidiverse/0")
    first = Candidate("commons:Caf\u00e9.JPG", row.candidates[0].kind)
    rows = by_id(replace(row, candidates=(first, *row.candidates[1:])))
    given = ["Cafe\u0301.JPG", *names(0, list(range(1, 10)))]
    carried = lines(tmp_path / "a.jsonl", {"images": given, "ranking": list(range(10)), "gold": given[0]})
    official = tmp_path / "b.txt"
    official.write_text("\t".join(given) + "\r\n", "utf-8")
    read = read_rankings([carried, official], rows)
    assert read.models["a"] == read.models["b"]
    assert read.notes == []
    official.write_text("\t".join(given).replace("JPG", "jpg"), "utf-8")
    with pytest.raises(InputError, match="ten images"):
        read_rankings([official], rows)


def test_a_list_of_rankings_is_named_as_what_it_is(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.json", [{"id": "0", "ranking": ORDER}])
    with pytest.raises(InputError, match="not a ranking") as caught:
        read_rankings([path], ROWS)
    assert "object" in str(caught.value.got)


@given(st.lists(st.permutations(range(10)), min_size=2, max_size=2))
def test_every_order_reads_alike_in_every_form(
    tmp_path_factory: pytest.TempPathFactory, orders: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    offsets = (0, 10)
    own = [{"id": f"sage/vwsd/{n}", "ranking": order} for n, order in enumerate(orders)]
    scored = [{"id": str(n), "scores": [-order.index(place) for place in range(10)]} for n, order in enumerate(orders)]
    carried = [
        {"images": names(offset, order), "ranking": list(range(10))}
        for offset, order in zip(offsets, orders, strict=True)
    ]
    official = folder / "official.txt"
    official.write_text("\r\n".join("\t".join(each["images"]) for each in carried))
    paths = [lines(folder / f"{n}.jsonl", *rows) for n, rows in enumerate((own, carried, scored))]
    models = read_rankings([*paths, official], ROWS).models
    assert models["0"] == models["1"] == models["official"]
    for row_id, scores in models["2"].items():
        assert sorted(range(10), key=lambda place, of=scores: -of[place]) == sorted(
            range(10), key=lambda place, of=models["0"][row_id]: -of[place]
        )
