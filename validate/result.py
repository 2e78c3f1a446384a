"""The result of a validation, and what part of it was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from hannun.validate.finding import Finding, Level, Unchecked


class Part(StrEnum):
    """What `--level` selects."""

    SCHEMA = "schema"
    IMAGES = "images"
    ROWS = "rows"
    ALL = "all"

    def includes(self, other: Part) -> bool:
        return self in (other, Part.ALL)


@dataclass
class Result:
    """Everything that a validation has to say; `part` is what was asked for."""

    target: str
    part: Part = Part.ALL
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)
    rows: int = 0

    def add(self, part: Part, findings: Iterable[Finding]) -> None:
        """Run a check of that part, where it was asked for."""
        if self.part.includes(part):
            self.findings += findings

    def count(self, level: Level) -> int:
        return sum(1 for each in self.findings if each.rule.level is level)
