"""Small data sets of questions, as rows and as built folders in both layouts, made for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hannun.builders.folder import README, write_splits
from hannun.builders.head import readme
from hannun.schemas import catalogue
from hannun.schemas.digest import digests_of
from hannun.schemas.instance import config_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.question import Question
from hannun.schemas.strict_json import dump_lines, dumps
from pictures import jpeg, png

TEXT = {"dtype": "string", "_type": "Value"}
IMAGE = {"_type": "Image"}


HAERAE = catalogue.benchmark("haerae-vision")

ASKED = [
    ("2", "자연물(동식물/곤충)", "이 꽃 이름이 뭔가요?", "사진 속 분홍색 꽃의 이름은 무엇인가요?", 1),
    ("10", "IT/컴퓨터", "이거 왜 이래요?\n\n  print(눈)\n오류가 납니다.", "파이썬 코드의 3행에서 오류가 나는 까닭은 무엇인가요?", 3),
    ("11", "게임", "어디로 가야 하나요", "지도에 표시된 성에서 나가려면 어디로 가야 하나요?", 6),
]  # fmt: skip
CHECKLISTS = {
    "2": ["꽃의 이름을 ‘코스모스’라고 답한다.", "꽃잎의 색을 말한다."],
    "10": ["오류의 원인을 설명한다."],
    "11": ["북쪽 문을 가리킨다.", "열쇠가 필요하다고 말한다.", "탭\t과 \"따옴표\"를 그대로 둔다."],
}  # fmt: skip


def haerae_rows(answers: Mapping[str, str] | None = None) -> list[Question]:
    """Three items in three configs, of one, three and six pictures."""
    rows = []
    for item, category, original, explicit, count in sorted(ASKED):
        shared = {
            "question_idx": item,
            "category": category,
            "source": "지식iN",
            "checklist": CHECKLISTS[item],
            "checklist_raw": dumps([f"{n}. {text}" for n, text in enumerate(CHECKLISTS[item], 1)]),
            "answer": (answers or {}).get(item),
        }
        images = tuple(f"haerae-vision:{item}/{place}" for place in range(count))
        asked: dict[str, dict[str, str]] = {
            "original": {"question": original},
            "explicit": {"question": explicit},
            "paired": {"question_original": original, "question_explicit": explicit},
        }
        rows += [
            Question(f"haerae-vision/{config}/{item}", "test", images, {**shared, **texts})
            for config, texts in asked.items()
        ]
    return sorted(rows, key=lambda row: row.id)


CRITERIA = {
    "1": ("additive", "* 간판의 글자를 읽는다 +4점\n* 가게의 종류를 말한다 +6점", [("간판의 글자를 읽는다", 4), ("가게의 종류를 말한다", 6)]),
    "2": ("exclusive", "* 세 마리라고 답한다 10점\n* 네 마리라고 답한다 5점\n* 그 밖의 답 0점", [("세 마리라고 답한다", 10), ("네 마리라고 답한다", 5), ("그 밖의 답", 0)]),
    "3": ("unknown", "자유롭게 채점한다.\r\n\"정성\" 평가", [("자유롭게 채점한다.", None)]),
}  # fmt: skip


def koffvqa_rows() -> list[Question]:
    """Three questions, whose criteria add up, exclude each other, and are of no known kind."""
    return [
        Question(
            f"koffvqa/default/{index}",
            "test",
            (f"koffvqa:{index}",),
            {
                "index": index,
                "question": f"그림 {index}에는 무엇이 보이나요?",
                "criteria": [{"text": text, "points": points, "kind": kind} for text, points in parts],
                "criteria_raw": raw,
                "category": "Commonsense Reasoning",
                "main_category": "Reasoning",
            },
        )
        for index, (kind, raw, parts) in CRITERIA.items()
    ]


def pictures_of(rows: Sequence[Question]) -> dict[str, bytes]:
    """Image id -> a picture of its own size and colour."""
    ids = sorted({image_id for row in rows for image_id in row.images})
    return {
        each: jpeg((place * 17 % 256, 90, 40), (320 + 40 * place, 240), 90)
        if place % 2
        else png((30, place * 23 % 256, 160), (240, 200 + 30 * place))
        for place, each in enumerate(ids)
    }


def lock_of(pictures: Mapping[str, bytes]) -> list[LockEntry]:
    return [
        LockEntry(image_id, (f"row:source!{place}/image",), digests=digests_of(data), attribution=f"Photo: {image_id}",
                  licence={"spdx": "CC-BY-4.0", "name": "Attribution", "url": None})
        for place, (image_id, data) in enumerate(pictures.items())
    ]  # fmt: skip


def _feature(value: Any) -> Any:
    if isinstance(value, list):
        return [_feature(value[0])]
    if isinstance(value, dict):
        number = {"dtype": "float64", "_type": "Value"}
        return {name: number if name == "points" else TEXT for name in value}
    return TEXT


def build(folder: Path, rows: Sequence[Question], pictures: Mapping[str, bytes], *, by_id: bool = False) -> Path:
    """A built folder of these rows, laid out as `hannun build` does."""
    name = rows[0].id.partition("/")[0]
    configs = dict.fromkeys(config_of(row.id) for row in rows)
    column = "image" if name == "koffvqa" else "images"
    features: dict[str, dict[str, Any]] = {}
    for config in configs:
        record = next(row.record for row in rows if config_of(row.id) == config)
        features[config] = {field: _feature(value) for field, value in record.items()}
        shown = {"image_ids": [TEXT]} if by_id else {column: IMAGE if column == "image" else [IMAGE]}
        features[config] |= shown
    features["images"] = {"image_id": TEXT, "image": IMAGE, "licence": TEXT, "attribution": TEXT}

    def cell(image_id: str) -> dict[str, Any]:
        return {"bytes": pictures[image_id], "path": image_id.partition(":")[2].replace("/", "-") + ".png"}

    def records(config: str, _: str) -> list[dict[str, Any]]:
        if config == "images":
            return [{"image_id": each, "image": cell(each), "licence": None, "attribution": None} for each in pictures]
        made = []
        for row in (row for row in rows if config_of(row.id) == config):
            cells = [cell(image_id) for image_id in row.images]
            shown = {"image_ids": list(row.images)} if by_id else {column: cells[0] if column == "image" else cells}
            made.append({**row.record, **shown})
        return made

    folder.mkdir(parents=True)
    splits = dict.fromkeys((*configs, *(["images"] if by_id else [])), ("test",))
    write_splits(folder, splits, features, records)
    recipe = {
        "benchmark": name, "recipe": name.replace("-", "_"), "version": 1, "options": {}, "seed": 1, "sources": [],
        "counts": {"rows": len(rows), "images": len(pictures), "dropped": 0}, "dropped": [], "baselines": {},
    }  # fmt: skip
    (folder / "recipe.json").write_text(dumps(recipe) + "\n", "utf-8")
    (folder / "rows.jsonl").write_text(dump_lines(row.to_json() for row in rows), "utf-8")
    (folder / "images.lock.jsonl").write_text(dump_lines(each.to_json() for each in lock_of(pictures)), "utf-8")
    (folder / README).write_text(readme({"configs": []}, "made for tests"), "utf-8")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
