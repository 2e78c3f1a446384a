"""Faults planted in KoNA: each is found in its row, and nothing else is."""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.recipes.kona_tables import read_tables
from hannun.reconstruct.source import open_sources
from hannun.schemas import catalogue
from hannun.validate.result import Result
from hannun.validate.rule import Level
from hannun.validate.target import validate

from hannun.pipeline import PlanRequest, make_plan

Row = dict[str, Any]
TABLES = read_tables(
    open_sources(
        {name: entry for name, entry in catalogue.benchmark("kona").sources.items() if name.startswith("kona-")}, {}
    )
)


def text(row: Row, context: str, target: str | None = None) -> None:
    """Give a row another context; the target is found in it."""
    target = target or row["target"]
    start = context.index(target)
    row.update(context=context, target=target, target_span=[start, start + len(target)])


def replace_last(kind: str, key: str, as_kind: str | None = None) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        place = max(n for n, each in enumerate(row["candidates"]) if each["kind"] == kind)
        row["candidates"][place] = {"image_id": f"twemoji:{key}", "kind": as_kind or kind}

    return change


def relabel(kind: str, other: str) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        next(each for each in row["candidates"] if each["kind"] == kind)["kind"] = other

    return change


def first_random(row: Row) -> int:
    return next(n for n, each in enumerate(row["candidates"]) if each["kind"] == "random")


def other_gold(row: Row) -> None:
    """The gold's picture and a random one's change places; their marks stay."""
    place, gold = first_random(row), row["label"]
    a, b = row["candidates"][place], row["candidates"][gold]
    a["image_id"], b["image_id"] = b["image_id"], a["image_id"]


def second_gold(row: Row) -> None:
    row["candidates"][first_random(row)]["kind"] = "gold"


def confusable(row: Row) -> None:
    gold = row["candidates"][row["label"]]["image_id"].partition(":")[2]
    row["candidates"][first_random(row)]["image_id"] = f"twemoji:{min(TABLES.confusable[gold])}"


def duplicate(row: Row) -> None:
    row["candidates"][first_random(row)] = dict(row["candidates"][row["label"]], kind="random")


def swap_order(row: Row) -> None:
    """Another order in one wording only; the gold stays where the label says."""
    a, b = [n for n in range(10) if n != row["label"]][:2]
    row["candidates"][a], row["candidates"][b] = row["candidates"][b], row["candidates"][a]


ALL = ("original", "explicit", "neutralized")
# item -> (the wordings that are changed, the change, the code that must name it).
FAULTS: dict[str, tuple[tuple[str, ...], Callable[[Row], object], str]] = {
    "bae-pear-1": (("neutralized",), lambda r: text(r, "아까 산 [명사]을 갈아 넣어요"), "HN-KONA-004"),
    "nun-snow-1": (("original",), lambda r: text(r, "눈가 쌓여서 출근길 큰일 났다"), "HN-KONA-004"),
    "mal-speech-1": (("explicit",), lambda r: text(r, "퉁명스러운 말으로 기분을 상하게 한다"), "HN-KONA-004"),
    "sagwa-apology-1": (("neutralized",), lambda r: text(r, "사과는 안 하고 [명사]만 하네"), "HN-KONA-003"),
    "bam-chestnut-1": (("neutralized",), lambda r: text(r, "[명사]를 굽다가 밤을 새웠네"), "HN-KONA-003"),
    "bae-ship-1": (("original",), lambda r: text(r, "파도타기를 배우는 중이에요"), "HN-KONA-002"),
    "cha-tea-1": (("explicit",), lambda r: text(r, "차가운 물을 마셔"), "HN-KONA-002"),
    "byeong-bottle-1": (("original",), lambda r: r.update(target="뚜껑"), "HN-KONA-001"),
    "cha-car-1": (("neutralized",), lambda r: text(r, "길에 차가 밀려요", "차"), "HN-KONA-001"),
    "dal-moon-1": (ALL, replace_last("random", "1f31b"), "HN-KONA-008"),
    "beol-bee-1": (ALL, lambda r: r["spares"].append({"image_id": "twemoji:1f41d", "kind": "near"}), "HN-ROW-008"),
    "jeom-fortune-1": (ALL, confusable, "HN-KONA-009"),
    "mal-horse-1": (ALL, relabel("hard", "random"), "HN-KONA-010"),
    "sagwa-apple-1": (ALL, relabel("near", "random"), "HN-KONA-010"),
    "yeon-kite-1": (ALL, relabel("random", "near"), "HN-KONA-010"),
    "nun-eye-1": (ALL, replace_last("random", "1f468-200d-1f680"), "HN-KONA-006"),
    "pal-arm-1": (ALL, other_gold, "HN-KONA-007"),
    "i-tooth-1": (ALL, second_gold, "HN-ROW-005"),
    "moja-hat-1": (ALL, relabel("gold", "random"), "HN-ROW-005"),
    "gong-ball-1": (ALL, lambda r: r.update(label=(r["label"] + 1) % 10), "HN-ROW-006"),
    "dol-stone-1": (ALL, lambda r: r.update(label=10), "HN-ROW-004"),
    "ko-nose-1": (ALL, duplicate, "HN-ROW-003"),
    "chang-window-1": (ALL, lambda r: r["candidates"].pop(first_random(r)), "HN-ROW-002"),
    "yeol-fever-1": (("original",), lambda r: r.update(target_span=[0, 1]), "HN-ROW-011"),
    "jeom-score-1": (
        ("explicit",),
        lambda r: r.update(context=unicodedata.normalize("NFD", r["context"])),
        "HN-ROW-012",
    ),
    "baek-bag-1": (("original",), lambda r: text(r, r["context"].replace(" ", "\u200b ", 1)), "HN-TXT-002"),
    "tonghwa-call-1": (("neutralized",), swap_order, "HN-ROW-014"),
    "kadeu-credit-1": (ALL, lambda r: r.update(split="validation"), "HN-SET-002"),
    "hwa-anger-1": (ALL, lambda r: r["source"].update(sense="bul-fire"), "HN-KONA-005"),
}
DROPPED = {"kona/explicit/koteu-coat-1": "HN-KONA-011"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan") / "kona"
    make_plan(PlanRequest("kona"), folder)
    return folder


@pytest.fixture(scope="module")
def faulty(plain: Path) -> dict[str, set[str]]:
    """Item -> the codes of what was found in it, with every fault of the table planted at once."""
    path = plain / "instances.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    by_id = {row["id"]: row for row in rows}
    for item, (wordings, change, _) in FAULTS.items():
        for wording in wordings:
            change(by_id[f"kona/{wording}/{item}"])
    # A context and an id that stand there twice.
    same = by_id["kona/original/gonggi-bowl-1"]
    by_id["kona/original/gonggi-air-1"].update(context=same["context"], target_span=same["target_span"])
    by_id["kona/explicit/sinho-ring-1"]["id"] = "kona/explicit/sinho-ring-2"
    kept = [row for row in rows if row["id"] not in DROPPED]
    folder = plain.parent / "faulty"
    folder.mkdir()
    for name in ("recipe.json", "images.lock.jsonl"):
        (folder / name).write_bytes((plain / name).read_bytes())
    (folder / path.name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), "utf-8")
    found: dict[str, set[str]] = defaultdict(set)
    for each in validate(str(folder)).findings:
        assert each.place.row_id is not None, each
        found[each.place.row_id.rpartition("/")[2]].add(each.rule.code)
    return found


