"""`hannun validate`: is this data set right."""

from __future__ import annotations

from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@click.argument("target", metavar="PATH_OR_NAME")
@click.option(
    "--level",
    type=click.Choice(["schema", "images", "rows", "all"]),
    default="all",
    show_default=True,
    help="Which checks to run.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to say it."
)
@click.option("--strict", is_flag=True, help="Warnings give exit 1 too.")
@click.option("--dialect", type=click.Choice(["plain", "quoted"]), help="Of a .tsv file: are cells quoted as in CSV?")
@options.quiet
def command(*, target: str, level: str, form: str, strict: bool, dialect: Any, quiet: bool) -> ExitCode:
    """Check a built folder, a plan folder, a .jsonl, .tsv or .parquet file, or a benchmark by name.

    Exit 0: no error. 1: errors (with --strict warnings too), or nothing to check. 2: cannot be read.
    """
    from hannun.commands import screen
    from hannun.schemas.strict_json import dumps
    from hannun.validate.finding import Level
    from hannun.validate.outputs import json, text
    from hannun.validate.result import Part
    from hannun.validate.target import validate

    result = validate(target, part=Part(level), dialect=dialect)
    console = screen.console()
    if form == "json":
        console.print(dumps(json.document(result)))
    elif not quiet:
        for line in text.lines(result):
            console.print(line)
    bad = result.count(Level.ERROR) or (strict and result.count(Level.WARNING))
    return ExitCode.FINDINGS if bad else ExitCode.COMPLETE
