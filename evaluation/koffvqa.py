"""KOFFVQA's score: a judge's points out of ten, nothing for an answer that is not Korean; the mean times ten.

The rule is that of maum-ai/KOFFVQA (evaluate.py) and arXiv 2503.23730.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from hannun.evaluation.answer_language import Language, detector_version, languages
from hannun.evaluation.doubt import Flag
from hannun.evaluation.figures import figures
from hannun.evaluation.judge_text import Reading, read_judge_text
from hannun.evaluation.judged_answer import JudgedAnswer, with_missing
from hannun.evaluation.score import RowScore, Scores, State
from hannun.evaluation.score_phrase import MOST, whole_score
from hannun.schemas.question import Question

MEASURE = "score"
_MOST = 100.0


def koffvqa_scores(answers: Sequence[JudgedAnswer], rows: Mapping[str, Question] | None) -> Scores:
    """Scores over all, each category and each main category, as published and as read with care.

    Parameters
    ----------
    rows
        Row id -> row of the data set; None where it is not at hand.
    """
    readings = {id(each): _reading(each) for each in answers if each.judge_error is None}
    # Whatever scores nothing already, the language rule cannot change.
    asked = [
        each.answer
        for each in answers
        if each.answer is not None and id(each) in readings and _counts(readings[id(each)])
    ]
    said = languages(asked)
    scored = []
    for row_id, config, model, run, answer in with_missing(answers, rows):
        reading = readings.get(id(answer))
        language = said.get(answer.answer) if answer is not None and answer.answer is not None else None
        group = (rows[row_id].record["category"] or "") if rows is not None else ""
        row = partial(RowScore, row_id, config, group, model, run)
        scored.append(_scored(row, answer, reading, language))
    made = figures(scored, MEASURE, groups=_groups(rows), most=_MOST)
    return Scores(
        "koffvqa",
        tuple(made),
        tuple(scored),
        settings={
            "published rule": "the last number of the judge's text (maum-ai/KOFFVQA, src/utils.py), mean times ten",
            "language rule": f"py3langid {detector_version()}, or only digits, ASCII punctuation and white space"
            if asked
            else "not asked",
        },
        notes=tuple(_notes(answers, scored, rows)),
    )


def _reading(answer: JudgedAnswer) -> Reading:
    if answer.judge is not None:
        return read_judge_text(answer.judge)
    assert answer.judge_score is not None
    stated = whole_score(f"{answer.judge_score:g}")
    if isinstance(stated, int):
        return Reading(stated, stated)
    return Reading(0, None, stated.flag, stated.found)


def _counts(reading: Reading) -> bool:
    return bool(reading.published or reading.careful)


def _scored(
    row: partial[RowScore], answer: JudgedAnswer | None, reading: Reading | None, language: Language | None
) -> RowScore:
    if answer is None:
        return row(State.MISSING, flag=Flag.MISSING)
    if reading is None:
        return row(State.JUDGE_ERROR, flag=Flag.JUDGE_ERROR, note=answer.judge_error)
    published = {MEASURE: reading.published / MOST if language is None or language.kept else 0.0}
    if reading.careful is None:
        return row(State.NO_SCORE, published=published, flag=reading.flag, note=reading.found)
    careful = reading.careful / MOST if language is None or language.kept_nfc else 0.0
    flag, note = reading.flag, reading.found
    if language is not None and (doubt := language.flag) is not None:
        flag, note = doubt, f"{reading.careful} of {MOST} points; {language.note}"
    return row(State.SCORED, values={MEASURE: careful}, published=published, flag=flag, note=note)


def _groups(rows: Mapping[str, Question] | None) -> dict[str, list[str]]:
    """Row id -> its category and main category."""
    found = {}
    for row_id, row in (rows or {}).items():
        category, main = row.record["category"], row.record["main_category"]
        found[row_id] = [*([category] if category else []), *([f"{main} (main category)"] if main else [])]
    return found


def _notes(
    answers: Sequence[JudgedAnswer], scored: Sequence[RowScore], rows: Mapping[str, Question] | None
) -> list[str]:
    notes = []
    if rows is None:
        notes.append("the data set is not at hand: no categories, and rows that are missing cannot be known")
    if without := sum(each.answer is None for each in answers):
        notes.append(f"the language rule is not asked of {without:,} rows that hold no answer")
    zeroed = [
        each
        for each in scored
        if each.flag in (Flag.NOT_KOREAN, Flag.LANGUAGE_IN_DOUBT) and not any((each.published or {}).values())
    ]
    if zeroed:
        notes.append(f"the language rule turns the scores of {len(zeroed):,} rows to 0; they are flagged")
    return notes
