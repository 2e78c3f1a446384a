"""KOFFVQA: a table in the true layout, wrong ones, the criteria, and a whole run."""

from __future__ import annotations

import base64
import csv
import io
import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.recipes.criteria import Criterion, parse_criteria
from hannun.reconstruct.recipes.koffvqa import plan
from hannun.reconstruct.recipes.koffvqa_categories import CATEGORIES, MAIN, category_of, main_category
from hannun.reconstruct.records import Records
from hannun.reconstruct.source import Source
from hannun.schemas import catalogue
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.plan import Planned
from hannun.schemas.question import Question
from hannun.schemas.text import nfc
from hannun.validate.checks.koffvqa import ROWS, Checks
from hannun.validate.finding import Place
from hannun.validate.reader import Row
from hannun.validate.target import validate
from hypothesis import given
from hypothesis import strategies as st
from pictures import jpeg, png

KOFFVQA = catalogue.benchmark("koffvqa")
COUNTS = {
    "Object Attributes": 60,
    "Recognition": 10,
    "Recognition-KO": 10,
    "Relationship": 30,
    "KO-OCR": 20,
    "Commonsense Reasoning": 45,
    "Document": 30,
    "Table": 30,
    "Graph and Chart": 30,
    "Hallucination and Robustness": 10,
}
QUESTIONS = (
    "사진 속 우산은 무슨 색인가요?",
    '간판에 적힌 "영업 중"이라는 글자는 어디에 있나요?',
    "표에서 합계가 가장 큰 달은 언제인가요?\n그 값도 함께 적어 주세요.",
    "다음 두 칸을 비교해 주세요.\t왼쪽이 더 큰가요?",
    "그래프의 세로축은 5' 단위인가요, 10\" 단위인가요?",
)
ADDITIVE = "* 우산이 두 개라고 답하면 +4점\n* 두 우산의 색을 모두 맞히면 +6점"
EXCLUSIVE = "* 글자를 모두 바르게 읽으면 10점\r\n* 한 글자만 틀리면 5점\r\n* 그 밖의 답은 0점"


def huge_picture() -> bytes:
    """A JPEG whose base64 is longer than the 131,072 characters that csv takes by default."""
    from PIL import Image

    noise = Image.frombytes("RGB", (300, 300), random.Random(5).randbytes(270_000))
    stream = io.BytesIO()
    noise.save(stream, "JPEG", quality=95)
    assert len(stream.getvalue()) * 4 // 3 > 131_072
    return stream.getvalue()


def turned_picture() -> bytes:
    """A JPEG that is stored on its side."""
    from PIL import Image

    image = Image.new("RGB", (40, 20), (9, 99, 199))
    exif = Image.Exif()
    exif[0x0112] = 6
    stream = io.BytesIO()
    image.save(stream, "JPEG", exif=exif)
    return stream.getvalue()


def cell_of(data: bytes, form: int) -> str:
    """Base64 in one of the forms that are in use."""
    plain = base64.b64encode(data).decode()
    forms: tuple[Callable[[], str], ...] = (
        lambda: plain,
        lambda: f"data:image/jpeg;base64,{plain}",
        lambda: "\n".join(plain[at : at + 76] for at in range(0, len(plain), 76)),
        lambda: plain.rstrip("="),
        lambda: base64.urlsafe_b64encode(data).decode(),
        lambda: f"  {plain} ",
    )
    return forms[form % len(forms)]()


