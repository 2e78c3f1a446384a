"""Scores as a document, a table and a page: the same figures in each, and a page that stays in its frame."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from gallery_page import Page
from hannun.cards.score_page import MOST_FLAGGED, score_page
from hannun.evaluation.score import Comparison, Figure, RowScore, Scores, State
from hannun.evaluation.score_document import document, figures_csv
from hannun.schemas import json_schema

HOSTILE = "</style><script>alert('1')</script>\"'&{{ 7 * 7 }}<img src=x onerror=alert(2)>"
CATEGORIES = ("객체 속성", "상식 추론", "그래프와 차트")


def figure(group: str, value: float | None, model: str = "a", **more: Any) -> Figure:
    given: dict[str, Any] = {
        "measure": "score", "model": model, "config": "default", "group": group, "rows": 40, "scored": 38,
        "value": value, "scored_only": value, "published": 62.5, "low": value or 0, "high": (value or 0) + 5,
        "most": 100, "interval": (40.0, 60.0), **more,
    }  # fmt: skip
    return Figure(**given)


def row(number: int, flag: str | None = None, **more: Any) -> RowScore:
    return RowScore(f"koffvqa/default/{number}", "default", CATEGORIES[0], "a", 0, State.NO_SCORE, flag=flag, **more)


SCORES = Scores(
    "koffvqa",
    (
        figure("overall", 50.0),
        figure("overall", 70.0, "b", interval=None, high=70.0, scored=40),
        *(figure(each, 10.0 * place, model) for place, each in enumerate(CATEGORIES, 4) for model in "ab"),
    ),
    (
        row(1, "no-score", note="채점할 수 없습니다."),
        RowScore("koffvqa/default/2", "default", CATEGORIES[1], "a", 0, State.SCORED, {"score": 0.8}, {"score": 1.0}),
        RowScore("koffvqa/default/3", "default", CATEGORIES[1], "a", 0, State.SCORED, {"score": 0.8}, {"score": 0.8}),
    ),
    (
        Comparison("score", "a", "b", 40, 20.0, "paired t-test", 3.1, 0.00001, (12.0, 28.0)),
        Comparison("score", "a", "c", 40, -2.0, "paired t-test", None, None, None, "no variance"),
    ),
    {"py3langid": "0.3.0"},
    ("3 scores became 0",),
)


def as_document(scores: Scores = SCORES, **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "tool": "hannun 0.1.0",
        "made": "2026-01-02T10:00:00Z",
        "files": [{"path": "a.jsonl", "digest": "sha256:" + "0" * 64}],
        "data": "koffvqa",
        "results": [{"what": "a model", "config": "default", "value": "61.2", "where": "a paper"}],
        **more,
    }
    made: dict[str, Any] = json.loads(json.dumps(document(scores, **given)))
    return made


def test_the_document_is_as_its_schema_says_and_counts_what_differs() -> None:
    made = as_document()
    assert json_schema.problems("scores", made) == []
    # Nothing read beside nothing published is no difference; 0.8 beside 1 is.
    assert made["differences"] == 1
    assert made["flags"] == {"no-score": 1}
    assert [each["state"] for each in made["rows"]] == ["no-score", "scored", "scored"]
    assert json_schema.problems("scores", {**made, "figures": [{**made["figures"][0], "value": "50"}]})


def test_the_table_holds_every_figure_unrounded() -> None:
    figures = (figure("overall", 100 / 3), figure('쉼표, "따옴표"', None, interval=None))
    first, second = csv.DictReader(io.StringIO(figures_csv(figures)))
    assert float(first["value"]) == 100 / 3
    assert (first["interval_low"], first["interval_high"]) == ("40.0", "60.0")
    assert (second["group"], second["value"], second["interval_low"]) == ('쉼표, "따옴표"', "", "")


def test_the_page_says_what_the_document_says() -> None:
    page = score_page(as_document(), "KOFFVQA")
    assert "differ on 1." in page
    assert "3 scores became 0" in page
    assert page.count('<article class="card') == 2
    # Best group first, in it a bar for each model, at their place on the scale.
    assert re.findall(r'<div class="label">(\S+ ?\S*) <small>40', page) == list(reversed(CATEGORIES))
    assert page.count('class="fill" style="width: 60.00%"') == 2
    assert 'class="was" style="left: 62.50%"' in page
    assert "&lt; 0.0001" in page
    assert "no variance" in page
    assert "채점할 수 없습니다." in page
    assert "a paper" in page
    assert re.findall(r"src=[\"'](?!data:)[^\"']*", page) == []


def test_a_difference_is_coloured_where_its_interval_leaves_nothing_out() -> None:
    page = score_page(as_document(), "KOFFVQA")
    assert re.findall(r'<div class="axis (\w+)">', page) == ["up", "open"]


def test_a_page_without_rows_or_groups_stands() -> None:
    empty = Scores("koffvqa", (figure("overall", None, rows=0, scored=0, interval=None, low=0, high=0),), ())
    page = score_page(as_document(empty, data=None, results=[]), "KOFFVQA")
    assert "–" in page
    assert "Paired differences" not in page


def test_texts_of_others_stay_texts() -> None:
    scores = Scores(
        HOSTILE, (figure("overall", 1.0, HOSTILE), figure(HOSTILE, 1.0, HOSTILE)), (row(1, HOSTILE, note=HOSTILE),),
        (Comparison(HOSTILE, HOSTILE, HOSTILE, 1, 0.0, HOSTILE, None, None, None, HOSTILE),), {HOSTILE: HOSTILE},
        (HOSTILE,),
    )  # fmt: skip
    page = score_page(as_document(scores, data=HOSTILE), HOSTILE)
    assert page.count("<script>") == 1
    assert "<img" not in page


def test_many_flagged_rows_are_cut_and_said_so() -> None:
    scores = Scores("koffvqa", SCORES.figures, tuple(row(n, "cut-off") for n in range(MOST_FLAGGED + 7)))
    page = score_page(as_document(scores), "KOFFVQA")
    assert page.count("<td>cut-off</td>") == MOST_FLAGGED + 1
    assert f"Shown are {MOST_FLAGGED:,}" in page


@pytest.mark.parametrize("width", [500, 1280])
def test_the_page_stays_in_its_frame(browser: Any, tmp_path: Path, width: int) -> None:
    long = figure("아주-긴-이름-" * 12, 33.0, "a-model/with-a-rather-long-name-" * 3)
    scores = Scores(SCORES.benchmark, (*SCORES.figures, long), SCORES.rows, SCORES.comparisons, SCORES.settings)
    path = tmp_path / "scores.html"
    path.write_text(score_page(as_document(scores), "KOFFVQA"), "utf-8")
    page = Page(browser, path, width)
    assert page.js("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    inside = "const [a, b] = arguments; return a.getBoundingClientRect().right <= b.getBoundingClientRect().right + 1"
    for bar in page.all(".chart .fill"):
        assert page.js(inside, bar, bar.find_element("xpath", ".."))
    before = page.js("return getComputedStyle(document.body).backgroundColor")
    page.all("#theme")[0].click()
    assert page.js("return getComputedStyle(document.body).backgroundColor") != before
