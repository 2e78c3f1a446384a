"""Judged answers: what a model answered and a judge said of it, read from JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hannun.evaluation.row_names import RowNames
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.question import Question
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.text_file import read_text

_ID = ("id", "index", "question_idx")
_CONFIG = ("config", "question_type")
_ANSWER = ("answer", "prediction", "response")
_JUDGE = ("judge", "review", "judge_response", "text")


class JudgedAnswer(NamedTuple):
    """One answer of one model in one run; `row_id` is that of the data set, `config` its config.

    `judge` is the judge's text; None with `judge_error` where the judge failed, or with `judge_score` where only
    the score is at hand.
    """

    row_id: str
    config: str
    model: str
    run: int
    answer: str | None
    judge: str | None
    judge_score: float | None
    judge_error: str | None


def read_judged_answers(paths: Sequence[Path], rows: Mapping[str, Question] | None, model: str) -> list[JudgedAnswer]:
    """The judged answers of one model's files; where they do not number their runs, each file is one.

    Parameters
    ----------
    rows
        Row id -> row of the data set; None where it is not at hand, and ids are taken as they are.
    model
        The model's name where the files do not say it.

    Raises
    ------
    InputError
        With file and line: no judged answer as `judged_answer.schema.json` describes it, an id that the data set
        does not have, a question answered twice in one run, or a file without any line.
    """
    names = None if rows is None else RowNames(rows)
    answers: list[JudgedAnswer] = []
    places: dict[tuple[str, str, int], str] = {}
    for number, path in enumerate(paths):
        before = len(answers)
        for line, value in numbered_lines(read_text(path).text, str(path)):
            where = f"{path}, line {line}"
            answer = _answer(value, names, where, model=model, run=number)
            _refuse_twice(places, (answer.row_id, answer.model, answer.run), where)
            answers.append(answer)
        if len(answers) == before:
            raise InputError("no judged answer in the file", where=str(path), todo="give another file")
    return answers


class Answer(NamedTuple):
    """One answer of one model in one run that no judge has seen; `error` says why there is no text."""

    row_id: str
    model: str
    run: int
    text: str | None
    error: str | None


def read_answers(path: Path, rows: Mapping[str, Question], model: str) -> list[Answer]:
    """The answers of a file, in its order.

    Parameters
    ----------
    model
        The model's name where the file does not say it.

    Raises
    ------
    InputError
        With line: neither an answer nor an `error`, an id that the data set does not have, a question answered twice
        in one run, or a file without any line.
    """
    names, places = RowNames(rows), dict[tuple[str, str, int], str]()
    answers = []
    for number, value in numbered_lines(read_text(path).text, str(path)):
        where = f"{path}, line {number}"
        _check(value, where)
        text, error = _first(value, _ANSWER), value.get("error")
        if text is None and not isinstance(error, str):
            raise InputError(
                "no answer", where=where, expected="the model's text in `answer`, or why there is none in `error`",
                todo="give a file of answers, as hannun eval run writes it",
            )  # fmt: skip
        row_id = _row_id(value, names, where)
        answer = Answer(
            row_id, value.get("model", model), value.get("run", 0), text, None if text is not None else error
        )
        _refuse_twice(places, answer[:3], where)
        answers.append(answer)
    if not answers:
        raise InputError("no answer in the file", where=str(path), todo="give another file")
    return answers


def _answer(value: Any, names: RowNames | None, where: str, *, model: str, run: int) -> JudgedAnswer:
    _check(value, where)
    judge, error, score = _first(value, _JUDGE), value.get("judge_error"), value.get("judge_score")
    if judge is None and error is None and score is None:
        raise InputError(
            "no judgement",
            where=where,
            expected="the judge's text in `judge`, or why there is none in `judge_error`",
            todo="judge the answers first (hannun eval judge), or give `judge_error`",
        )
    row_id = _row_id(value, names, where)
    return JudgedAnswer(
        row_id=row_id,
        config=_config(row_id),
        model=value.get("model", model),
        run=value.get("run", run),
        answer=_first(value, _ANSWER),
        judge=judge,
        judge_score=None if judge is not None else score,
        judge_error=None if judge is not None else error,
    )


def _check(value: Any, where: str) -> None:
    if wrong := problems("judged_answer", value):
        at, message = wrong[0]
        raise InputError("not a judged answer", where=f"{where}, {at}", got=message, todo="correct the line")


def _row_id(value: Mapping[str, Any], names: RowNames | None, where: str) -> str:
    name, config = str(_first(value, _ID)), _first(value, _CONFIG)
    if names is not None:
        return names.row_id(name, where, config)
    return name if config is None or "/" in name else f"{config}/{name}"


def _refuse_twice(places: dict[tuple[str, str, int], str], key: tuple[str, str, int], where: str) -> None:
    """Raise where a row, model and run have a place already."""
    if key in places:
        raise InputError(
            "a question is answered twice in one run",
            where=where,
            got=f"{key[0]}, run {key[2]}, as in {places[key]}",
            todo="remove one, or number the runs in `run`",
        )
    places[key] = where


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The value of the first of the names that has one."""
    for name in names:
        if (found := value.get(name)) is not None:
            return found
    return None


def _config(row_id: str) -> str:
    """benchmark/config/item, or config/item where the data set is not at hand."""
    return row_id.rpartition("/")[0].rpartition("/")[2]


def with_missing(
    answers: Sequence[JudgedAnswer], rows: Mapping[str, Question] | None
) -> Iterator[tuple[str, str, str, int, JudgedAnswer | None]]:
    """Row id, config, model, run and answer, None where the row was not answered.

    For each model every row of each config of which it answered any, in each of its runs; where the data set is not
    at hand, what was answered in any run.
    """
    given = {(each.model, each.row_id, each.run): each for each in answers}
    for model in dict.fromkeys(each.model for each in answers):
        of_model = [each for each in answers if each.model == model]
        configs = {each.config for each in of_model}
        known = [each.row_id for each in of_model] if rows is None else rows
        row_ids = [each for each in dict.fromkeys(known) if _config(each) in configs]
        for run in sorted({each.run for each in of_model}):
            for row_id in row_ids:
                yield row_id, _config(row_id), model, run, given.get((model, row_id, run))