def table(rows: int = ROWS) -> tuple[list[dict[str, str]], list[bytes]]:
    """Rows in upstream's columns, with as many of each category as there are, and their pictures."""
    categories = [name for name, count in COUNTS.items() for _ in range(count)]
    made, pictures = [], []
    for number in range(rows):
        picture = jpeg((number % 256, number // 256, 90))
        picture = {7: huge_picture(), 8: turned_picture(), 9: png((1, 2, 3))}.get(number, picture)
        pictures.append(picture)
        made.append(
            {
                "index": str(number + 1),
                "image": cell_of(picture, number),
                "question": "NA" if number == 11 else f"{QUESTIONS[number % len(QUESTIONS)]} ({number})",
                "answer": EXCLUSIVE if number % 3 else ADDITIVE,
                "category": categories[number % len(categories)],
            }
        )
    return made, pictures


def tsv(rows: Sequence[Mapping[str, Any]], *, line_end: str = "\n", mark: str = "") -> str:
    """As pandas writes it: quoted where a cell needs it."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t", lineterminator=line_end)
    writer.writeheader()
    writer.writerows(rows)
    return mark + stream.getvalue()


def planned(path: Path) -> Planned:
    return plan(KOFFVQA, {"koffvqa": Source("koffvqa", str(path), records=Records(path))}, {"seed": 1})


def planned_rows(rows: Sequence[Mapping[str, Any]], folder: Path) -> Planned:
    path = folder / "KOFFVQA.tsv"
    path.write_bytes(tsv(rows).encode())
    return planned(path)


def questions(result: Planned) -> list[Question]:
    assert all(isinstance(row, Question) for row in result.rows)
    return [row for row in result.rows if isinstance(row, Question)]


def codes(target: Path) -> Counter[str]:
    return Counter(each.rule.code for each in validate(str(target)).findings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the whole table; no test may change it."""
    folder = tmp_path_factory.mktemp("koffvqa")
    source = folder / "KOFFVQA.tsv"
    source.write_bytes(tsv(table()[0], line_end="\r\n", mark="\ufeff").encode())
    done = run_koffvqa(source, folder / "built", folder / "store")
    assert done.returncode == 0, done.stderr
    return folder / "built"


def run_koffvqa(source: Path, out: Path, store: Path, *more: str) -> Any:
    import subprocess
    import sys

    program = Path(sys.executable).with_name("sage-reconstruct")
    command = [program, "run", "koffvqa", "--source", f"koffvqa={source}", "--out", out, "--store", store, *more]
    return subprocess.run([*map(str, command)], check=False, capture_output=True, text=True, timeout=300)


# Criteria


def test_criteria_as_the_paper_shows_them() -> None:
    assert parse_criteria(ADDITIVE) == [
        Criterion("우산이 두 개라고 답하면", 4, "additive"),
        Criterion("두 우산의 색을 모두 맞히면", 6, "additive"),
    ]
    assert parse_criteria(EXCLUSIVE) == [
        Criterion("글자를 모두 바르게 읽으면", 10, "exclusive"),
        Criterion("한 글자만 틀리면", 5, "exclusive"),
        Criterion("그 밖의 답은", 0, "exclusive"),
    ]


@pytest.mark.parametrize(
    ("line", "text", "points", "kind"),
    [
        ("- 색을 맞히면 (+4점)", "색을 맞히면", 4, "additive"),
        ("• 색을 맞히면: ＋４점.", "색을 맞히면", 4, "additive"),
        ("1. 색을 맞히면 [10점]", "색을 맞히면", 10, "exclusive"),
        ("2) 색을 맞히면【 0 점 】", "색을 맞히면", 0, "exclusive"),
        ("③ 색을 맞히면 + 2.5점", "색을 맞히면", 2.5, "additive"),
        ("* 틀린 색을 덧붙이면 -3점", "틀린 색을 덧붙이면", -3, "additive"),
        ("* 틀린 색을 덧붙이면 −１．５점", "틀린 색을 덧붙이면", -1.5, "additive"),
        ("* 색을 맞히면 - 3점", "색을 맞히면", 3, "exclusive"),
        ("* 색을 맞히면10점", "색을 맞히면", 10, "exclusive"),
        ("* 10점", "", 10, "exclusive"),
        ("**빨간색**이라고 답하면 10점", "**빨간색**이라고 답하면", 10, "exclusive"),
        ("* 세 개를 맞히면 8/10점", "세 개를 맞히면 8/10점", None, "unknown"),
        ("* 비슷하면 3~5점", "비슷하면 3~5점", None, "unknown"),
        ("* 비슷하면 3 - 5점", "비슷하면 3 - 5점", None, "unknown"),
        ("* 상금은 1,000점", "상금은 1,000점", None, "unknown"),
        ("* 판번호 1.5.2점", "판번호 1.5.2점", None, "unknown"),
        ("* 10점 만점으로 채점", "10점 만점으로 채점", None, "unknown"),
        ("* 색을 맞히면", "색을 맞히면", None, "unknown"),
    ],
)
def test_a_criterion_in_every_spelling(line: str, text: str, points: float | None, kind: str) -> None:
    assert parse_criteria(line) == [Criterion(text, points, kind)]  # type: ignore[arg-type]


def test_lines_without_points_continue_the_one_before() -> None:
    found = parse_criteria("채점 기준:\n* 우산이\n  두 개라고 답하면 +4점\n  (한 쌍도 인정)\n색을 맞히면 +6점\n\n")
    assert found == [
        Criterion("채점 기준:", None, "unknown"),
        Criterion("우산이\n두 개라고 답하면\n(한 쌍도 인정)", 4, "additive"),
        Criterion("색을 맞히면", 6, "additive"),
    ]


WORDS = st.text("가나다라마바사 우산색개", min_size=1, max_size=20).filter(str.strip).map(str.strip)
POINTS = st.integers(0, 20).map(float) | st.integers(0, 39).map(lambda n: n / 2)


@given(
    st.lists(st.tuples(WORDS, POINTS, st.sampled_from(["+", "-", ""])), min_size=1, max_size=8),
    st.sampled_from(["* ", "- ", "• ", "*", "1. ", "12) "]),
    st.sampled_from([" {}", " ({})", ": {}", " [{}]", " {}.", "\t{}  "]),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
)
def test_what_is_written_is_read(
    items: list[tuple[str, float, str]], bullet: str, frame: str, line_end: str, full_width: bool
) -> None:
    to_full = str.maketrans("0123456789.+-", "０１２３４５６７８９．＋－")
    lines = []
    for text, points, sign in items:
        number = f"{sign}{points:g}점"
        lines.append(bullet + text + frame.format(number.translate(to_full) if full_width else number))
    expected = [
        Criterion(text, -points if sign == "-" else points, "additive" if sign else "exclusive")
        for text, points, sign in items
    ]
    assert parse_criteria(line_end.join(lines)) == expected


@given(st.text() | st.text("*-•+0123456789.점()[]:~/ \n가나", max_size=60))
def test_no_text_breaks_the_parser_or_gets_lost(text: str) -> None:
    found = parse_criteria(text)
    assert bool(found) == bool(text.strip())
    for each in found:
        assert (each.points is None) == (each.kind == "unknown")
        assert each.points is None or abs(each.points) < 10_000
        assert all(line.strip() in text for line in each.text.split("\n"))
    letters = Counter(char for char in text if char.isalpha() and char != "점")
    assert Counter(char for each in found for char in each.text if char.isalpha() and char != "점") == letters


# Categories


def test_the_ten_categories_stand_in_three() -> None:
    assert len(CATEGORIES) == 10
    assert set(COUNTS) == set(CATEGORIES)
    sums = {main: sum(COUNTS[name] for name in names) for main, names in MAIN.items()}
    assert sums == {"Perception": 130, "Reasoning": 135, "Safety and Bias": 10}
    facts = {fact["what"]: fact["value"] for fact in KOFFVQA.facts}
    assert facts["questions"] == ROWS
    assert facts["categories"] == len(CATEGORIES)
    for main, names in MAIN.items():
        assert facts[f"questions of the main category {main}"] == sums[main]
        assert all(facts[f"questions of {name} ({main})"] == COUNTS[name] for name in names)


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        ("KO-OCR", "KO-OCR"),
        ("ko ocr", "KO-OCR"),
        ("recognition_ko", "Recognition-KO"),
        ("Recognition (KO)", "Recognition-KO"),
        ("graph & chart", "Graph and Chart"),
        (" OBJECT-ATTRIBUTES", "Object Attributes"),
        ("Ｔable", "Table"),
        ("표", None),
        ("", None),
    ],
)
def test_categories_in_several_spellings(stored: str, name: str | None) -> None:
    assert category_of(stored) == name


