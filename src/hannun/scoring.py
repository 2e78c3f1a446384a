"""Scoring: predictions and the data set that they are of, to scores and what shows them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hannun.cards.score_page import score_page
from hannun.data_rows import built_here, rows_of
from hannun.evaluation.comparison import compare
from hannun.evaluation.figures import row_means
from hannun.evaluation.haerae_vision import haerae_vision_scores
from hannun.evaluation.judged_answer import JudgedAnswer, read_judged_answers
from hannun.evaluation.koffvqa import koffvqa_scores
from hannun.evaluation.ranking_file import read_rankings
from hannun.evaluation.score import Comparison, Scores
from hannun.evaluation.score_document import document, figures_csv
from hannun.evaluation.selection import selection_scores
from hannun.evaluation.statistics import GROUP_RESAMPLES, RESAMPLES, SEED
from hannun.reconstruct.home import built_folder
from hannun.schemas import catalogue
from hannun.schemas.digest import IDENTITY, digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance
from hannun.schemas.instant import now
from hannun.schemas.question import Question
from hannun.schemas.text_file import read_bytes
from hannun.schemas.version import version

_QUESTIONS = {"koffvqa": koffvqa_scores, "haerae-vision": haerae_vision_scores}


@dataclass(frozen=True)
class Scored:
    """Scores and what they are of."""

    scores: Scores
    benchmark: catalogue.Benchmark
    files: Sequence[Path]
    data: Path | None

    @cached_property
    def document(self) -> dict[str, Any]:
        """As `scores.schema.json` describes it."""
        return document(
            self.scores,
            tool=f"hannun {version()}",
            made=now(),
            files=[{"path": str(path), "digest": _digest(path)} for path in self.files],
            data=None if self.data is None else str(self.data),
            results=[each for each in self.benchmark.results if set(each["config"].split(" + ")) <= self._configs],
        )

    @property
    def _configs(self) -> set[str]:
        return {config.name for config in self.benchmark.configs}

    def csv(self) -> str:
        return figures_csv(self.scores.figures)

    def page(self) -> str:
        return score_page(self.document, self.benchmark.title)


def score(
    name: str,
    predictions: Sequence[Path],
    *,
    data: Path | None = None,
    compare: Sequence[Path] = (),
    fuse: bool = False,
) -> Scored:
    """Score predictions.

    Parameters
    ----------
    name
        A benchmark, or one of its configs.
    predictions
        Files: of questions the runs of one model, of image selection one or more models each.
    data
        A built folder or a plan; by default the one that is built here. Questions are scored without any, too.
    compare
        Files of further models.
    fuse
        Whether to fuse several rankings into one more model.

    Raises
    ------
    InputError
        The data set is not at hand where it is needed, is of another benchmark, or predictions are wrong.
    """
    with _collector_paused():
        return _score(catalogue.benchmark(name), predictions, data, compare, fuse=fuse)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Every row is some small objects that stay: looking for cycles among them costs a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _score(
    benchmark: catalogue.Benchmark,
    predictions: Sequence[Path],
    data: Path | None,
    compare: Sequence[Path],
    *,
    fuse: bool,
) -> Scored:
    folder = data or built_here(benchmark)
    rows = None if folder is None else rows_of(folder, benchmark)
    if benchmark.name in _QUESTIONS:
        questions = None if rows is None else {key: row for key, row in rows.items() if isinstance(row, Question)}
        answers = _answers(predictions, compare, questions)
        scores = _QUESTIONS[benchmark.name](answers, questions)
        scores = replace(scores, comparisons=(*scores.comparisons, *_between_models(scores)))
    else:
        if rows is None:
            raise InputError(
                f"{benchmark.name} is not built here, and rankings need its rows",
                where=str(built_folder(benchmark.name)),
                todo="give --data DIR, a built folder or a plan",
            )
        instances = {key: row for key, row in rows.items() if isinstance(row, Instance)}
        rankings = read_rankings([*predictions, *compare], instances)
        configs = [config.name for config in benchmark.configs]
        scores = selection_scores(benchmark.name, instances, rankings, configs, fuse=fuse)
    resamples = f"{RESAMPLES:,} resamples, {GROUP_RESAMPLES:,} of groups"
    settings = {**scores.settings, "intervals": f"95 %, percentile bootstrap, {resamples}, seed {SEED}"}
    return Scored(replace(scores, settings=settings), benchmark, [*predictions, *compare], folder)


def _answers(
    predictions: Sequence[Path], others: Sequence[Path], rows: Mapping[str, Question] | None
) -> list[JudgedAnswer]:
    """Those of the model and of every further one, each under a name of its own."""
    answers = read_judged_answers(predictions, rows, predictions[0].stem)
    for path in others:
        names = {each.model for each in answers}
        answers += [
            each._replace(model=f"{each.model} ({path.stem})") if each.model in names else each
            for each in read_judged_answers([path], rows, path.stem)
        ]
    return answers


def _between_models(scores: Scores) -> list[Comparison]:
    """The first model against each other one, on each config of both."""
    [measure] = {each.measure for each in scores.figures}
    most = scores.figures[0].most
    values = {
        (model, config): row_means((row for row in scores.rows if (row.model, row.config) == (model, config)), measure)
        for model, config in dict.fromkeys((row.model, row.config) for row in scores.rows)
    }
    first, *others = dict.fromkeys(model for model, _ in values)
    return [
        compare(measure, (f"{first}, {config}", values[first, config]), (f"{other}, {config}", of_other), most=most)
        for other in others
        for (model, config), of_other in values.items()
        if model == other and (first, config) in values
    ]


def _digest(path: Path) -> str:
    return f"{IDENTITY}:{digests_of(read_bytes(path), [IDENTITY])[IDENTITY]}"
