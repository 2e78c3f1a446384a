"""Rules: what `validate` asks, each under a code that stays."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hannun.schemas.errors import InputError


class Level(StrEnum):
    """How bad. An error makes `validate` exit 1; with `--strict` a warning does too."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Rule:
    """A rule: its stable code, how bad a breach is, the rule in one line, why, what fits and breaks it, what to do.

    `is_fact` where it rests on what was published of a benchmark.
    """

    code: str
    level: Level
    title: str
    why: str
    good: str
    bad: str
    todo: str
    is_fact: bool = False

    @property
    def explanation(self) -> str:
        """The rule as a person reads it."""
        return (
            f"{self.code} ({self.level.value}): {self.title}\n\n{self.why}\n\n"
            f"  good:  {self.good}\n  bad:   {self.bad}\n  to do: {self.todo}"
        )


RULES: dict[str, Rule] = {
    name: Rule(**{**fields, "level": Level(fields["level"])})
    for name, fields in tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8")).items()
}
"""By the name that checks use."""


def rule_of(code: str) -> Rule:
    """The rule of a code, in any capitalisation.

    Raises
    ------
    InputError
        There is none.
    """
    by_code = {rule.code: rule for rule in RULES.values()}
    if code.upper() in by_code:
        return by_code[code.upper()]
    near = difflib.get_close_matches(code.upper(), by_code, n=3, cutoff=0.0)
    raise InputError(f"no rule has the code {code}", expected=f"one such as {', '.join(near)}", got=code)


def rules_page() -> str:
    """All rules as Markdown, for the guide."""
    areas: dict[str, list[Rule]] = {}
    for rule in sorted(RULES.values(), key=lambda each: each.code):
        areas.setdefault(rule.code.split("-")[1], []).append(rule)
    lines = [
        "# Finding codes",
        "",
        "What `hannun validate` can say. A code never changes its meaning.",
        "`hannun validate --explain CODE` prints one.",
        "Errors give exit 1, with `--strict` warnings too.",
        "",
    ]
    for area, rules in areas.items():
        lines += [f"## {_AREAS[area]}", ""]
        for rule in rules:
            lines += [
                f"### {rule.code}", "", f"**{rule.title}** ({rule.level.value})", "", rule.why, "",
                f"- good: {_code(rule.good)}", f"- bad: {_code(rule.bad)}", f"- to do: {rule.todo}", "",
            ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


_AREAS = {
    "CARD": "Cards",
    "FILE": "Files",
    "HV": "HAERAE-Vision",
    "IMG": "Images",
    "KOFF": "KOFFVQA",
    "KONA": "KoNA",
    "ROW": "Rows",
    "SAGE": "SAGE",
    "SCH": "Schemas",
    "SET": "Sets of rows",
    "TAB": "Tables of your own",
    "TXT": "Texts",
}


def _code(text: str) -> str:
    return f"`{text}`" if "`" not in text else text
