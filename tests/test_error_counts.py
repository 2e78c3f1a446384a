"""Counts of error annotations: shares by hand, config beside config, every word of the taxonomy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.error_annotations import ErrorAnnotation
from hannun.evaluation.error_counts import error_tables
from hannun.schemas.error_taxonomy import Taxonomy


def annotation(item: str, config: str, *errors: str, benchmark: str = "haerae-vision", **more: Any) -> ErrorAnnotation:
    return ErrorAnnotation(item, benchmark, config, more.pop("model", "m"), errors, **more)


def test_shares_are_those_of_each_configs_annotations() -> None:
    [table] = error_tables(
        [
            annotation("1", "explicit", "other", root_cause="language", severity="minor"),
            annotation("1", "original", "other", "object_recognition", root_cause="language", severity="severe"),
            annotation("2", "original", "object_recognition", root_cause="general_reasoning", severity="severe"),
            annotation("2", "original", "lack_of_explicitness", root_cause="language", annotator="b"),
            annotation("3", "original", "object_recognition", root_cause="language", severity="minor"),
        ]
    )
    assert table.configs == ("original", "explicit") == table.change
    assert dict(table.annotations) == {"original": 4, "explicit": 1}
    assert table.share("errors", "object_recognition", "original") == 3 / 4
    assert table.share("errors", "object_recognition", "explicit") == 0
    assert table.share("errors", "other", "original") == 1 / 4
    assert table.share("root_cause", "language", "original") == 3 / 4
    assert table.share("severity", "severe", "original") == 2 / 4
    # What never occurs is a finding too.
    assert table.counts["root_cause", "cultural_knowledge"] == {"original": 0, "explicit": 0}
    assert [word for field, word in table.counts if field == "severity"] == ["minor", "moderate", "severe"]
    assert table.source is not None
    assert "Table 17" in table.source


def test_models_stand_apart_and_unknown_words_come_by_frequency() -> None:
    first, second = error_tables(
        [
            annotation("1", "verse-spis", "나", benchmark="sage"),
            annotation("2", "verse-spis", "가", benchmark="sage"),
            annotation("3", "verse-spis", "가", benchmark="sage"),
            annotation("1", "vwsd", "가", benchmark="sage", model="other"),
        ]
    )
    assert [word for _, word in first.counts] == ["가", "나"]
    assert (first.model, second.model, first.source, first.change) == ("m", "other", None, None)
    given = Taxonomy("sage", "mine", ("다", "나", "가"))
    [table, _] = error_tables(
        [annotation("1", "vwsd", "나", benchmark="sage"), annotation("1", "vwsd", "가", benchmark="sage", model="o")],
        given,
    )
    assert [word for _, word in table.counts] == ["다", "나", "가"]
    assert table.source == "mine"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = []
    for number, config in enumerate(("original", "explicit")):
        row = {
            "item": "22", "benchmark": "haerae-vision", "config": config, "model": "m", "severity": "minor",
            "root_cause": "language", "errors": ["other", "spatial_reasoning"][number:],
        }  # fmt: skip
        paths.append(tmp_path / f"{config}.jsonl")
        paths[-1].write_text(json.dumps(row) + "\n")
    return paths


def test_the_command_counts_several_files(run: Any, files: list[Path]) -> None:
    done = run("hannun", "eval", "errors", *files)
    assert done.returncode == 0, done.stderr
    [other] = [line for line in done.stdout.splitlines() if line.startswith("other")]
    assert other.split() == ["other", "1", "(100.0%)", "0", "(0.0%)", "-100.0", "points"]
    [table] = json.loads(run("hannun", "eval", "errors", *files, "--json").stdout)
    assert table["annotations"] == {"original": 1, "explicit": 1}
    shares = {(each["field"], each["word"]): each["configs"]["explicit"]["share"] for each in table["counts"]}
    assert shares["errors", "spatial_reasoning"] == 1.0
    assert shares["errors", "other"] == 0.0


def test_what_is_wrong_ends_in_exit_2(run: Any, files: list[Path]) -> None:
    done = run("hannun", "eval", "errors", files[0], files[0])
    assert done.returncode == 2
    assert "judged twice" in done.stderr
    assert "line 1" in done.stderr
    assert run("hannun", "eval", "errors").returncode == 2
    assert run("hannun", "eval", "nothing").returncode == 2
