"""Grading criteria: a cell of text to criteria, each with its points.

As KOFFVQA writes them (arXiv 2503.23730, figure 1), one a line after a bullet: additive ones end in `+4점`
and are added up, exclusive ones in `10점`, `5점` or `0점`, of which an answer gets one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["additive", "exclusive", "unknown"]

FULL_SCORE = 10

_PLAIN = str.maketrans("０１２３４５６７８９＋－−．：（）［］", "0123456789+--.:()[]")
"""Full-width forms and the minus sign, character by character, so that places in the text stay."""

_LINE_END = re.compile(r"\r\n?|\n")
_BULLET = re.compile(r"\s*(?:\*(?!\*)\s*|[•·∙▪◦●○■□]\s*|[-–]\s+|[①-⑳]\s*|\(?[0-9]{1,2}[.)](?:\s+|$))")
_POINTS = re.compile(r"(?<![0-9.])(?P<number>[0-9]{1,4}(?:\.[0-9]{1,4})?)\s*점\s*[)\]>】]?\s*[.。]?\s*$")
_SIGN = re.compile(r"\+\s*$|-$")
# Before a number: it is a part of another one, or the end of a range or of a fraction (1,000점, 3~5점, 8/10점).
_JOINED = re.compile(r"[0-9],?$|[0-9]\s*[-–]\s*$|[/~±]\s*$")
_SEPARATOR = re.compile(r"(?:\s*[-–—:=→,])?\s*[(\[<【]?\s*$")


@dataclass(frozen=True)
class Criterion:
    """One criterion: its text without bullet and points, its points, and how they count.

    `points` is None, and `kind` unknown, where no points could be read.
    """

    text: str
    points: float | None
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "points": self.points, "kind": self.kind}


def parse_criteria(text: str) -> list[Criterion]:
    """The criteria of a cell, in order; none where it is blank. It never fails.

    A line with a bullet (`*`, `-`, `•`, a number) begins a criterion, and so does one that ends in points
    where the criterion before has some already. Any other line continues the one before. Points stand at the
    end of a line: a number and 점, in brackets or after a colon as well, full-width or not. With a sign they
    are additive, without one exclusive. `-` is a sign where it touches the number, else a dash. A criterion
    none of whose lines ends in points is kept, as unknown.

    Examples
    --------
    >>> parse_criteria("* 색을 맞히면 +4점")
    [Criterion(text='색을 맞히면', points=4.0, kind='additive')]
    """
    return [_criterion(lines) for lines in _groups(text)]


def _groups(text: str) -> Iterator[list[str]]:
    """The lines of each criterion, the first without its bullet."""
    group: list[str] = []
    for line in filter(str.strip, _LINE_END.split(text)):
        bullet = _BULLET.match(_plain(line))
        begins = bullet is not None or (_points(line) is not None and any(map(_points, group)))
        if begins and group:
            yield group
            group = []
        group.append(line[bullet.end() :] if bullet else line)
    if group:
        yield group


def _criterion(lines: Sequence[str]) -> Criterion:
    points: float | None = None
    kind: Kind = "unknown"
    kept = []
    for line in lines:
        found = _points(line) if points is None else None
        if found:
            line, points, kind = found  # noqa: PLW2901
        kept.append(line.strip())
    return Criterion("\n".join(filter(None, kept)), points, kind)


def _points(line: str) -> tuple[str, float, Kind] | None:
    """The line without the points at its end, these, and how they count; None where it does not end in any."""
    plain = _plain(line)
    found = _POINTS.search(plain)
    if found is None:
        return None
    before = plain[: found.start()]
    sign = _SIGN.search(before)
    unsigned = before[: sign.start()] if sign else before
    if _JOINED.search(before) or (sign and _JOINED.search(unsigned)):
        return None
    value = float(found["number"])
    text = line[: len(_SEPARATOR.sub("", unsigned))]
    return text, -value if sign and sign[0] == "-" else value, "additive" if sign else "exclusive"


def _plain(line: str) -> str:
    return line.translate(_PLAIN)
