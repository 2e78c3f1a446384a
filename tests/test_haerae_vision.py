"""HAERAE-Vision from its table to what load_dataset reads: every value, every byte."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from haerae_source import CUT_ROW, LONGEST, SCHEMA, SHORT, awkward, expected_records, upstream_rows, write_parquet
from hannun.reconstruct.recipes import haerae_vision as recipe
from hannun.reconstruct.records import Records
from hannun.reconstruct.source import Source
from hannun.schemas import catalogue
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.plan import Planned
from hannun.validate.checks.haerae_vision import CATEGORIES, Checks
from hannun.validate.finding import Finding, Place
from hannun.validate.reader import Row
from hannun.validate.result import Result
from hannun.validate.rule import Level
from hannun.validate.target import validate
from pictures import png

NAME = "haerae-vision"
CONFIGS = ("original", "explicit", "paired")


def planned(path: Path) -> Planned:
    sources = {NAME: Source(NAME, str(path), records=Records(path))}
    return recipe.plan(catalogue.benchmark(NAME), sources, {"seed": 1})


def table(tmp_path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Rows as JSON lines, their pictures as base64."""
    import base64

    path = tmp_path / "rows.jsonl"
    lines = []
    for row in rows:
        pictures = [base64.b64encode(each["bytes"]).decode() if each else each for each in row.get("images") or ()]
        lines.append(json.dumps({**row, "images": pictures} if "images" in row else row, ensure_ascii=False))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def some(count: int = 3, **changes: Any) -> list[dict[str, Any]]:
    """Rows of which the last is changed."""
    rows = list(upstream_rows(count))
    rows[-1] |= changes
    return rows


@pytest.fixture(scope="module", params=[653, 165])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """The number of rows, and a build of so many by the command, from a folder as the Hub has it."""
    folder = tmp_path_factory.mktemp(f"haerae-{request.param}")
    write_parquet(folder / "hub", upstream_rows(request.param))
    arguments = [
        "run",
        NAME,
        "--source",
        f"{NAME}={folder / 'hub'}",
        "--out",
        folder / "built",
        "--store",
        folder / "store",
    ]
    program = Path(sys.executable).with_name("sage-reconstruct")
    made = subprocess.run([program, *map(str, arguments)], check=False, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, ""), made.stdout
    return request.param, folder / "built"


def found(result: Result) -> dict[str, list[Finding]]:
    by_code: dict[str, list[Finding]] = {}
    for each in result.findings:
        by_code.setdefault(each.rule.code, []).append(each)
    return by_code


# The whole way


def test_every_value_and_every_byte_comes_back(built: tuple[int, Path], tmp_path: Path) -> None:
    import datasets

    count, folder = built
    expected = [expected_records(row) for row in upstream_rows(count)]
    lengths = {len(each["explicit"]["question"]) for each in expected}
    assert (len(SHORT), max(lengths)) == (6, LONGEST)
    for config in CONFIGS:
        rows = datasets.load_dataset(str(folder), config, split="test", cache_dir=str(tmp_path))
        assert rows.column_names == list(catalogue_fields(config))
        loaded = rows.cast_column("images", datasets.List(datasets.Image(decode=False))).to_list()
        for row, wanted in zip(loaded, expected, strict=True):
            assert {**row, "images": [each["bytes"] for each in row["images"]]} == wanted[config]
            assert all("/" not in each["path"] for each in row["images"])
    assert rows[0]["images"][0].size == (9, 7)


def catalogue_fields(config: str) -> list[str]:
    wordings = ["question_original", "question_explicit"] if config == "paired" else ["question"]
    return ["question_idx", *wordings, "category", "source", "images", "checklist", "checklist_raw", "answer"]


def test_a_build_says_which_table_it_has_and_which_pictures_are_cut(built: tuple[int, Path]) -> None:
    count, folder = built
    by_code = found(validate(str(folder)))
    [which] = by_code.pop("HN-HV-008")
    assert which.message.startswith(f"{count} rows were published: ")
    [cut] = by_code.pop("HN-IMG-009")
    assert cut.message == "2 pictures equal the lock and cannot be decoded in full"
    assert cut.found == f"haerae-vision:{CUT_ROW + 1}/0, haerae-vision:{CUT_ROW + len(awkward())}/0"
    each = by_code.pop("HN-IMG-007")
    assert len(each) == 2 * len(CONFIGS)
    assert {one.message.partition(":")[0] for one in each} == {"damaged", "too-large"}
    assert by_code == {}


