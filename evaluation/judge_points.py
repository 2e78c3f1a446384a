"""Points that a judge gave: how they vary when it is asked again, and how often they are what people gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev, stdev

from hannun.evaluation.judge_text import read_judge_text
from hannun.evaluation.score_tag import read_score_tag

Points = float | None
_SAME = 1e-6


@dataclass(frozen=True)
class Spread:
    """Mean over questions of the standard deviation of their points, over N and over N - 1.

    `questions` have two points or more; of `left_out` fewer could be read.
    """

    population: float
    sample: float
    questions: int
    left_out: int


@dataclass(frozen=True)
class AsPeople:
    """How often the judge gave the points that people gave, and how far off it was on average, in points.

    Of `unread` judgements no points could be read: they count as different.
    """

    share: float
    mean_difference: float | None
    judgements: int
    unread: int


def points_of(benchmark: str, judge_text: str, criteria: int) -> Points:
    """Points that a judge's text states: of ten (KOFFVQA), or of the number of criteria; None where none are read."""
    if benchmark == "koffvqa":
        return read_judge_text(judge_text).careful
    share = read_score_tag(judge_text, criteria).careful
    return None if share is None else share * criteria


def spread(points: Mapping[tuple[str, str, int], Iterable[Points]]) -> Spread | None:
    """How points vary over repeats (KOFFVQA's Table 2); None where no question has two.

    Parameters
    ----------
    points
        Row id, model and run of the answer -> points of each repeat.
    """
    read = [[each for each in repeats if each is not None] for repeats in points.values()]
    enough = [each for each in read if len(each) > 1]
    if not enough:
        return None
    return Spread(fmean(map(pstdev, enough)), fmean(map(stdev, enough)), len(enough), len(read) - len(enough))


def as_people(
    points: Mapping[tuple[str, str, int], Iterable[Points]], people: Mapping[tuple[str, str | None], float]
) -> AsPeople | None:
    """The share of judgements that give people's points (KOFFVQA's Table 3); None where people judged none of them.

    Parameters
    ----------
    people
        Row id and model -> points; a model of None stands for every one.
    """
    differences: list[Points] = []
    for (row_id, model, _), repeats in points.items():
        given = people.get((row_id, model), people.get((row_id, None)))
        if given is not None:
            differences += [None if each is None else abs(each - given) for each in repeats]
    if not differences:
        return None
    read = [each for each in differences if each is not None]
    same = sum(each < _SAME for each in read)
    return AsPeople(
        same / len(differences), fmean(read) if read else None, len(differences), len(differences) - len(read)
    )


def by_answer(
    judged: Iterable[tuple[tuple[str, str, int], Points]],
) -> dict[tuple[str, str, int], list[Points]]:
    """Points of each answer's repeats together."""
    found: dict[tuple[str, str, int], list[Points]] = defaultdict(list)
    for key, points in judged:
        found[key].append(points)
    return dict(found)
