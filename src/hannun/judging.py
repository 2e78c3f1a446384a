"""Judging: answers to a judge, what it says to a file, answer by answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hannun.builders.built import row_cells
from hannun.data_rows import folder_of, rows_of, with_pictures
from hannun.evaluation.judge_points import AsPeople, Points, Spread, as_people, by_answer, points_of, spread
from hannun.evaluation.judged_answer import Answer, read_answers
from hannun.evaluation.prediction import Making, continuing, data_digests, read_lines
from hannun.evaluation.prompt import judge_prompt, judge_prompt_file
from hannun.evaluation.reply import Done, Refused, Reply, Turn
from hannun.evaluation.sampling import JUDGING
from hannun.evaluation.settled import Progress, settled
from hannun.evaluation.side_file import read_points, read_side_file
from hannun.evaluation.thinking import without_thinking
from hannun.model_choice import ModelChoice, ready_model
from hannun.pages import Held
from hannun.reconstruct.journal import Journal
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.schemas.question import Question

JUDGED = ("koffvqa", "haerae-vision")
"""Benchmarks whose answers a judge scores."""

_Key = tuple[str, str, int]
"""Row id, model, run."""


@dataclass(frozen=True)
class JudgeRequest:
    """What is to be judged, and how; `repeat` times each answer."""

    benchmark: str
    predictions: Path
    judge: ModelChoice
    data: Path | None = None
    repeat: int = 1
    with_image: bool = False
    reference: Path | None = None
    prompt_file: Path | None = None
    human: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int = 1


class Judgement:
    """A run over answers.

    Raises
    ------
    InputError
        What is asked for does not fit the data, the answers, the judge, or the lines that are there.
    """

    def __init__(self, request: JudgeRequest, out: Path) -> None:
        self._request, self._out = request, out
        benchmark = catalogue.benchmark(request.benchmark)
        if benchmark.name not in JUDGED:
            raise InputError(
                f"{benchmark.name} has no judge: one of ten pictures is right", expected=" or ".join(JUDGED),
                got=benchmark.name, todo=f"hannun eval score {benchmark.name} {request.predictions}",
            )  # fmt: skip
        self._folder = folder_of(benchmark, request.data)
        rows = rows_of(self._folder, benchmark)
        # The config `paired` holds the same questions in both wordings: an answer is to one of them.
        self._rows = {
            row_id: row for row_id, row in rows.items() if isinstance(row, Question) and "question" in row.record
        }
        self._answers = read_answers(request.predictions, self._rows, request.predictions.stem)
        self._people = None if request.human is None else read_points(request.human, self._rows)
        self._references = self._read_references()
        with_reference = self._references is not None
        self._prompt = (
            judge_prompt(benchmark.name, with_reference=with_reference)
            if request.prompt_file is None
            else judge_prompt_file(request.prompt_file)
        )
        self._sampling = JUDGING.changed(
            temperature=request.temperature, max_tokens=request.max_tokens, seed=request.seed
        )
        self._model = ready_model(request.judge)
        making = self._how(benchmark.name)
        self._made = making.to_json()
        there = {_key(line) for line in read_lines(out, "judged_answer", making)}
        self._open = [each for each in self._asked() if each[0] not in there]
        self.progress = Progress(total=len(self._open), lines=len(there))

    def run(self) -> Iterator[None]:
        """Judge answer by answer, each line written before the next step; one step for each that is settled.

        Raises
        ------
        InputError
            The judge refuses everything, as it does where the settings are wrong.
        """
        judge = self._request.judge
        with continuing(self._out) as journal:
            for key, answer in self._open:
                if answer.text is None:
                    self._write(journal, key, answer, {"judge_error": f"no answer: {answer.error}"}, 0.0)
                    self.progress.refused += 1
                    yield
            answers = dict(self._open)
            for done in settled(self._done(), self.progress, model=judge.name, batch_size=judge.batch_size):
                self._write(journal, done.key, answers[done.key], _fields(done.value), done.seconds)
                yield

    @cached_property
    def _points(self) -> dict[_Key, list[Points]]:
        """Row id, model and run of each answer -> what each of its repeats was given."""
        read = []
        for line in read_lines(self._out, "judged_answer"):
            row_id, model, run = _key(line)
            text, row = line.get("judge"), self._rows[row_id]
            criteria = len(_criteria(row))
            points = None if text is None else points_of(self._request.benchmark, text, criteria)
            read.append(((row_id, model, run // self._request.repeat), points))
        return by_answer(read)

    @property
    def unread(self) -> int:
        """Judgements in the file of which no points can be read."""
        return sum(each is None for repeats in self._points.values() for each in repeats)

    def spread(self) -> Spread | None:
        """How the points vary over repeats."""
        return spread(self._points)

    def as_people(self) -> AsPeople | None:
        """How often they are what people gave."""
        return None if self._people is None else as_people(self._points, self._people)

    def _asked(self) -> Iterator[tuple[_Key, Answer]]:
        """Every answer, as often as it is to be judged: the repeats of a run are runs of their own."""
        repeat = self._request.repeat
        for number in range(repeat):
            for answer in self._answers:
                yield (answer.row_id, answer.model, answer.run * repeat + number), answer

    def _done(self) -> Iterator[Done[_Key, Any]]:
        """What comes of each answer, run by run, whose seeds differ."""
        runs: dict[int, list[tuple[_Key, Answer]]] = {}
        for key, answer in self._open:
            if answer.text is not None:
                runs.setdefault(key[2], []).append((key, answer))
        for run, asked in runs.items():
            sampling = replace(self._sampling, seed=self._sampling.seed + run)
            yield from self._model.answerer.answers(self._turns(asked), sampling)

    def _turns(self, asked: Sequence[tuple[_Key, Answer]]) -> Iterator[tuple[_Key, Turn]]:
        if not self._request.with_image:
            yield from ((key, Turn(self._text(answer))) for key, answer in asked)
            return
        by_row: dict[str, list[tuple[_Key, Answer]]] = {}
        for key, answer in asked:
            by_row.setdefault(answer.row_id, []).append((key, answer))
        for row_id, pictures in self._pictures(by_row.keys()):
            yield from ((key, Turn(self._text(answer), pictures)) for key, answer in by_row[row_id])

    def _pictures(self, row_ids: AbstractSet[str]) -> Iterator[tuple[str, tuple[bytes, ...]]]:
        for config in dict.fromkeys(map(config_of, row_ids)):
            for row, cells in row_cells(with_pictures(self._folder), config):
                if row.id in row_ids:
                    yield row.id, tuple(cell["bytes"] for cell in cells)

    def _text(self, answer: Answer) -> str:
        row = self._rows[answer.row_id]
        criteria = _criteria(row)
        values = {
            "question": row.record["question"],
            "criteria": row.record.get("criteria_raw")
            or "\n".join(f"{n}. {each}" for n, each in enumerate(criteria, 1)),
            "count": str(len(criteria)),
            "answer": _said(answer),
        }
        if self._references is not None:
            values["reference"] = self._references[answer.row_id]
        return self._prompt.filled(values)

    def _read_references(self) -> Mapping[str, str] | None:
        path = self._request.reference
        if path is None:
            return None
        references = read_side_file(path, "reference", self._rows).texts("reference")
        lacking = [each.row_id for each in self._answers if each.text is not None and each.row_id not in references]
        if lacking:
            raise InputError(
                f"the file has no reference for {len(lacking):,} of {len(self._answers):,} answers", where=str(path),
                got=lacking[0], todo="add the lines",
            )  # fmt: skip
        return references

    def _how(self, benchmark: str) -> Making:
        plan = Held.at(self._folder).plan
        return Making(
            benchmark, "judge", self._model.described, self._prompt.digest,
            data_digests(plan.rows_path, plan.lock_path),
            {
                **self._model.settings, "sampling": self._sampling.to_json(), "repeat": self._request.repeat,
                "with_image": self._request.with_image,
            },
            self._model.versions,
            None
            if self._request.reference is None
            else read_side_file(self._request.reference, "reference", self._rows).digest,
        )  # fmt: skip

    def _write(self, journal: Journal, key: _Key, answer: Answer, said: Mapping[str, Any], seconds: float) -> None:
        row_id, model, run = key
        line = {
            "id": row_id, "model": model, "run": run, "answer": None if answer.text is None else _said(answer), **said,
            "judge_model": self._request.judge.name, "seconds": round(seconds, 4), "made": self._made,
        }  # fmt: skip
        if answer.text not in (None, line["answer"]):
            line["answer_as_it_came"] = answer.text
        journal.append(line)


def _fields(value: Reply | Refused) -> dict[str, Any]:
    if isinstance(value, Refused):
        return {"judge_error": value.why}
    return {"judge": value.text, "cut": value.cut, **({} if value.server is None else {"server": value.server})}


def _said(answer: Answer) -> str:
    """The answer without what the model thought before it."""
    text = answer.text or ""
    said, unclosed = without_thinking(text)
    return text if said == text and not unclosed else said.strip()


def _criteria(row: Question) -> Sequence[Any]:
    criteria: Sequence[Any] = row.record.get("checklist") or row.record.get("criteria") or ()
    return criteria


def _key(line: Mapping[str, Any]) -> _Key:
    return line["id"], line["model"], line["run"]
