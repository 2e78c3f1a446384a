"""Findings as text for a person; the summary is the last line."""

from __future__ import annotations

from collections.abc import Iterator

from hannun.schemas.text import printable
from hannun.validate.result import Result
from hannun.validate.rule import Level

MOST = 20
"""Findings shown of each code."""


def lines(result: Result, *, most: int = MOST) -> Iterator[str]:
    """Findings grouped by code, worst first, at most `most` of each; then baselines and the summary."""
    # Somebody else's data must not steer the terminal.
    for line in _lines(result, most):
        yield printable(line, keep=" ")


def _lines(result: Result, most: int) -> Iterator[str]:
    for code, group in result.by_code().items():
        rule = group[0].rule
        yield f"{rule.level.value} {code}: {rule.title} ({len(group):,})"
        for each in group[:most]:
            yield f"  {each.place}: {each.message}"
            if each.expected is not None:
                yield f"      expected {each.expected}"
            if each.found is not None:
                yield f"      found    {each.found}"
        if len(group) > most:
            yield f"  ... and {len(group) - most:,} more"
        yield f"  to do: {rule.todo}"
    for unchecked in result.unchecked:
        yield f"not checked: {unchecked.what} ({unchecked.why})"
    for name, value in sorted(result.baselines.items(), key=lambda each: each[1]):
        yield f"baseline, {name}: {value:.1%} Hits@1"
    yield summary(result)


def summary(result: Result) -> str:
    """One line: counts of errors, warnings, notes and rows."""
    counts = [_counted(result.count(level), level.value) for level in Level]
    kept = [f"{count:,} {how}" for how, count in (("known", result.known), ("ignored", result.ignored)) if count]
    quiet = f" ({', '.join(kept)} not shown)" if kept else ""
    return f"{result.target}: {', '.join(counts)} in {_counted(result.rows, 'row')}{quiet}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
