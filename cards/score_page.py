"""The score page: figures as plots, the published rule beside the careful reading, and what is to be said of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from hannun.cards.page import render

MOST_FLAGGED = 1_000
"""Flagged rows on the page, at most; the JSON holds all."""

_OVERALL = "overall"
_TONES = 6


def score_page(document: Mapping[str, Any], title: str) -> str:
    """The page as HTML, without any outside asset; it needs no JavaScript.

    Parameters
    ----------
    document
        Scores as `scores.schema.json` describes them.
    title
        What was scored, for people.
    """
    figures = document["figures"]
    models = list(dict.fromkeys(each["model"] for each in figures))
    tones = {model: f"tone{place % _TONES}" for place, model in enumerate(models)}
    flagged = [row for row in document["rows"] if row["flag"] is not None]
    return render(
        "scores.html",
        title=title,
        tool=document["tool"],
        made=document["made"],
        data=document["data"],
        files=document["files"],
        models=[(model, tones[model]) for model in models],
        headline=[_bar(each, tones) for each in figures if each["group"] == _OVERALL],
        charts=[*_charts(figures, tones)],
        comparisons=[*_forests([each for each in document["comparisons"] if each["difference"] is not None])],
        correlations=[
            {**each, "p_text": _p_text(each["p"])}
            for each in document["comparisons"]
            if each["difference"] is None and each["pairs"]
        ],
        results=document["published_results"],
        rows=len(document["rows"]),
        has_published=any(each["published"] is not None for each in figures),
        differences=document["differences"],
        flags=list(document["flags"].items()),
        flagged=flagged[:MOST_FLAGGED],
        all_flagged=len(flagged),
        settings=list(document["settings"].items()),
        notes=document["notes"],
    )


def _charts(figures: Sequence[Mapping[str, Any]], tones: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    """A chart for each measure and config that has groups: a row a group, best first, in it a bar a model."""
    grouped = [each for each in figures if each["group"] != _OVERALL]
    key = lambda each: (each["measure"], each["config"])  # noqa: E731
    for (measure, config), of_chart in groupby(sorted(grouped, key=key), key=key):
        by_group: dict[str, list[dict[str, Any]]] = {}
        for each in of_chart:
            by_group.setdefault(each["group"], []).append(_bar(each, tones))
        ordered = sorted(by_group.items(), key=lambda each: (-_mean(each[1]), -each[1][0]["rows"], each[0]))
        yield {"measure": measure, "config": config, "groups": ordered}


def _bar(figure: Mapping[str, Any], tones: Mapping[str, str]) -> dict[str, Any]:
    """A figure with its places on the scale, in percent of a perfect model's."""
    most = figure["most"]
    digits = 1 if most > 1 else 3
    number = f"{{:.{digits}f}}"

    def place(value: float | None) -> float | None:
        return None if value is None else max(0.0, min(100.0, 100 * value / most))

    def text(value: float | None) -> str:
        return "–" if value is None else number.format(value)

    interval = figure["interval"]
    return {
        **figure,
        "tone": tones[figure["model"]],
        "at": place(figure["value"]),
        "published_at": place(figure["published"]),
        "low_at": place(figure["low"]),
        "high_at": place(figure["high"]),
        "interval_at": None if interval is None else [place(each) for each in interval],
        "text": text(figure["value"]),
        "published_text": text(figure["published"]),
        "scored_only_text": text(figure["scored_only"]),
        "bounds_text": f"{text(figure['low'])} to {text(figure['high'])}",
        "interval_text": None if interval is None else f"{text(interval[0])} to {text(interval[1])}",
        "se_text": None if figure["se"] is None else text(figure["se"]),
        "most_text": f"{most:g}",
    }


def _mean(bars: Sequence[Mapping[str, Any]]) -> float:
    values = [each["at"] for each in bars if each["at"] is not None]
    return sum(values) / len(values) if values else 0.0


def _forests(comparisons: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """A plot for each measure: paired differences around nothing, on one scale."""
    for measure in dict.fromkeys(each["measure"] for each in comparisons):
        of_measure = [each for each in comparisons if each["measure"] == measure]
        reach = max((abs(value) for each in of_measure for value in _extent(each)), default=0.0) * 1.1 or 1.0
        yield {
            "measure": measure,
            "reach": f"{reach:.3g}",
            "lines": [
                {
                    **each,
                    "at": _around(each["difference"], reach),
                    "interval_at": None if each["interval"] is None else [_around(v, reach) for v in each["interval"]],
                    "text": f"{each['difference']:+.4f}",
                    "interval_text": None
                    if each["interval"] is None
                    else f"{each['interval'][0]:+.4f} to {each['interval'][1]:+.4f}",
                    "p_text": _p_text(each["p"]),
                    "tone": _direction(each),
                }
                for each in of_measure
            ],
        }


def _extent(comparison: Mapping[str, Any]) -> list[float]:
    return [comparison["difference"], *(comparison["interval"] or ())]


def _around(value: float, reach: float) -> float:
    """Percent of the plot's width, nothing in the middle."""
    return 50 + 50 * value / reach


def _p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _direction(comparison: Mapping[str, Any]) -> str:
    """The class that colours a difference: up or down where its interval leaves nothing out, else open."""
    interval = comparison["interval"]
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "open"
    return "up" if comparison["difference"] > 0 else "down"