def test_a_plan_says_so_too_and_its_pictures_stand_in_the_lock(built: tuple[int, Path]) -> None:
    count, folder = built
    result = validate(str(folder / "plan"))
    assert [each.rule.code for each in result.findings] == ["HN-HV-008"]
    assert result.rows == 3 * count
    recipe_json = json.loads((folder / "plan/recipe.json").read_text())
    assert recipe_json["notes"] == [
        f"{count} rows: {recipe.COUNTS[count]}",
        f"checklist: a list of strings in {count} rows",
    ]
    assert recipe_json["counts"]["dropped"] == 0
    assert recipe_json["notes"][0] in (folder / "README.md").read_text("utf-8")
    lock = [json.loads(line) for line in (folder / "images.lock.jsonl").read_text().splitlines()]
    published = [(row, place) for row, each in enumerate(upstream_rows(count)) for place in range(len(each["images"]))]
    assert [entry["locations"] for entry in lock] == [[f"row:haerae-vision!{r}/images/{n}"] for r, n in published]
    assert [entry["image_id"] for entry in lock] == [f"haerae-vision:{r + 1}/{n}" for r, n in published]


def test_row_groups_stay_small(built: tuple[int, Path]) -> None:
    for path in built[1].glob("*/*.parquet"):
        metadata = pq.read_metadata(path)
        assert all(metadata.row_group(n).total_byte_size < 64 << 20 for n in range(metadata.num_row_groups))


def test_running_again_changes_nothing(built: tuple[int, Path], run: Callable[..., Any]) -> None:
    _, folder = built
    before = {path: path.read_bytes() for path in sorted((folder / "plan").iterdir())}
    again = run(
        "sage-reconstruct", "plan", NAME, "--source", f"{NAME}={folder.parent / 'hub'}", "--out", folder / "plan"
    )
    assert again.returncode == 0
    assert "the same plan was already" in again.stdout
    assert {path: path.read_bytes() for path in sorted((folder / "plan").iterdir())} == before


def test_pictures_may_stand_once_each(tmp_path: Path, run: Callable[..., Any]) -> None:
    write_parquet(tmp_path / "hub", upstream_rows(30))
    arguments = (NAME, "--source", f"{NAME}={tmp_path / 'hub'}", "--out", tmp_path / "b", "--store", tmp_path / "s")
    made = run("sage-reconstruct", "run", *arguments, "--layout", "by-id")
    assert made.returncode == 0, made.stderr
    levels = {each.rule.code: each.rule.level for each in validate(str(tmp_path / "b")).findings}
    assert levels == {"HN-IMG-007": Level.WARNING, "HN-IMG-009": Level.NOTE, "HN-HV-009": Level.WARNING}
    card = (tmp_path / "b/README.md").read_text("utf-8")
    assert 'rows[0]["image_ids"]' in card
    assert "`rows.jsonl` the rows without pictures" in card


def test_it_loads_by_name(tmp_path: Path) -> None:
    from hannun.builders.haerae_vision import HaeraeVision
    from hannun.builders.register import register

    assert HaeraeVision.NAME == NAME
    write_parquet(tmp_path / "hub", upstream_rows(3))
    program = Path(sys.executable).with_name("sage-reconstruct")
    arguments = ["run", NAME, "--source", f"{NAME}={tmp_path / 'hub'}", "--out", tmp_path / "b", "--quiet"]
    subprocess.run([program, *map(str, arguments)], check=True)
    assert register(NAME, tmp_path / "b") == list(CONFIGS)
    import datasets

    assert len(datasets.load_dataset(f"hannun/{NAME}", "paired", split="test")) == 3


# The recipe


def test_every_row_is_three_questions_of_the_same_pictures(tmp_path: Path) -> None:
    plan = planned(table(tmp_path, some()))
    assert [row.id for row in plan.rows] == [f"haerae-vision/{c}/{n}" for c in CONFIGS for n in (1, 2, 3)]
    for row in plan.rows:
        assert row.images == tuple(e.image_id for e in plan.images if e.image_id.startswith(f"{NAME}:{row.id[-1]}/"))
        config = row.id.split("/")[1]
        schema = catalogue.benchmark(NAME).config(config).record or NAME
        assert problems(schema, {**row.record, "images": list(row.images)}) == []
    first = next(upstream_rows(1))["images"][0]["bytes"]
    assert (plan.images[0].digests, plan.images[0].bytes) == (digests_of(first), len(first))
    assert set(plan.images[0].digests) == {"sha256", "xxh3_128"}