@pytest.mark.parametrize(
    ("category", "coarser", "main"),
    [
        ("Table", "perception", "Reasoning"),
        ("표", "reasoning", "Reasoning"),
        ("표", "safety & bias", "Safety and Bias"),
        ("표", "KO-OCR", "Perception"),
        ("표", "그림", None),
        ("표", "", None),
    ],
)
def test_the_main_category_is_told_or_left_open(category: str, coarser: str, main: str | None) -> None:
    assert main_category(category, coarser) == main


# The recipe


def test_rows_and_pictures_are_those_of_the_table(tmp_path: Path) -> None:
    rows, pictures = table()
    result = planned_rows(rows, tmp_path)
    assert (len(result.rows), len(result.images), result.dropped) == (275, 275, ())
    for number, (row, picture, question, entry) in enumerate(
        zip(rows, pictures, questions(result), result.images, strict=True)
    ):
        image_id = f"koffvqa:{number + 1}"
        assert (question.id, question.split, question.images) == (f"koffvqa/default/{number + 1}", "test", (image_id,))
        assert question.record == {
            "index": row["index"],
            "question": row["question"],
            "criteria": [each.to_json() for each in parse_criteria(row["answer"])],
            "criteria_raw": row["answer"],
            "category": row["category"],
            "main_category": main_category(row["category"], ""),
        }
        assert entry.image_id == image_id
        assert entry.locations == (f"row:koffvqa!{number}/image",)
        assert entry.digests == digests_of(picture)
        assert entry.bytes == len(picture)
        assert entry.licence == KOFFVQA.image_licence.for_lock()
    counts = Counter(question.record["category"] for question in questions(result))
    assert counts == COUNTS


