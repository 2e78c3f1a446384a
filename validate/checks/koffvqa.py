"""Checks of KOFFVQA's own rules: criteria that add up, known categories, the number of questions.

How criteria add up is known from a figure of arXiv 2503.23730 and the stored spelling of categories not at
all, so breaches are warnings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hannun.reconstruct.recipes.criteria import FULL_SCORE
from hannun.reconstruct.recipes.koffvqa_categories import CATEGORIES, category_of
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import Row

ROWS = 275
"""Questions that upstream published (maum-ai/KOFFVQA_Data)."""


class Checks:
    """Checks questions of a plan, or records of a build, one by one."""

    def __init__(self, recipe: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._count = 0
        self._first: Place | None = None

    @property
    def unchecked(self) -> Iterator[Unchecked]:
        """Nothing: these checks need no more than the rows."""
        yield from ()

    def check(self, row: Row) -> Iterator[Finding]:
        """Findings about one row; fields that are absent or of another type are the schema's task."""
        self._count += 1
        self._first = self._first or row.place
        in_plan = isinstance(row.values.get("record"), Mapping)
        record = row.values["record"] if in_plan else row.values
        above = "record." if in_plan else ""
        criteria = record.get("criteria")
        if isinstance(criteria, list):
            yield from _check_criteria(row.at(f"{above}criteria"), [c for c in criteria if isinstance(c, Mapping)])
        category = record.get("category")
        if isinstance(category, str) and category_of(category) is None:
            message = "not one of the paper's categories"
            known = ", ".join(CATEGORIES)
            yield finding("koffvqa-category", row.at(f"{above}category"), message, expected=known, found=category)

    def finish(self) -> Iterator[Finding]:
        """A note where there are not as many questions as upstream published."""
        if self._first is not None and self._count != ROWS:
            place = Place(self._first.file, self._first.config, self._first.split)
            yield finding(
                "koffvqa-count", place, "another number of questions", expected=str(ROWS), found=str(self._count)
            )


def _check_criteria(place: Place, criteria: list[Mapping[str, Any]]) -> Iterator[Finding]:
    unread = [str(each.get("text")) for each in criteria if each.get("kind") == "unknown"]
    if unread:
        message = f"no points could be read in {len(unread)} of {len(criteria)} criteria"
        yield finding("koffvqa-unread", place, message, expected="as in +4점 or 10점 at the end", found=unread[0][:200])
    additive, exclusive = _points(criteria, "additive"), _points(criteria, "exclusive")
    if additive and exclusive:
        found = f"{len(additive)} additive, {len(exclusive)} exclusive"
        yield finding("koffvqa-mixed", place, "criteria of both kinds", expected="one kind", found=found)
    elif additive:
        # Points that are taken away do not change what the best answer gets.
        most = math.fsum(points for points in additive if points > 0)
        if not math.isclose(most, FULL_SCORE, abs_tol=1e-9):
            message = "additive criteria do not add up"
            yield finding("koffvqa-sum", place, message, expected=str(FULL_SCORE), found=f"{most:g}")
    elif exclusive and (max(exclusive) != FULL_SCORE or min(exclusive) != 0):
        found = ", ".join(f"{points:g}" for points in exclusive)
        expected = f"{FULL_SCORE} the most and 0 the least"
        yield finding(
            "koffvqa-range", place, "exclusive criteria do not span the scale", expected=expected, found=found
        )


def _points(criteria: list[Mapping[str, Any]], kind: str) -> list[float]:
    numbers = (each.get("points") for each in criteria if each.get("kind") == kind)
    return [number for number in numbers if isinstance(number, int | float)]
