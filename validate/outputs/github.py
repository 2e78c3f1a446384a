"""Findings as workflow commands of GitHub Actions, which shows them beside the file."""

from __future__ import annotations

from collections.abc import Iterator

from hannun.validate.finding import Finding
from hannun.validate.outputs.text import summary
from hannun.validate.result import Result
from hannun.validate.rule import Level

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def lines(result: Result, *, most: int) -> Iterator[str]:
    """A command for each finding, at most `most` of a code, and the summary."""
    for code, group in result.by_code().items():
        for each in group[:most]:
            yield _command(each, result.path_of(each.place.file))
        if len(group) > most:
            level = _COMMANDS[group[0].rule.level]
            yield f"::{level} title={code}::{len(group) - most:,} more: {_data(group[0].rule.title)}"
    for unchecked in result.unchecked:
        yield f"::notice title=not checked::{_data(f'{unchecked.what} ({unchecked.why})')}"
    yield _data(summary(result))


def _command(each: Finding, path: str) -> str:
    told = f"{each.place}: {each.message}. {each.rule.title}; to do: {each.rule.todo}"
    return f"::{_COMMANDS[each.rule.level]} file={_property(path)},title={_property(each.rule.code)}::{_data(told)}"


def _data(text: str) -> str:
    """As the runner reads it back: it ends a command at a line's end, and reads % as an escape."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
