"""`hannun validate`: is this data set right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

_MOST = 20


def _explain(ctx: click.Context, _: click.Parameter, code: str | None) -> None:
    if code is None:
        return
    from hannun.commands import screen
    from hannun.validate.rule import RULES, rule_of

    if code.lower() == "all":
        made = screen.table(None, "code", "level", "rule")
        for rule in sorted(RULES.values(), key=lambda each: each.code):
            made.add_row(rule.code, rule.level.value, rule.title)
        screen.console().print(made)
    else:
        screen.console().print(rule_of(code).explanation)
    ctx.exit()


@click.command()
@click.argument("targets", metavar="PATH_OR_NAME...", nargs=-1, required=True)
@click.option("--revision", help="Of a dataset of the Hub: branch, tag or commit.")
@click.option(
    "--level",
    type=click.Choice(["schema", "images", "rows", "facts", "all"]),
    default="all",
    show_default=True,
    help="Which checks to run.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "junit", "github", "sarif"]),
    default="text",
    show_default=True,
    help="How to say it.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write in place of printing.")
@click.option(
    "--reports",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write findings.txt, .json, .sarif and .xml (JUnit) to, beside what is printed.",
)
@click.option("--strict", is_flag=True, help="Warnings give exit 1 too.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave findings of this code out.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What an earlier run printed with --format json: its findings stay quiet, new ones count.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=_MOST,
    show_default=True,
    help="Findings shown of each code (json and sarif have all).",
)
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    metavar="SHARE",
    help="Decode the pictures of this share of the rows, always the same ones.",
)
@click.option("--fast", is_flag=True, help="Do not decode pictures that equal the lock byte for byte.")
@click.option("--dialect", type=click.Choice(["plain", "quoted"]), help="Of a .tsv file: are cells quoted as in CSV?")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What the columns of your own tables mean (default: hannun.toml beside them).",
)
@click.option(
    "--explain", metavar="CODE", is_eager=True, expose_value=False, callback=_explain,
    help="Print what a code means, or all of them, and nothing else.",
)  # fmt: skip
@options.quiet
def command(
    *,
    targets: tuple[str, ...],
    revision: str | None,
    level: str,
    form: str,
    out: Path | None,
    reports: Path | None,
    strict: bool,
    ignore: tuple[str, ...],
    baseline: Path | None,
    limit: int,
    sample: float,
    fast: bool,
    dialect: Any,
    config: Path | None,
    quiet: bool,
) -> ExitCode:
    """Check a folder, a .jsonl, .tsv or .parquet file, a benchmark by name, or OWNER/NAME of the Hub.

    Exit 0: no error. 1: errors (with --strict warnings too), or nothing to check. 2: cannot be read.
    """
    from hannun.commands import screen
    from hannun.schemas.text_file import write_whole
    from hannun.validate.baseline import known_findings
    from hannun.validate.result import Part, Scope
    from hannun.validate.rule import rule_of
    from hannun.validate.target import validate

    ignored = frozenset(rule_of(code).code for code in ignore)
    known = frozenset[str]() if baseline is None else known_findings(baseline)
    scope = Scope(Part(level), sample=sample, fast=fast)
    if len(targets) > 1 and (reports is not None or out is not None or form not in ("text", "github")):
        raise click.UsageError("several targets at once are only printed, as text or github: name one")
    bad = False
    for target in targets:
        with screen.counting("rows", quiet=quiet) as one:
            found = validate(target, scope=scope, dialect=dialect, config=config, revision=revision, on_row=one)
        result = found.without(ignored, known)
        bad |= result.is_bad(strict=strict)
        text = _said(result, form, strict=strict, limit=limit)
        if reports is not None:
            reports.mkdir(parents=True, exist_ok=True)
            for name, each in _REPORTS.items():
                write_whole(
                    reports / name, _said(result, each, strict=strict, limit=limit).encode(errors="backslashreplace")
                )
        if out is not None:
            write_whole(out, text.encode(errors="backslashreplace"))
        elif form in ("json", "junit", "sarif") or not quiet:
            screen.say(text.removesuffix("\n"))
    return ExitCode.FINDINGS if bad else ExitCode.COMPLETE


_REPORTS = {"findings.txt": "text", "findings.json": "json", "findings.sarif": "sarif", "findings.xml": "junit"}


def _said(result: Any, form: str, *, strict: bool, limit: int) -> str:
    from hannun.schemas.strict_json import dumps
    from hannun.validate.outputs import github, json, junit, sarif, text

    match form:
        case "json":
            return dumps(json.document(result)) + "\n"
        case "sarif":
            return dumps(sarif.document(result)) + "\n"
        case "junit":
            return junit.document(result, strict=strict, most=limit)
        case "github":
            return "".join(line + "\n" for line in github.lines(result, most=limit))
        case _:
            return "".join(line + "\n" for line in text.lines(result, most=limit))