def test_the_shipped_set_has_no_finding(plain: Path, tmp_path: Path) -> None:
    make_plan(PlanRequest("kona", options={"images": "noto"}), tmp_path / "noto")
    for folder in (plain, tmp_path / "noto"):
        result: Result = validate(str(folder))
        assert [str(each.place) for each in result.findings] == []
        assert [each.what for each in result.unchecked] == ["pictures"]
        assert result.rows == 3 * 378


@pytest.mark.parametrize("item", FAULTS)
def test_each_planted_fault_is_found(faulty: dict[str, set[str]], item: str) -> None:
    assert FAULTS[item][2] in faulty[item]


def test_a_context_or_id_used_twice_and_a_missing_wording_are_found(faulty: dict[str, set[str]]) -> None:
    assert "HN-ROW-013" in faulty["gonggi-air-1"] | faulty["gonggi-bowl-1"]
    assert "HN-ROW-001" in faulty["sinho-ring-2"]
    assert "HN-KONA-011" in faulty["koteu-coat-1"]


def test_nothing_is_found_where_nothing_was_planted(faulty: dict[str, set[str]]) -> None:
    others = {"gonggi-air-1", "gonggi-bowl-1", "sinho-ring-1", "sinho-ring-2", "koteu-coat-1"}
    # A noun that stands in two splits is named once, at any of its rows.
    kadeu = {item for item in faulty if item.startswith("kadeu-")}
    assert set(faulty) <= set(FAULTS) | others | kadeu


def test_without_the_analyser_the_noun_is_not_checked(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "kiwipiepy" else there(name))
    result = validate(str(plain))
    assert result.count(Level.ERROR) == 0
    [unchecked] = [each for each in result.unchecked if "noun" in each.what]
    assert "pip install 'hannun[kona]'" in unchecked.why


def test_other_tables_are_not_judged_by_these(plain: Path, tmp_path: Path) -> None:
    recipe = json.loads((plain / "recipe.json").read_text())
    for source in recipe["sources"]:
        source["digest"] = "sha256:" + "0" * 64
    for name in ("instances.jsonl", "images.lock.jsonl"):
        (tmp_path / name).write_bytes((plain / name).read_bytes())
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    result = validate(str(tmp_path))
    assert any("depictions table" in each.what for each in result.unchecked)


def test_a_sense_with_one_query_is_named(plain: Path, tmp_path: Path) -> None:
    for name in ("recipe.json", "images.lock.jsonl"):
        (tmp_path / name).write_bytes((plain / name).read_bytes())
    lines = (plain / "instances.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["source"]["item"] != "bae-ship-2"]
    (tmp_path / "instances.jsonl").write_text("".join(kept), "utf-8")
    result = validate(str(tmp_path))
    assert {(each.rule.code, each.place.row_id) for each in result.findings} == {
        ("HN-KONA-012", "kona/explicit/bae-ship-1")
    }
