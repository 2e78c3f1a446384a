"""`hannun eval score`: predictions or judged answers to scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

_MOST_GROUPS = 20
_MOST_EXAMPLES = 3


@click.command()
@options.benchmark
@click.argument("predictions", metavar="PREDS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Built or plan folder with the rows (default: the one built here).",
)
@click.option(
    "--compare",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="Predictions of another model, compared row by row; may be given more than once.",
)
@click.option("--fuse", is_flag=True, help="Of several rankings, also their reciprocal rank fusion.")
@click.option("--json", "form", flag_value="json", help="Print one JSON document, every row in it.")
@click.option("--csv", "form", flag_value="csv", help="Print the figures as CSV.")
@click.option("--html", "form", flag_value="html", help="Write a page of plots.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write in place of printing (default for --html: NAME-scores.html here).",
)
@options.quiet
def command(
    *,
    name: str,
    predictions: tuple[Path, ...],
    data: Path | None,
    compare: tuple[Path, ...],
    fuse: bool,
    form: str | None,
    out: Path | None,
    quiet: bool,
) -> ExitCode:
    """Scores as the published rule has them, and as a careful reading has them.

    PREDS are JSON lines: answers and what a judge said of them, or the ten candidates' scores or ranking; or
    rankings in the form of SemEval's VWSD. Several files are several runs or several models.
    """
    from hannun.commands import screen
    from hannun.schemas.strict_json import dumps
    from hannun.schemas.text_file import write_whole
    from hannun.scoring import score

    if out is not None and form is None:
        raise click.UsageError("--out needs one of --json, --csv, --html")
    scored = score(name, predictions, data=data, compare=compare, fuse=fuse)
    if form is None:
        if not quiet:
            _tell(screen, scored.document)
        return ExitCode.COMPLETE
    text = {"json": lambda: dumps(scored.document) + "\n", "csv": scored.csv, "html": scored.page}[form]()
    path = out or (Path(f"{name}-scores.html") if form == "html" else None)
    if path is None:
        screen.say(text.removesuffix("\n"))
    else:
        write_whole(path, text.encode(errors="backslashreplace"))
        if not quiet:
            screen.console().print(str(path))
    return ExitCode.COMPLETE


def _tell(screen: Any, document: Mapping[str, Any]) -> None:
    console = screen.console()
    figures = document["figures"]
    console.print(_figures(screen, [each for each in figures if each["group"] == "overall"], groups=False))
    for measure, config in dict.fromkeys((each["measure"], each["config"]) for each in figures):
        grouped = [
            each
            for each in figures
            if (each["measure"], each["config"]) == (measure, config) and each["group"] != "overall"
        ]
        groups = len({each["group"] for each in grouped})
        if grouped:
            console.print()
        if groups > _MOST_GROUPS:
            console.print(f"{measure}, {config}: {groups:,} groups; --csv, --json or --html has them")
        elif grouped:
            console.print(_figures(screen, grouped, groups=True))
    if document["comparisons"]:
        console.print()
        console.print(_comparisons(screen, document["comparisons"]))
    _tell_rows(console, document)
    if document["published_results"]:
        console.print()
        made = screen.table("published, not made by this project", "what", "config", "value", "where")
        for each in document["published_results"]:
            made.add_row(each["what"], each["config"], each["value"], each["where"])
        console.print(made)
    for note in document["notes"]:
        console.print(f"note: {note}")


def _figures(screen: Any, figures: Sequence[Mapping[str, Any]], *, groups: bool) -> Any:
    """A table of figures; columns that would say nothing are left out."""
    columns: dict[str, Any] = {
        "measure": lambda each: each["measure"],
        "model": lambda each: each["model"],
        "config": lambda each: each["config"],
        "group": (lambda each: each["group"]) if groups else None,
        "value": lambda each: _number(each, each["value"]),
        "published": lambda each: _number(each, each["published"]),
        "of scored": lambda each: _number(each, each["scored_only"]) if each["scored"] < each["rows"] else "",
        "95 % interval": lambda each: _range(each, each["interval"]),
        "could be": lambda each: _range(each, (each["low"], each["high"])) if each["high"] - each["low"] > 1e-9 else "",
        "SE over runs": lambda each: _number(each, each["se"]),
        "scored": lambda each: f"{each['scored']:,} of {each['rows']:,}",
    }
    cells = {name: [cell(each) for each in figures] for name, cell in columns.items() if cell is not None}
    shown = {name: column for name, column in cells.items() if any(column)}
    numbers = ("value", "published", "of scored", "95 % interval", "could be", "SE over runs", "scored")
    made = screen.table(None, *shown, right=numbers)
    for row in zip(*shown.values(), strict=True):
        made.add_row(*row)
    return made


def _comparisons(screen: Any, comparisons: Sequence[Mapping[str, Any]]) -> Any:
    made = screen.table(
        "paired differences, second less first", "measure", "first", "second", "difference", "95 % interval", "test",
        "p", "pairs", "note", right=("difference", "95 % interval", "p", "pairs"),
    )  # fmt: skip
    for each in comparisons:
        interval = each["interval"]
        made.add_row(
            each["measure"],
            each["first"],
            each["second"],
            "" if each["difference"] is None else f"{each['difference']:+.4f}",
            f"{interval[0]:+.4f} to {interval[1]:+.4f}" if interval else "",
            each["test"] + ("" if each["statistic"] is None else f" {each['statistic']:.4g}"),
            "" if each["p"] is None else f"{each['p']:.4g}",
            f"{each['pairs']:,}",
            each["note"] or "",
        )
    return made


def _tell_rows(console: Any, document: Mapping[str, Any]) -> None:
    rows = document["rows"]
    if not document["flags"] and not document["differences"]:
        return
    console.print()
    if any(each["published"] is not None for each in document["figures"]):
        console.print(
            f"the published rule and the careful reading differ on {document['differences']:,} of {len(rows):,} rows"
        )
    for flag, count in document["flags"].items():
        examples = [row for row in rows if row["flag"] == flag][:_MOST_EXAMPLES]
        console.print(f"  {flag}: {count:,} rows")
        for row in examples:
            console.print(f"    {row['id']}" + (f": {row['note']}" if row["note"] else ""))


def _number(figure: Mapping[str, Any], value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.6f}" if figure["most"] <= 1 else f"{value:.2f}"


def _range(figure: Mapping[str, Any], ends: Sequence[float] | None) -> str:
    return "" if ends is None else f"{_number(figure, ends[0])} to {_number(figure, ends[1])}"
