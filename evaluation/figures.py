"""Rows' scores to figures: means over configs and groups, with bounds, intervals and the published value beside."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hannun.evaluation.score import OVERALL, Figure, RowScore, State
from hannun.evaluation.statistics import GROUP_RESAMPLES, RESAMPLES, bootstrap_interval


def figures(
    rows: Sequence[RowScore], measure: str, *, groups: Mapping[str, Sequence[str]], most: float = 1.0
) -> Iterator[Figure]:
    """A figure for each model and config, over all its rows and over each group.

    Parameters
    ----------
    rows
        Every row of the data set in every run, those without a score too.
    groups
        Row id -> the groups that it is in beside `OVERALL`.
    most
        What a perfect model gets; the rows' values are shares of it.
    """
    by_config: dict[tuple[str, str], list[RowScore]] = defaultdict(list)
    for row in rows:
        by_config[row.model, row.config].append(row)
    for (model, config), of_config in by_config.items():
        by_group: dict[str, list[RowScore]] = {OVERALL: of_config}
        for row in of_config:
            for group in groups.get(row.id, ()):
                by_group.setdefault(group, []).append(row)
        for group, of_group in by_group.items():
            yield _figure(of_group, measure, (model, config, group), most)


def _figure(rows: Sequence[RowScore], measure: str, place: tuple[str, str, str], most: float) -> Figure:
    model, config, group = place
    values = [row.values.get(measure, 0.0) for row in rows]
    scored = [row.values[measure] for row in rows if measure in row.values]
    published = [row.published[measure] for row in rows if row.published and measure in row.published]
    bounds = [_bounds(row, measure) for row in rows]
    runs = {row.run for row in rows}
    interval = bootstrap_interval(
        values if len(runs) < 2 else list(row_means(rows, measure).values()),
        RESAMPLES if group == OVERALL else GROUP_RESAMPLES,
    )
    return Figure(
        measure=measure, model=model, config=config, group=group, rows=len(rows), scored=len(scored),
        value=most * mean(values), scored_only=most * mean(scored) if scored else None,
        published=most * mean(published) if published else None,
        low=most * mean(low for low, _ in bounds), high=most * mean(high for _, high in bounds), most=most,
        interval=None if interval is None else (most * interval[0], most * interval[1]),
        se=None if len(runs) < 2 else _standard_error(rows, measure, most),
    )  # fmt: skip


def row_means(rows: Iterable[RowScore], measure: str) -> dict[str, float]:
    """Row id -> its mean over runs; what is not scored counts as nothing."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        values[row.id].append(row.values.get(measure, 0.0))
    return {row_id: mean(each) for row_id, each in values.items()}


def mean(values: Iterable[float]) -> float:
    """The mean, summed exactly."""
    given = list(values)
    return math.fsum(given) / len(given)


def _bounds(row: RowScore, measure: str) -> tuple[float, float]:
    if row.state is not State.SCORED:
        return 0.0, 1.0
    value = row.values.get(measure, 0.0)
    return row.bounds.get(measure, (value, value))


def _standard_error(rows: Sequence[RowScore], measure: str, most: float) -> float:
    """Standard error of the mean over two or more runs."""
    runs: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        runs[row.run].append(row.values.get(measure, 0.0))
    means = [mean(each) for each in runs.values()]
    middle = mean(means)
    variance = math.fsum((each - middle) ** 2 for each in means) / (len(means) - 1)
    return most * math.sqrt(variance / len(means))