def test_marks_line_ends_and_kinds_of_file_make_no_difference(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, pictures = table(30)
    expected = planned_rows(rows, tmp_path)
    marked = tmp_path / "marked.tsv"
    marked.write_bytes(tsv(rows, line_end="\r\n", mark="\ufeff").encode())
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row | {"index": int(row["index"])}) + "\n" for row in rows))
    tables = tmp_path / "rows.parquet"
    cells = [
        row | {"index": float(row["index"]), "image": {"bytes": picture, "path": None}}
        for row, picture in zip(rows, pictures, strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(cells), tables)
    for path in (marked, lines, tables):
        assert planned(path) == expected, path


def test_words_that_look_like_nothing_are_words(tmp_path: Path) -> None:
    rows, _ = table(6)
    for row, word in zip(rows, ("NA", "null", "None", "nan", "N/A", "-"), strict=True):
        row["question"] = row["category"] = word
        row["answer"] = f"* {word} 라고 답하면 10점"
    result = planned_rows(rows, tmp_path)
    words = ["NA", "null", "None", "nan", "N/A", "-"]
    assert [row.record["question"] for row in questions(result)] == words
    assert [row.record["category"] for row in questions(result)] == words
    assert [row.record["criteria"][0]["text"] for row in questions(result)] == [f"{word} 라고 답하면" for word in words]


def test_decomposed_text_is_composed_and_criteria_stay_as_stored(tmp_path: Path) -> None:
    rows, _ = table(1)
    decomposed = {key: unicodedata.normalize("NFD", rows[0][key]) for key in ("question", "answer")}
    assert decomposed["question"] != rows[0]["question"]
    [row] = questions(planned_rows([rows[0] | decomposed], tmp_path))
    assert row.record["question"] == rows[0]["question"]
    assert row.record["criteria_raw"] == decomposed["answer"]
    assert row.record["criteria"] == [each.to_json() for each in parse_criteria(rows[0]["answer"])]


def test_rows_that_cannot_be_used_are_dropped_and_named(tmp_path: Path) -> None:
    rows, _ = table(9)
    rows[0]["question"] = ""
    rows[1]["answer"] = " \n "
    rows[2]["image"] = ""
    rows[3]["image"] = rows[3]["image"][:-1] + "*"
    rows[4]["image"] = "images/5.jpg"
    rows[5]["image"] = base64.b64encode(b"<!doctype html><title>404</title>").decode()
    rows[6]["image"] = base64.b64encode(png(size=(1, 1))).decode()
    rows[7]["image"] = base64.b64encode(b"no picture \x00\x01 at all").decode()
    result = planned_rows(rows, tmp_path)
    assert [row.id for row in result.rows] == ["koffvqa/default/9"]
    assert [entry.locations for entry in result.images] == [("row:koffvqa!8/image",)]
    reasons = {drop.item: drop.reason for drop in result.dropped}
    assert list(reasons) == [drop.item for drop in sorted(result.dropped, key=lambda drop: (drop.reason, drop.item))]
    assert reasons["row 0 (index 1)"] == "no question"
    assert reasons["row 1 (index 2)"] == "no grading criteria"
    for number, says in enumerate(("gone", "damaged", "a file's name", "html", "1 x 1 pixels", "no decoder"), 2):
        assert says in reasons[f"row {number} (index {number + 1})"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: [{**row, "index": "7"} for row in rows], "rows 0 and 1"),
        (lambda rows: [{k: v for k, v in row.items() if k != "answer"} for row in rows], "no column answer"),
        (lambda rows: [{**row, "index": ""} for row in rows], "not an index"),
        (lambda rows: [{**row, "index": "a/b"} for row in rows], "not an index"),
        (lambda rows: [{**row, "index": "1\u200b"} for row in rows], "not an index"),
    ],
)
def test_tables_that_are_not_upstreams_are_refused(
    change: Callable[[list[dict[str, str]]], list[dict[str, str]]], says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        planned_rows(change(table(3)[0]), tmp_path)
    assert says in str(caught.value)
    assert "KOFFVQA.tsv, row " in str(caught.value)


@pytest.mark.parametrize("value", [1.5, True, None, ["1"]])
def test_an_index_of_another_type_is_refused(value: object, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(table(1)[0][0] | {"index": value}))
    with pytest.raises(InputError, match="not an index"):
        planned(path)


@pytest.mark.parametrize("column", ["question", "answer", "category"])
def test_a_text_of_another_type_is_refused(column: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(table(1)[0][0] | {column: 5}))
    with pytest.raises(InputError, match=f"{column} is not text"):
        planned(path)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text.encode("utf-16"), "UTF-16"),
        (lambda text: text.encode("cp949", "replace"), "not UTF-8"),
        (lambda text: text.replace("\n2\t", "\n\ufeff2\t").encode(), "byte-order mark inside"),
        (lambda text: text.rstrip().removesuffix("Attributes").rstrip().rpartition("\t")[0].encode(), "cells"),
        (lambda text: text.replace("\t", ",").encode(), "no column"),
        (lambda text: (text + '3\t"AAAA').encode(), "quoting is broken"),
        (lambda text: b"", "empty table"),
    ],
)
def test_broken_files_are_refused(spoil: Callable[[str], bytes], says: str, tmp_path: Path) -> None:
    path = tmp_path / "KOFFVQA.tsv"
    rows = [row | {"question": "무슨 색인가요?", "answer": "* 빨강 10점"} for row in table(2)[0]]
    path.write_bytes(spoil(tsv(rows)))
    with pytest.raises(InputError, match=says):
        planned(path)


