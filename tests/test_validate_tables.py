"""Tables of one's own: `hannun.toml`, class labels, cards, and datasets of a Hub on loopback."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hannun.schemas.errors import InputError
from hannun.validate.finding import Place
from hannun.validate.reader import Row, rows_of
from hannun.validate.result import Part, Scope
from hannun.validate.table_config import read_table_config
from hannun.validate.target import validate
from hub import hub
from pictures import png

CONFIG = """
[columns]
id = "qid"
text = ["prompt"]
images = ["photo"]
candidates = "options"
label = "right"

[classes]
kind = ["색", "수"]
"""


def row(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "qid": f"q{number}", "prompt": "무슨 색인가요?", "photo": {"bytes": png(), "path": f"{number}.png"},
        "options": ["빨강", "파랑", "노랑"], "right": number % 3, "kind": 0, **changed,
    }  # fmt: skip


def folder_of(folder: Path, rows: list[dict[str, Any]], config: str | None = CONFIG) -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "test.parquet")
    if config is not None:
        (folder / "hannun.toml").write_text(config, "utf-8")
    return folder


def found(path: Path) -> list[tuple[str, int | None]]:
    return [(each.rule.code, each.place.row) for each in validate(str(path)).findings if each.rule.level != "note"]


def test_a_good_table_has_nothing_to_say(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "d", [row(n) for n in range(9)])
    result = validate(str(folder))
    assert result.findings == []
    assert result.baselines["first candidate"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"qid": "q1"}, "HN-ROW-001"),
        ({"qid": ""}, "HN-SCH-003"),
        ({"prompt": "  "}, "HN-TAB-002"),
        ({"prompt": None}, "HN-TAB-002"),
        ({"photo": None}, "HN-IMG-001"),
        ({"photo": {"bytes": png()[:40], "path": "a.png"}}, "HN-IMG-002"),
        ({"photo": {"bytes": None, "path": "/home/me/a.png"}}, "HN-IMG-001"),
        ({"photo": {"bytes": png(), "path": "/home/me/a.png"}}, "HN-IMG-005"),
        ({"options": ["빨강", "빨강", "노랑"]}, "HN-ROW-003"),
        ({"options": ["빨강"]}, "HN-TAB-003"),
        ({"options": None}, "HN-TAB-003"),
        ({"right": 3}, "HN-ROW-004"),
        ({"right": -1}, "HN-ROW-004"),
        ({"right": None}, "HN-ROW-004"),
        ({"kind": 2}, "HN-TAB-004"),
        ({"kind": -100}, "HN-TAB-004"),
    ],
)
def test_what_a_configuration_declares_is_held_to(tmp_path: Path, changed: dict[str, Any], code: str) -> None:
    rows = [row(n) for n in range(6)]
    rows[4] = row(4, **changed)
    assert (code, 4) in found(folder_of(tmp_path / "d", rows))


def test_rows_are_checked_without_reading_pictures(tmp_path: Path) -> None:
    rows = [row(0), row(1, prompt="", photo=None), row(2, photo={"bytes": png()[:40], "path": "/home/me/a.png"})]
    folder = folder_of(tmp_path / "d", rows)
    alone = validate(str(folder), scope=Scope(Part.ROWS)).findings
    assert [(each.rule.code, each.place.row) for each in alone if each.rule.level == "error"] == [("HN-TAB-002", 1)]
    place = Place("test.parquet")
    read = [each for each in rows_of(place, folder / "test.parquet", pictures=False) if isinstance(each, Row)]
    assert [sorted(each.values) for each in read] == [["kind", "options", "prompt", "qid", "right"]] * 3
    pictures = validate(str(folder), scope=Scope(Part.IMAGES)).findings
    assert {each.place.row for each in pictures} == {1, 2}


def test_rows_are_named_as_the_configuration_says(tmp_path: Path) -> None:
    rows = [row(n) for n in range(3)]
    rows[2]["prompt"] = ""
    findings = validate(str(folder_of(tmp_path / "d", rows))).findings
    assert {each.place.row_id for each in findings} == {"q2"}


def test_a_column_that_is_not_there_is_said_once(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "d", [row(n) for n in range(5)], CONFIG.replace('"prompt"', '"promt"'))
    [finding] = validate(str(folder)).findings
    assert (finding.rule.code, finding.place.field) == ("HN-TAB-001", "promt")
    assert "prompt" in (finding.expected or "")


def test_a_configuration_may_lie_elsewhere(run: Any, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "d", [row(0, prompt="")], None)
    config = tmp_path / "mine.toml"
    config.write_text(CONFIG, "utf-8")
    assert run("hannun", "validate", folder).returncode == 0
    done = run("hannun", "validate", folder, "--config", config)
    assert done.returncode == 1
    assert "HN-TAB-002" in done.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[columns", "not TOML"),
        ("", "not a configuration"),
        ("[colums]\nid = 'a'\n", "not a configuration"),
        ("[columns]\nid = 1\n", "not a configuration"),
        ("[columns]\nlabel = 'a'\n", "not a configuration"),
        ("[classes]\na = []\n", "not a configuration"),
    ],
)
def test_a_wrong_configuration_is_explained(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "hannun.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=says) as caught:
        read_table_config(path)
    assert str(path) in str(caught.value.where)


@pytest.mark.parametrize("case", ["D07"], indirect=True)
def test_class_labels_of_a_public_report(case: Path) -> None:
    wanted = json.loads((case / "case.json").read_text("utf-8"))["expected"]
    for name, rows in wanted.items():
        findings = validate(str(case / name)).findings
        by_code = {
            code: [f.place.row for f in findings if f.rule.code == code] for code in ("HN-TAB-004", "HN-TAB-005")
        }
        assert by_code == {"HN-TAB-004": rows["error"], "HN-TAB-005": rows["unlabelled"]}


def test_class_labels_are_known_from_the_tables_own_features(tmp_path: Path) -> None:
    features = {"info": {"features": {"kind": {"_type": "ClassLabel", "names": ["Red", "Blue"]}}}}
    table = pa.table({"id": [1, 2, 3], "kind": ["Red", "red ", "green"]})
    path = tmp_path / "a.parquet"
    pq.write_table(table.replace_schema_metadata({b"huggingface": json.dumps(features).encode()}), path)
    wrong = [each for each in validate(str(path)).findings if each.rule.code == "HN-TAB-004"]
    assert [each.place.row for each in wrong] == [1, 2]
    assert wrong[0].expected == "'Red'"


def test_a_card_that_counts_otherwise_is_found(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "d", [row(n) for n in range(3)])
    head = (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: test.parquet\n"
        "dataset_info:\n  config_name: default\n  splits:\n  - name: test\n    num_examples: {}\n---\n"
    )
    (folder / "README.md").write_text(head.format(3), "utf-8")
    assert found(folder) == []
    (folder / "README.md").write_text(head.format(4), "utf-8")
    assert [code for code, _ in found(folder)] == ["HN-CARD-002"]


def test_a_dataset_of_the_hub(run: Any, tmp_path: Path) -> None:
    with hub() as serving:
        serving.repos["me/mine"] = folder_of(tmp_path / "repo", [row(0), row(1, prompt="")])
        serving.gated.add("me/gated")
        serving.repos["me/gated"] = serving.repos["me/mine"]
        kept = {name: value for name, value in os.environ.items() if name not in ("HF_TOKEN", "HF_HUB_CACHE")}
        environment = {
            **kept, "HF_ENDPOINT": serving.address, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0",
            "HF_HOME": str(tmp_path / "hf"),
        }  # fmt: skip
        done = run("hannun", "validate", "me/mine", env=environment)
        assert done.returncode == 1, done.stderr
        assert "q1" in done.stdout
        for name, says in (("me/gated", "gated"), ("me/none", "no dataset me/none")):
            refused = run("hannun", "validate", name, env=environment)
            assert refused.returncode == 2
            assert says in refused.stderr
            assert "hf auth login" in refused.stderr
            assert "Traceback" not in refused.stderr
    offline = run("hannun", "validate", "me/other", env={**environment, "HF_HUB_OFFLINE": "1"})
    assert offline.returncode == 2
    assert "HF_HUB_OFFLINE" in offline.stderr
