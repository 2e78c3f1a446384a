"""Every error that hannun raises on purpose, and the exit codes of both commands."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says (the same for every verb)."""

    COMPLETE = 0
    """Complete as asked."""
    FINDINGS = 1
    """Finished, with discrepancies or findings."""
    BAD_INPUT = 2
    """Wrong use, or input that cannot be read."""
    INCOMPLETE = 3
    """Incomplete: run again to continue."""
    STOPPED = 130
    """Stopped by the user."""


class HannunError(Exception):
    """A problem that is explained rather than traced.

    Parameters
    ----------
    what
        One sentence: what went wrong.
    where
        File, row or address that it concerns.
    expected, got
        The two sides of a disagreement, when there is one.
    todo
        What to do next.
    """

    exit_code: ExitCode = ExitCode.BAD_INPUT

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        todo: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.todo = todo

    def __str__(self) -> str:
        parts = [self.what]
        for name in ("where", "expected", "got"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name + ':':<10}{value}")
        if self.todo is not None:
            parts.append(f"{'to do:':<10}{self.todo}")
        return "\n  ".join(parts)


class InputError(HannunError):
    """Something the user gave cannot be read or is not what it should be."""


class SourceError(HannunError):
    """A source file is missing, unreadable, or not the pinned one."""


class IncompleteError(HannunError):
    """Work stopped before it was done; running the same command again continues it."""

    exit_code = ExitCode.INCOMPLETE


class MissingImagesError(HannunError):
    """Images are missing and the user asked that this fails (`--on-missing fail`)."""

    exit_code = ExitCode.FINDINGS