# A whole run


def test_a_whole_run_gives_back_what_was_put_in(built: Path, tmp_path: Path) -> None:
    import datasets

    rows, pictures = table()
    loaded = datasets.load_dataset(str(built), "default", split="test", cache_dir=str(tmp_path))
    assert loaded.column_names == [
        "index", "image", "question", "criteria", "criteria_raw", "category", "main_category",
    ]  # fmt: skip
    upright = loaded[8]["image"]
    assert upright.size == (20, 40)
    loaded = loaded.cast_column("image", datasets.Image(decode=False))
    for row, picture, got in zip(rows, pictures, loaded, strict=True):
        assert got == {
            "index": row["index"],
            "image": {"bytes": picture, "path": got["image"]["path"]},
            "question": row["question"],
            "criteria": [each.to_json() for each in parse_criteria(row["answer"])],
            "criteria_raw": row["answer"],
            "category": row["category"],
            "main_category": main_category(row["category"], ""),
        }
        assert "/" not in got["image"]["path"]


def test_the_build_is_clean(built: Path) -> None:
    checked = validate(str(built))
    assert [(each.rule.code, each.message) for each in checked.findings] == []
    assert checked.rows == ROWS
    card = (built / "README.md").read_text("utf-8")
    assert "apache-2.0" in card
    assert "HallusionBench" in card
    assert "`rows.jsonl` the rows" in card


