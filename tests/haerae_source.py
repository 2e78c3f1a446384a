"""HAERAE-Vision's table in its true layout, with made-up questions and pictures; nothing of it is published."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pictures import encoded, jpeg, png
from PIL import Image

CATEGORIES = (
    "게임", "엔터테인먼트/예술", "자연물(동식물/곤충)", "과학", "수학", "IT/컴퓨터", "코딩/개발", "경제/경영",
    "자동차/자전거/교통", "건강/의료",
)  # fmt: skip
PLATFORMS = ("네이버 지식iN", "브릭", "루리웹", "몬스터짐", "퀘이사존", "아이보스", "인프런", "코드잇", "오키")
SHORT = "이게 뭐죠?"
_ASKED = (
    "산책하다가 찍었는데 이 꽃 이름이 궁금합니다.",
    "조립하고 나니 전원이 안 들어오는데 어디를 잘못 꽂은 걸까요?",
    "세 번째 줄에서 왜 저렇게 되는지 모르겠어요.",
    "아이가 물어보는데 답을 못 해 줬습니다.",
    "혹시 여기 적힌 글자가 무슨 뜻인지 아시는 분 계신가요?",
    "비슷한 걸 겪어 보신 분이 계시면 알려 주세요.",
)
_CRITERIA = (
    "사진 속 대상의 이름을 맞게 말한다",
    "그렇게 보는 까닭을 두 가지 이상 든다",
    "1.5배 이상이라고 답한다",
    "확실하지 않은 부분을 밝힌다",
    "다음에 할 일을 한 가지 권한다",
)
LONGEST = 2030
CUT_ROW = 22
_STRUCT = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
SCHEMA = pa.schema(
    [
        ("question_idx", pa.int64()),
        ("question_original", pa.string()),
        ("question_explicit", pa.string()),
        ("category", pa.string()),
        ("source", pa.string()),
        ("images", pa.list_(_STRUCT)),
        ("checklist", pa.list_(pa.string())),
    ]
)


@cache
def awkward() -> dict[str, bytes]:
    """Pictures as people post them, by file name."""
    whole = jpeg(size=(200, 120))
    turned = Image.Exif()
    turned[0x0112] = 6
    return {
        "cut.jpg": whole[: len(whole) // 2],
        "turned.jpg": encoded(Image.new("RGB", (60, 30), (90, 20, 160)), "JPEG", exif=turned.tobytes()),
        "print.jpg": encoded(Image.new("CMYK", (40, 30), (0, 200, 200, 0)), "JPEG"),
        "named.jpg": png((1, 200, 3)),
        "dot.png": png(size=(1, 1)),
        "palette.png": encoded(Image.new("P", (30, 30), 7), "PNG"),
        "moving.gif": encoded(Image.new("P", (20, 20), 3), "GIF"),
        "modern.webp": encoded(Image.new("RGBA", (20, 20), (9, 9, 9, 90)), "WEBP"),
        "large.png": encoded(Image.new("1", (6000, 5000)), "PNG"),
        "huge.png": encoded(Image.new("1", (16000, 16000)), "PNG"),
    }


def upstream_rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows as they are published, 1 to 6 pictures each, the awkward ones among them."""
    special = list(awkward().items())
    for number in range(count):
        pictures = [
            {"bytes": png((number % 256, number // 256, place), size=(9 + place, 7)), "path": f"{number}_{place}.png"}
            for place in range(6 if number == 3 else 1 + (number % 4 == 0))
        ]
        if CUT_ROW <= number < CUT_ROW + len(special):
            name, data = special[number - CUT_ROW]
            pictures[0] = {"bytes": data, "path": name}
        yield {
            "question_idx": number + 1,
            "question_original": SHORT if number == 0 else _text(number, 20 + number * 7 % 160),
            "question_explicit": _text(number + 1, LONGEST if number == 1 else 60 + number * 11 % 400),
            "category": CATEGORIES[number % len(CATEGORIES)],
            "source": PLATFORMS[number % len(PLATFORMS)],
            "images": pictures,
            "checklist": [f"{n + 1}. {_CRITERIA[n]}" for n in range(1 + number % 5)],
        }


def _text(start: int, length: int) -> str:
    text = ""
    while len(text) < length:
        text += (" " if text else "") + _ASKED[start % len(_ASKED)]
        start += 1
    return text[: length - 1].rstrip().ljust(length - 1, "음") + "?"


def expected_records(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Config -> the record that a row of `upstream_rows` must give, its pictures as bytes."""
    shared = {
        "question_idx": str(row["question_idx"]),
        "category": row["category"],
        "source": row["source"],
        "images": [each["bytes"] for each in row["images"]],
        "checklist": [each.partition(" ")[2] for each in row["checklist"]],
        "checklist_raw": json.dumps(row["checklist"], ensure_ascii=False, separators=(",", ":")),
        "answer": None,
    }
    both = {name: row[name] for name in ("question_original", "question_explicit")}
    alone = {name: {**shared, "question": row[f"question_{name}"]} for name in ("original", "explicit")}
    return {**alone, "paired": {**shared, **both}}


def write_parquet(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    files: int = 3,
    group: int = 50,
    stale: bool = True,
    schema: pa.Schema = SCHEMA,
) -> Path:
    """A repository's folder: several parquet files with several row groups, and a card of an earlier day."""
    rows = list(rows)
    (folder / "data").mkdir(parents=True)
    described = {name: {"dtype": "string", "_type": "Value"} for name in schema.names}
    described |= {"images": {"feature": {"_type": "Image"}, "_type": "List"}}
    metadata = {"huggingface": json.dumps({"info": {"features": described}})}
    share = -(-len(rows) // files)
    for number in range(files):
        part = rows[number * share : (number + 1) * share]
        table = pa.Table.from_pylist(part, schema=schema.with_metadata(metadata))
        pq.write_table(table, folder / f"data/train-{number:05d}-of-{files:05d}.parquet", row_group_size=group)
    if stale:
        (folder / "README.md").write_text(
            "---\ndataset_info:\n  splits:\n  - name: train\n    num_examples: 165\n"
            "configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*\n---\n",
            encoding="utf-8",
        )
    return folder


def noise(megabytes: int, seed: int) -> bytes:
    """A picture of that many megabytes that no compression makes smaller."""
    import random

    side = int((megabytes * (1 << 20) / 3) ** 0.5)
    stream = io.BytesIO()
    image = Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3))
    image.save(stream, "BMP")
    return stream.getvalue()
