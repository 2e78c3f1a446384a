"""The result of a validation, and what part of it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hannun.validate.finding import Finding, Unchecked
from hannun.validate.rule import Level


class Part(StrEnum):
    """What `--level` selects; facts are those rules of rows that rest on what was published."""

    SCHEMA = "schema"
    IMAGES = "images"
    ROWS = "rows"
    FACTS = "facts"
    ALL = "all"

    def includes(self, other: Part) -> bool:
        return self in (other, Part.ALL)


@dataclass(frozen=True)
class Scope:
    """What of a data set is checked.

    Parameters
    ----------
    sample
        Share of the rows whose pictures are decoded, in (0, 1], chosen by the hash of their ids.
    fast
        Whether pictures that equal the lock byte for byte are not decoded.
    """

    part: Part = Part.ALL
    sample: float = 1.0
    fast: bool = False


@dataclass
class Result:
    """Everything that a validation has to say of what was asked for.

    `folder` is where the files lie that findings name, None where they are not the user's own. `on_row` is called
    for every row of a table that is looked at.
    """

    target: str
    scope: Scope = Scope()
    folder: str | None = None
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    ignored: int = 0
    known: int = 0
    on_row: Callable[[], object] | None = None

    def seen(self) -> None:
        """Tell whoever watches that another row was looked at."""
        if self.on_row is not None:
            self.on_row()

    def add(self, part: Part, findings: Iterable[Finding]) -> None:
        """Run a check of that part, where it was asked for."""
        if self.scope.part.includes(part):
            self.findings += findings
        elif self.scope.part is Part.FACTS and part is Part.ROWS:
            self.findings += (each for each in findings if each.rule.is_fact)

    def path_of(self, file: str) -> str:
        """A file that a finding names, as the user would."""
        return file if self.folder in (None, ".") else f"{self.folder}/{file}"

    def count(self, level: Level) -> int:
        return sum(1 for each in self.findings if each.rule.level is level)

    def without(self, codes: frozenset[str], known: frozenset[str]) -> Result:
        """The result without findings of these codes, and without known ones, by fingerprint.

        `ignored` and `known` of the result say how many there were.
        """
        wanted = [each for each in self.findings if each.rule.code not in codes]
        new = [each for each in wanted if each.fingerprint not in known]
        return replace(self, findings=new, ignored=len(self.findings) - len(wanted), known=len(wanted) - len(new))

    def is_bad(self, *, strict: bool) -> bool:
        """Whether there is an error, or with `strict` a warning."""
        return bool(self.count(Level.ERROR) or (strict and self.count(Level.WARNING)))

    def by_code(self) -> dict[str, list[Finding]]:
        """Findings by code, worst first."""
        groups: dict[str, list[Finding]] = {}
        for each in self.findings:
            groups.setdefault(each.rule.code, []).append(each)
        order = list(Level)
        return dict(sorted(groups.items(), key=lambda group: (order.index(group[1][0].rule.level), group[0])))