def test_the_plan_is_clean_and_made_again_the_same(built: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    assert [each.message for each in validate(str(built / "plan")).findings] == []
    source = built.parent / "KOFFVQA.tsv"
    again = run("sage-reconstruct", "plan", "koffvqa", "--source", f"koffvqa={source}", "--out", tmp_path / "plan")
    assert again.returncode == 0, again.stderr
    for name in ("recipe.json", "rows.jsonl", "images.lock.jsonl"):
        assert (tmp_path / "plan" / name).read_bytes() == (built / "plan" / name).read_bytes()


def test_pictures_once_each_with_the_rows_naming_them(tmp_path: Path) -> None:
    rows, pictures = table(12)
    source = tmp_path / "KOFFVQA.tsv"
    source.write_bytes(tsv(rows).encode())
    done = run_koffvqa(source, tmp_path / "built", tmp_path / "store", "--layout", "by-id")
    assert done.returncode == 0, done.stderr
    assert codes(tmp_path / "built") == {"HN-KOFF-006": 1}
    import datasets

    loaded = datasets.load_dataset(str(tmp_path / "built"), "default", split="test", cache_dir=str(tmp_path / "cache"))
    images = datasets.load_dataset(
        str(tmp_path / "built"), "images", split="test", cache_dir=str(tmp_path / "cache")
    ).cast_column("image", datasets.Image(decode=False))
    by_id = {row["image_id"]: row["image"]["bytes"] for row in images}
    assert [by_id[image_id] for row in loaded for image_id in row["image_ids"]] == pictures


def test_the_builder_reads_the_build(built: Path, tmp_path: Path) -> None:
    from hannun.builders.koffvqa import Koffvqa

    builder = Koffvqa(config_name="default", data_dir=str(built), cache_dir=str(tmp_path))
    builder.download_and_prepare()
    assert builder.as_dataset(split="test").num_rows == ROWS


def test_a_row_that_is_dropped_is_listed_and_noted(tmp_path: Path) -> None:
    rows, _ = table(8)
    rows[2]["image"] = "images/3.jpg"
    source = tmp_path / "KOFFVQA.tsv"
    source.write_bytes(tsv(rows).encode())
    done = run_koffvqa(source, tmp_path / "built", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    recipe = json.loads((tmp_path / "built" / "recipe.json").read_text("utf-8"))
    [dropped] = recipe["dropped"]
    assert dropped["items"] == ["row 2 (index 3)"]
    found = validate(str(tmp_path / "built")).findings
    assert [(each.rule.code, each.expected, each.found) for each in found] == [("HN-KOFF-006", "275", "7")]


def test_wrong_files_end_in_a_message(run: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "KOFFVQA.tsv"
    source.write_bytes(tsv([row | {"index": "1"} for row in table(2)[0]]).encode())
    done = run("sage-reconstruct", "plan", "koffvqa", "--source", f"koffvqa={source}", "--out", tmp_path / "plan")
    assert done.returncode == 2
    assert "index 1 stands in two rows" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "plan").exists()


# Checks


def findings(record: Mapping[str, Any], *, in_plan: bool) -> list[tuple[str, str | None]]:
    values = {"id": "koffvqa/default/1", "record": dict(record)} if in_plan else dict(record)
    checks = Checks({})
    found = list(checks.check(Row(Place("rows.jsonl", row=0), values)))
    return [(each.rule.code, each.place.field) for each in found]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ADDITIVE, []),
        (EXCLUSIVE, []),
        ("* 가 +3.3점\n* 나 +3.3점\n* 다 +3.4점\n* 라 -2점", []),
        ("* 가 +4점\n* 나 +5점", ["HN-KOFF-001"]),
        ("* 가 10점\n* 나 5점", ["HN-KOFF-002"]),
        ("* 가 5점\n* 나 0점", ["HN-KOFF-002"]),
        ("* 가 20점\n* 나 10점\n* 다 0점", ["HN-KOFF-002"]),
        ("* 가 +4점\n* 나 6점", ["HN-KOFF-003"]),
        ("채점 기준\n* 가 10점\n* 나 0점", ["HN-KOFF-004"]),
        ("색을 맞히면 만점", ["HN-KOFF-004"]),
    ],
)
def test_criteria_that_do_not_fit_are_warnings(answer: str, expected: Sequence[str]) -> None:
    record = {"criteria": [each.to_json() for each in parse_criteria(answer)], "category": "Table"}
    assert findings(record, in_plan=False) == [(code, "criteria") for code in expected]
    assert findings(record, in_plan=True) == [(code, "record.criteria") for code in expected]


