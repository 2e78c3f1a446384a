"""Findings as text for a person; the summary is the last line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hannun.validate.finding import Finding, Level
from hannun.validate.result import Result

MOST = 20
"""Findings shown of each code."""


def lines(result: Result, *, most: int = MOST) -> Iterator[str]:
    """Findings grouped by code, worst first, at most `most` of each; then baselines and the summary."""
    # Somebody else's data must not steer the terminal.
    for line in _lines(result, most):
        yield "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in line)


def _lines(result: Result, most: int) -> Iterator[str]:
    groups: dict[str, list[Finding]] = defaultdict(list)
    for each in result.findings:
        groups[each.rule.code].append(each)
    order = list(Level)
    for code in sorted(groups, key=lambda code: (order.index(groups[code][0].rule.level), code)):
        group = groups[code]
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
    return f"{result.target}: {', '.join(counts)} in {_counted(result.rows, 'row')}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