def test_all_kinds_of_table_and_image_cells_give_one_plan(tmp_path: Path) -> None:
    import base64
    import csv

    rows = some(5)
    folder = write_parquet(tmp_path / "hub", rows, files=2, group=2)
    plain = SCHEMA.set(SCHEMA.get_field_index("images"), pa.field("images", pa.list_(pa.binary())))
    bare = [{**row, "images": [each["bytes"] for each in row["images"]]} for row in rows]
    (tmp_path / "bare").mkdir()
    pq.write_table(pa.Table.from_pylist(bare, schema=plain), tmp_path / "bare/one.parquet")
    with (tmp_path / "rows.tsv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter="\t")
        writer.writerow(SCHEMA.names)
        for row in rows:
            texts = [base64.b64encode(each["bytes"]).decode() for each in row["images"]]
            cells = {**row, "images": json.dumps(texts) if len(texts) > 1 else texts[0]}
            cells["checklist"] = json.dumps(row["checklist"], ensure_ascii=False, separators=(",", ":"))
            writer.writerow(cells[name] for name in SCHEMA.names)
    paths = [folder, tmp_path / "bare", tmp_path / "bare/one.parquet", table(tmp_path, rows), tmp_path / "rows.tsv"]
    plans = [planned(path) for path in paths]
    assert all((plan.rows, plan.images) == (plans[0].rows, plans[0].images) for plan in plans)
    assert "a JSON array in a string in 5 rows" in plans[-1].notes[1]


def test_pictures_of_a_text_table_are_fetched(tmp_path: Path, run: Callable[..., Any]) -> None:
    path = table(tmp_path, some(5))
    made = run(
        "sage-reconstruct", "run", NAME, "--source", f"{NAME}={path}", "--out", tmp_path / "b", "--store", tmp_path / "s", "--json"
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["rows"] == {config: {"test": 5} for config in CONFIGS}


@pytest.mark.parametrize("name", ["a/b", "질문 22", "100%", "x\u3000y", "22"])
def test_ids_are_made_of_any_name(tmp_path: Path, name: str) -> None:
    plan = planned(table(tmp_path, some(question_idx=name)))
    last = plan.rows[2]
    assert problems("question", last.to_json()) == []
    assert last.record["question_idx"] == name
    others = planned(table(tmp_path, some(question_idx=name.replace("/", "%2F")))).rows[2]
    assert (others.id == last.id) == ("/" not in name)


def test_whole_numbers_stay_whole_and_names_nfc(tmp_path: Path) -> None:
    assert planned(table(tmp_path, some(question_idx=22.0))).rows[2].record["question_idx"] == "22"
    decomposed = unicodedata.normalize("NFD", "이 꽃이 뭔가요?")
    last = planned(
        table(tmp_path, some(question_original=decomposed, category=unicodedata.normalize("NFD", "게임")))
    ).rows[2]
    assert last.record["question"] == "이 꽃이 뭔가요?"
    assert last.record["category"] == "게임"


@pytest.mark.parametrize("name", [None, "", " ", True, 1.5, [1]])
def test_a_row_needs_a_name(tmp_path: Path, name: Any) -> None:
    with pytest.raises(InputError, match="without question_idx") as caught:
        planned(table(tmp_path, some(question_idx=name)))
    assert caught.value.where.endswith("row 2")


@pytest.mark.parametrize("second", [1, "1", 1.0])
def test_a_repeated_name_names_both_rows(tmp_path: Path, second: Any) -> None:
    with pytest.raises(InputError, match="question_idx 1 stands in two rows") as caught:
        planned(table(tmp_path, some(question_idx=second)))
    assert caught.value.got == "rows 0 and 2"


@pytest.mark.parametrize("column", SCHEMA.names)
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    rows = [{name: cell for name, cell in row.items() if name != column} for row in some()]
    schema = SCHEMA.remove(SCHEMA.get_field_index(column))
    for path in (table(tmp_path, rows), write_parquet(tmp_path / "hub", rows, schema=schema)):
        with pytest.raises(InputError, match=f"no column {column}") as caught:
            planned(path)
        assert caught.value.where.endswith("row 0")


@pytest.mark.parametrize(
    ("images", "why"),
    [
        ([], "no picture in the row"),
        (None, "no picture in the row"),
        ([None], "no picture in the cell"),
        ([{"bytes": b""}], "no picture in the cell"),
        ([{"bytes": png()}, None], "no picture in the cell"),
        ([{"bytes": b"<!doctype html><title>404</title>"}], "html"),
        ([{"bytes": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"}], "a Git LFS pointer, not the file"),
    ],
)  # fmt: skip
def test_a_row_without_a_usable_picture_is_dropped_and_listed(tmp_path: Path, images: Any, why: str) -> None:
    plan = planned(write_parquet(tmp_path / "hub", some(images=images)))
    assert [(drop.item, drop.reason) for drop in plan.dropped] == [("3 (row 2)", f"a picture cannot be had: {why}")]
    assert len(plan.rows) == 6
    assert not any(entry.image_id.startswith(f"{NAME}:3/") for entry in plan.images)
    assert plan.notes[0].startswith("3 rows: neither")


@pytest.mark.parametrize("column", ["question_original", "question_explicit"])
@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_row_without_a_question_is_dropped_and_listed(tmp_path: Path, column: str, text: str | None) -> None:
    plan = planned(table(tmp_path, some(**{column: text})))
    assert [(drop.item, drop.reason) for drop in plan.dropped] == [("3 (row 2)", f"{column} is empty")]


def test_unknown_categories_and_nulls_are_kept(tmp_path: Path) -> None:
    for category, wanted in (("기계/장비", "기계/장비"), (None, None), (4, "4")):
        last = planned(table(tmp_path, some(category=category, source=None, checklist=None))).rows[2]
        assert last.record["category"] == wanted
        assert (last.record["source"], last.record["checklist"], last.record["checklist_raw"]) == (None, [], "null")


def test_an_answer_is_taken_where_there_is_one(tmp_path: Path) -> None:
    rows = [{**row, "answer": None if n else "수국입니다."} for n, row in enumerate(some())]
    assert [row.record["answer"] for row in planned(table(tmp_path, rows)).rows[:3]] == ["수국입니다.", None, None]


def test_a_checklist_that_cannot_be_read_names_its_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unequal length") as caught:
        planned(table(tmp_path, some(checklist={"item": ["색"], "weight": [1, 2]})))
    assert caught.value.where.endswith("row 2, checklist")


# The checks


def checked(rows: Iterable[Row], published: int = 653) -> list[Finding]:
    checks = Checks({"counts": {"rows": 3 * published, "dropped": 0}})
    found = [each for row in rows for each in checks.check(row)]
    return [*found, *checks.finish()]


def both_forms(plan: Planned) -> Iterator[list[Row]]:
    """The rows as rows.jsonl has them, and as tables do."""
    yield [Row(Place("rows.jsonl", row=n, row_id=row.id), row.to_json()) for n, row in enumerate(plan.rows)]
    pictures = {entry.image_id: {"bytes": entry.image_id.encode(), "path": "a.png"} for entry in plan.images}
    yield [
        Row(
            Place(f"{config}/test.parquet", config, "test", n, row.record["question_idx"]),
            {**row.record, "images": [pictures[each] for each in row.images]},
        )
        for n, row in enumerate(plan.rows)
        for config in [row.id.split("/")[1]]
    ]


def codes(findings: Iterable[Finding]) -> list[str]:
    return sorted(each.rule.code for each in findings)


@pytest.mark.parametrize("form", [0, 1])
def test_configs_must_share_pictures_checklist_and_category(tmp_path: Path, form: int) -> None:
    plan = planned(table(tmp_path, some()))
    rows = list(both_forms(plan))[form]
    assert codes(checked(rows)) == ["HN-HV-008"]
    for field, value in (("category", "수학"), ("checklist", ["다른 것"]), ("images", rows[4].values["images"][:0])):
        changed = [Row(row.place, json_copy(row.values)) for row in rows]
        values = changed[4].values
        target = values if field == "images" else values.get("record", values)
        target[field] = value
        [problem] = [each for each in checked(changed) if each.rule.code == "HN-HV-001"]
        assert problem.rule.level is Level.ERROR
        assert (problem.place.row, problem.place.field) == (4, field)
        assert "question 2" in problem.message
    [gone] = [each for each in checked(rows[:-1]) if each.rule.code == "HN-HV-002"]
    assert gone.message == "question 3 is not in paired"


def json_copy(values: dict[str, Any]) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, dict) else value for name, value in values.items()}


@pytest.mark.parametrize(
    ("checklist", "wanted"),
    [
        ([], ["HN-HV-004", "HN-HV-006"]),
        (None, ["HN-HV-004", "HN-HV-006"]),
        (["가", "나", "다", "라", "마", "바"], ["HN-HV-004"]),
        (["가", "가"], ["HN-HV-005"]),
        (["가", " "], ["HN-HV-005"]),
        ("1. 가\n2. 나", []),
        ('["가"]', []),
        ([{"item": "가"}], ["HN-HV-006"]),
        ("['가']", ["HN-HV-006"]),
    ],
)
def test_what_is_odd_of_a_checklist_is_said_once(tmp_path: Path, checklist: Any, wanted: list[str]) -> None:
    for rows in both_forms(planned(table(tmp_path, some(checklist=checklist)))):
        assert codes(checked(rows)) == [*wanted, "HN-HV-008"]


def test_a_checklist_is_that_of_its_verbatim_form(tmp_path: Path) -> None:
    for rows in both_forms(planned(table(tmp_path, some(1)))):
        for row in rows:
            record = row.values.get("record", row.values)
            record["checklist_raw"] = "['다른 것"
        assert codes(checked(rows)) == ["HN-HV-003", "HN-HV-008"]


def test_unknown_categories_warn_once_each(tmp_path: Path) -> None:
    rows = [{**row, "category": "기계/장비"} for row in some()]
    for form in both_forms(planned(table(tmp_path, rows))):
        [problem, _] = checked(form)
        assert (problem.rule.level, problem.rule.code) == (Level.WARNING, "HN-HV-007")
        assert "3 questions" in problem.message
    assert len(CATEGORIES) == 10


@pytest.mark.parametrize(
    ("count", "code"), [(653, "HN-HV-008"), (165, "HN-HV-008"), (164, "HN-HV-009"), (0, "HN-HV-009")]
)
def test_the_number_of_rows_is_named(count: int, code: str) -> None:
    [only] = checked([], count)
    assert only.rule.code == code
    assert only.message.startswith(f"{count} rows were published")


def test_tables_that_were_changed_are_found(tmp_path: Path, run: Callable[..., Any]) -> None:
    write_parquet(tmp_path / "hub", upstream_rows(6))
    arguments = (NAME, "--source", f"{NAME}={tmp_path / 'hub'}", "--out", tmp_path / "b", "--store", tmp_path / "s")
    assert run("sage-reconstruct", "run", *arguments).returncode == 0
    assert codes(validate(str(tmp_path / "b")).findings) == ["HN-HV-009"]
    [path] = (tmp_path / "b/explicit").glob("*.parquet")
    whole = pq.read_table(path)
    rows = whole.to_pylist()

    def codes_with(*changed: dict[str, Any]) -> list[str]:
        pq.write_table(pa.Table.from_pylist(changed, schema=whole.schema), path)
        return codes(each for each in validate(str(tmp_path / "b")).findings if each.rule.level is Level.ERROR)

    swapped = [{**rows[0], "images": rows[1]["images"]}, *rows[1:]]
    assert codes_with(*swapped) == ["HN-HV-001", "HN-IMG-006"]
    other = [{**rows[0], "images": rows[1]["images"] * 2}, *rows[1:]]
    assert codes_with(*other) == ["HN-HV-001", "HN-IMG-003", "HN-IMG-003"]
    assert codes_with({**rows[0], "images": []}, *rows[1:]) == ["HN-HV-001", "HN-IMG-006", "HN-SCH-001"]
    assert codes_with({**rows[0], "category": "수학"}, *rows[1:]) == ["HN-HV-001", "HN-ROW-015"]
    assert codes_with({**rows[0], "question": "바뀐 질문인가요?"}, *rows[1:]) == ["HN-ROW-015"]
    assert codes_with({**rows[0], "question": None}, *rows[1:]) == ["HN-ROW-015", "HN-SCH-001", "HN-SCH-003"]
    assert codes_with(*rows[1:]) == ["HN-CARD-002", "HN-HV-002", "HN-ROW-015"]
    assert codes_with(rows[0], *rows) == ["HN-CARD-002", "HN-ROW-001"]
    assert codes_with({**rows[0], "question_idx": "99"}, *rows[1:]) == [
        "HN-HV-002",
        "HN-HV-002",
        "HN-ROW-015",
        "HN-ROW-015",
    ]
    assert codes_with(*rows) == []


# Memory


GENERATE = """
import sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
from haerae_source import SCHEMA, noise, upstream_rows

folder = Path(sys.argv[1])
folder.mkdir()
with pq.ParquetWriter(folder / "train.parquet", SCHEMA) as writer:
    for number, row in enumerate(upstream_rows(60)):
        row["images"] = [{"bytes": noise(3, number), "path": "a.bmp"}]
        writer.write_table(pa.Table.from_pylist([row], schema=SCHEMA))
"""
MEASURE = """
import resource, subprocess, sys

done = subprocess.run(sys.argv[1:], check=False)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def test_memory_does_not_grow_with_the_pictures(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(Path(__file__).parent)}
    import os

    subprocess.run(
        [sys.executable, "-c", GENERATE, str(tmp_path / "hub")], check=True, env={**os.environ, **environment}
    )
    assert sum(path.stat().st_size for path in (tmp_path / "hub").iterdir()) > 175 << 20
    folder, program = tmp_path / "built", Path(sys.executable)
    commands = [
        [
            "sage-reconstruct",
            "run",
            NAME,
            "--source",
            f"{NAME}={tmp_path / 'hub'}",
            "--out",
            folder,
            "--store",
            tmp_path / "s",
            "--quiet",
        ],
        ["hannun", "validate", folder, "--quiet"],
    ]
    for name, *arguments in commands:
        measured = subprocess.run(
            [sys.executable, "-c", MEASURE, program.with_name(name), *map(str, arguments)],
            check=True,
            capture_output=True,
            text=True,
        )
        code, megabytes = map(int, measured.stdout.split())
        assert code == 0, measured.stderr
        assert megabytes < 600
    test_row_groups_stay_small((60, folder))


# Inputs of public bug reports


@pytest.mark.parametrize(
    "name",
    [
        "I01-truncated-image",
        "I02-cmyk-ycck",
        "I05-exif-orientation",
        "I07-name-vs-bytes",
        "I08-empty-and-dots",
        "I11-pixel-bomb",
    ],
)
def test_pictures_of_public_bug_reports_keep_their_bytes(
    name: str, shared_cases: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    case = shared_cases / name
    if not case.is_dir():
        pytest.skip(f"case {name} is not at hand")
    files = sorted(path for path in case.iterdir() if path.suffix not in (".json", ".jsonl"))
    rows = [
        {**row, "images": [{"bytes": path.read_bytes(), "path": path.name}]}
        for row, path in zip(upstream_rows(len(files)), files, strict=True)
    ]
    write_parquet(tmp_path / "hub", rows, files=1)
    arguments = (NAME, "--source", f"{NAME}={tmp_path / 'hub'}", "--out", tmp_path / "b", "--store", tmp_path / "s")
    assert run("sage-reconstruct", "run", *arguments).returncode == 0
    dropped = [
        item for each in json.loads((tmp_path / "b/recipe.json").read_text())["dropped"] for item in each["items"]
    ]
    assert [files[int(item.partition(" ")[0]) - 1].name for item in dropped] == [
        p.name for p in files if not p.stat().st_size
    ]
    [path] = (tmp_path / "b/paired").glob("*.parquet")
    built = [row["images"][0]["bytes"] for row in pq.read_table(path).to_pylist()]
    assert built == [path.read_bytes() for path in files if path.stat().st_size]
    result = found(validate(str(tmp_path / "b")))
    said = {files[int(each.place.row_id) - 1].name for each in result.get("HN-IMG-007", ())}
    assert said == UNDECODED[name]
    assert not any(each.rule.level is Level.ERROR for findings in result.values() for each in findings)


UNDECODED = {
    # Pillow reads a PNG without its end.
    "I01-truncated-image": {"jpg_half.jpg", "jpg_headers_only.jpg", "jpg_no_eoi.jpg", "png_half.png"},
    "I02-cmyk-ycck": set(),
    "I05-exif-orientation": set(),
    "I07-name-vs-bytes": {"bom_svg.png", "svg_named.png", "text.jpg"},
    "I08-empty-and-dots": set(),
    "I11-pixel-bomb": {"bomb.png"},
}