def test_unknown_categories_are_named_with_the_known_ones() -> None:
    [found] = Checks({}).check(Row(Place("rows.jsonl"), {"category": "표 읽기"}))
    assert (found.rule.code, found.found) == ("HN-KOFF-005", "표 읽기")
    assert all(name in str(found.expected) for name in CATEGORIES)


def test_the_count_is_noted_once() -> None:
    def count(rows: int) -> Iterable[Any]:
        checks = Checks({})
        for number in range(rows):
            list(checks.check(Row(Place("rows.jsonl", row=number), {})))
        return [each.rule.code for each in checks.finish()]

    assert (count(0), count(274), count(275), count(276)) == ([], ["HN-KOFF-006"], [], ["HN-KOFF-006"])


@pytest.mark.parametrize("part", ["question", "criteria_raw", "category"])
def test_a_table_that_differs_from_the_rows_is_found(built: Path, part: str, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(built, tmp_path / "built")
    lines = (folder / "rows.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[3])
    row["record"][part] = "Table" if part == "category" else row["record"][part] + "!"
    lines[3] = json.dumps(row, ensure_ascii=False)
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    found = [each for each in validate(str(folder)).findings if each.rule.code == "HN-ROW-015"]
    assert [(each.place.row_id, each.place.field) for each in found] == [("koffvqa/default/4", part)]


def test_pictures_in_another_order_are_found(built: Path, tmp_path: Path) -> None:
    import shutil

    import pyarrow.parquet as pq

    folder = shutil.copytree(built, tmp_path / "built")
    [path] = (folder / "default").glob("*.parquet")
    table = pq.read_table(path)
    cells = table["image"].to_pylist()
    cells[0], cells[1] = cells[1], cells[0]
    pq.write_table(table.set_column(1, table.field("image"), [cells]), path)
    assert codes(folder)["HN-IMG-003"] == 2


def test_rows_and_records_that_break_their_schema_are_found(built: Path, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(built / "plan", tmp_path / "plan")
    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    lines[0]["record"]["criteria"][0]["kind"] = "other"
    lines[1]["images"] = ["koffvqa:999"]
    del lines[2]["record"]["question"]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    found = [(each.rule.code, each.place.row_id, each.place.field) for each in validate(str(folder)).findings]
    assert ("HN-SCH-001", "koffvqa/default/1", "record.criteria[0].kind") in found
    assert ("HN-IMG-004", "koffvqa/default/2", "images") in found
    assert ("HN-SCH-001", "koffvqa/default/3", "record") in found


# Cases from public bug reports


def case(cases: Path, name: str) -> Path:
    folder = cases / name
    if not folder.is_dir():
        pytest.skip(f"shared/cases/{name} is not at hand")
    return folder


def with_picture(data: bytes | str) -> dict[str, str]:
    cell = data if isinstance(data, str) else base64.b64encode(data).decode()
    return table(1)[0][0] | {"image": cell}


@pytest.mark.parametrize(
    ("file", "says"),
    [("bom.tsv", "no column image"), ("utf16.tsv", r"UTF-16"), ("bom.jsonl", "no column"), ("midbom.jsonl", "line 2")],
)
def test_t01_marks(shared_cases: Path, file: str, says: str) -> None:
    path = case(shared_cases, "T01-bom") / file
    with pytest.raises(InputError) as caught:
        list(planned(path).rows) if file != "midbom.jsonl" else list(Records(path))
    assert says in str(caught.value)
    assert "no column index" not in str(caught.value) or file.endswith("jsonl")


def test_t03_words_for_nothing(shared_cases: Path, tmp_path: Path) -> None:
    folder = case(shared_cases, "T03-na-strings")
    expected = json.loads((folder / "case.json").read_text("utf-8"))["expected"]
    with (folder / "answers.tsv").open(encoding="utf-8", newline="") as stream:
        answers = [cells[-1] for cells in csv.reader(stream, delimiter="\t")][1:]
    assert answers == expected["answers"]
    rows = [with_picture(jpeg()) | {"index": str(n), "question": text} for n, text in enumerate(answers)]
    result = planned_rows(rows, tmp_path)
    kept = [text for place, text in enumerate(expected["answers"]) if place not in expected["missing_ids"]]
    assert [row.record["question"] for row in questions(result)] == kept
    assert [drop.item for drop in result.dropped] == [f"row {n} (index {n})" for n in expected["missing_ids"]]


def test_t04_quotes(shared_cases: Path) -> None:
    folder = case(shared_cases, "T04-tsv-quotes")
    rows = list(Records(folder / "quoted.tsv"))
    assert len(rows) == 3
    assert rows[0]["질문"] == "표의\n합계는?"
    assert rows[1]["기준"] == "탭\t포함"
    with pytest.raises(InputError, match=r"quoting is broken|number of cells"):
        list(Records(folder / "plain.tsv"))


def test_t05_texts_that_look_alike(shared_cases: Path, tmp_path: Path) -> None:
    folder = case(shared_cases, "T05-unicode-identity")
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines()]
    rows = [with_picture(jpeg()) | {"index": each["id"], "question": each["b"]} for each in pairs]
    got = {row.record["index"]: row.record["question"] for row in questions(planned_rows(rows, tmp_path))}
    # NFC and nothing else: what only looks alike stays as it was written, and validate says so.
    assert got == {each["id"]: nfc(each["b"]) for each in pairs}
    assert got["nfd"] == next(each["a"] for each in pairs if each["id"] == "nfd")


def test_t08_forms_of_base64(shared_cases: Path, tmp_path: Path) -> None:
    folder = case(shared_cases, "T08-base64-forms")
    expected = json.loads((folder / "case.json").read_text("utf-8"))["expected"]
    cells = [json.loads(line) for line in (folder / "cells.jsonl").read_text("utf-8").splitlines()]
    result = planned_rows([with_picture(each["image"]) | {"index": each["id"]} for each in cells], tmp_path)
    assert [row.record["index"] for row in questions(result)] == expected["accept"]
    assert {entry.digests["sha256"] for entry in result.images} == {expected["sha256"]}
    refused = {drop.item.partition("index ")[2].rstrip(")"): drop.reason for drop in result.dropped}
    assert set(refused) == set(expected["refuse"])
    assert "base64 inside base64" in refused["double_encoded"]


def test_i05_turned_pictures_keep_their_bytes(shared_cases: Path, tmp_path: Path) -> None:
    files = sorted(case(shared_cases, "I05-exif-orientation").glob("*.jpg"))
    assert files
    rows = [with_picture(path.read_bytes()) | {"index": path.stem} for path in files]
    source = tmp_path / "KOFFVQA.tsv"
    source.write_bytes(tsv(rows).encode())
    done = run_koffvqa(source, tmp_path / "built", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    import datasets

    loaded = datasets.load_dataset(str(tmp_path / "built"), "default", split="test", cache_dir=str(tmp_path / "cache"))
    sizes = {row["index"]: row["image"].size for row in loaded}
    assert sizes == {path.stem: (40, 100) if path.stem in ("o6", "o8") else (100, 40) for path in files}
    raw = loaded.cast_column("image", datasets.Image(decode=False))
    assert [row["image"]["bytes"] for row in raw] == [path.read_bytes() for path in files]


def test_i08_nothing_and_dots(shared_cases: Path, tmp_path: Path) -> None:
    folder = case(shared_cases, "I08-empty-and-dots")
    names = ("empty.jpg", "dot.gif", "dot.png", "flat.png", "thin.png")
    rows = [with_picture((folder / name).read_bytes()) | {"index": name} for name in names]
    result = planned_rows(rows, tmp_path)
    assert [row.record["index"] for row in questions(result)] == ["flat.png", "thin.png"]
    reasons = {drop.item: drop.reason for drop in result.dropped}
    assert "no picture" in reasons["row 0 (index empty.jpg)"]
    assert "1 x 1" in reasons["row 1 (index dot.gif)"]
    assert "1 x 1" in reasons["row 2 (index dot.png)"]


def test_i11_too_many_pixels(shared_cases: Path, tmp_path: Path) -> None:
    folder = case(shared_cases, "I11-pixel-bomb")
    names = ("bomb.png", "normal.png", "warn.png")
    rows = [with_picture((folder / name).read_bytes()) | {"index": name} for name in names]
    result = planned_rows(rows, tmp_path)
    assert [row.record["index"] for row in questions(result)] == ["normal.png", "warn.png"]
    [drop] = result.dropped
    assert drop.item == "row 0 (index bomb.png)"
    assert "too-large" in drop.reason
    assert "400000000" in drop.reason
