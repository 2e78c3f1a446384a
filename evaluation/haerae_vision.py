"""HAERAE-Vision's score: the share of its checklist that an answer meets, mean over questions (arXiv 2601.06165)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from hannun.evaluation.comparison import compare
from hannun.evaluation.doubt import Flag
from hannun.evaluation.figures import figures, row_means
from hannun.evaluation.judged_answer import JudgedAnswer, with_missing
from hannun.evaluation.row_names import item_of
from hannun.evaluation.score import Comparison, RowScore, Scores, State
from hannun.evaluation.score_tag import TagReading, read_score_tag
from hannun.schemas.question import Question

MEASURE = "S_final"
_WORDINGS = ("original", "explicit")


def haerae_vision_scores(answers: Sequence[JudgedAnswer], rows: Mapping[str, Question] | None) -> Scores:
    """Scores of each config, over all and each category, with the standard error over runs; explicit less original.

    Parameters
    ----------
    rows
        Row id -> row of the data set; None where it is not at hand, and no checklist can be counted.
    """
    scored = [
        _scored(partial(RowScore, row_id, config, _category(row_id, rows), model, run), answer, rows)
        for row_id, config, model, run, answer in with_missing(answers, rows)
    ]
    groups = {row_id: [_category(row_id, rows)] for row_id in rows or () if _category(row_id, rows)}
    return Scores(
        "haerae-vision",
        tuple(figures(scored, MEASURE, groups=groups)),
        tuple(scored),
        tuple(_wordings(scored)),
        settings={
            "published rule": "the only <score> tag that holds K/N or a number (HAE-RAE/HAERAE-VISION, score.py);"
            " where it fails, nothing (guijinSON/haerae-bench-vision, merge_scores.ipynb)"
        },
        notes=()
        if rows is not None
        else ("the data set is not at hand: no categories, no checklists to count, and missing rows cannot be known",),
    )


def _category(row_id: str, rows: Mapping[str, Question] | None) -> str:
    return (rows[row_id].record["category"] or "") if rows is not None else ""


def _scored(row: partial[RowScore], answer: JudgedAnswer | None, rows: Mapping[str, Question] | None) -> RowScore:
    if answer is None:
        return row(State.MISSING, flag=Flag.MISSING)
    if answer.judge_error is not None:
        # The published script parses an empty text then, and fails.
        return row(State.JUDGE_ERROR, published={}, flag=Flag.JUDGE_ERROR, note=answer.judge_error)
    reading = _reading(answer, len(rows[answer.row_id].record["checklist"]) if rows is not None else None)
    published = {} if reading.published is None else {MEASURE: reading.published}
    if reading.careful is None:
        return row(State.NO_SCORE, published=published, flag=reading.flag, note=reading.found)
    values = {MEASURE: reading.careful}
    return row(State.SCORED, values=values, published=published, flag=reading.flag, note=reading.found)


def _reading(answer: JudgedAnswer, criteria: int | None) -> TagReading:
    if answer.judge is not None:
        return read_score_tag(answer.judge, criteria)
    assert answer.judge_score is not None
    if 0 <= answer.judge_score <= 1:
        return TagReading(answer.judge_score, answer.judge_score)
    return TagReading(answer.judge_score, None, Flag.OUT_OF_RANGE, f"{answer.judge_score:g}")


def _wordings(scored: Sequence[RowScore]) -> Iterator[Comparison]:
    """Explicit less original for each model, over the questions that it answered in both."""
    for model in dict.fromkeys(row.model for row in scored):
        first, second = (
            row_means((row for row in scored if (row.model, row.config) == (model, wording)), MEASURE)
            for wording in _WORDINGS
        )
        first, second = ({item_of(row_id): value for row_id, value in each.items()} for each in (first, second))
        if first and second:
            yield compare(MEASURE, (f"{model}, original", first), (f"{model}, explicit", second))
