"""`hannun eval errors`: what people found wrong in models' answers, counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

_HEADINGS = {"root_cause": "root cause", "errors": "error", "severity": "severity"}


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--taxonomy",
    "given",
    type=click.Path(path_type=Path),
    help="A TOML file with the words that a benchmark's annotations may hold, in place of the published ones.",
)
@options.as_json
@options.quiet
def command(*, files: tuple[Path, ...], given: Path | None, as_json: bool, quiet: bool) -> ExitCode:
    """Count error annotations: share of each kind of error, config beside config.

    A file is JSON lines, CSV or TSV: item, benchmark, config, model, errors, and root_cause, severity, annotator
    and note where there are such.
    """
    from hannun.commands import screen
    from hannun.evaluation.error_annotations import read_error_annotations
    from hannun.evaluation.error_counts import error_tables
    from hannun.schemas.error_taxonomy import read_taxonomy
    from hannun.schemas.strict_json import dumps

    taxonomy = read_taxonomy(given) if given is not None else None
    annotations = read_error_annotations(*files, given=taxonomy)
    tables = error_tables(annotations, taxonomy)
    if as_json:
        screen.say(dumps([_as_json(table) for table in tables]))
    elif not quiet:
        for table in tables:
            _tell(screen, table)
    return ExitCode.COMPLETE


def _as_json(table: Any) -> dict[str, Any]:
    return {
        "benchmark": table.benchmark,
        "model": table.model,
        "taxonomy": table.source,
        "annotations": dict(table.annotations),
        "counts": [
            {
                "field": field,
                "word": word,
                "configs": {
                    config: {"annotations": count, "share": table.share(field, word, config)}
                    for config, count in by_config.items()
                },
            }
            for (field, word), by_config in table.counts.items()
        ],
    }


def _tell(screen: Any, table: Any) -> None:
    console = screen.console()
    total = ", ".join(f"{config} {count:,}" for config, count in table.annotations.items())
    console.print(f"{table.benchmark}, {table.model}: annotations of {total}")
    headings = [*table.configs, *(["change"] if table.change else [])]
    for field, heading in _HEADINGS.items():
        words = [word for of_field, word in table.counts if of_field == field]
        if not words:
            continue
        made = screen.table(None, heading, *headings, right=tuple(headings))
        for word in words:
            shares = [table.share(field, word, config) for config in table.configs]
            cells = [
                f"{table.counts[field, word][config]:,} ({share:.1%})"
                for config, share in zip(table.configs, shares, strict=True)
            ]
            change = [f"{100 * (shares[1] - shares[0]):+.1f} points"] if table.change else []
            made.add_row(word, *cells, *change)
        console.print(made)
    console.print(
        f"words: {table.source}"
        if table.source
        else f"words: as they are; the taxonomy of {table.benchmark} is not known here (--taxonomy FILE gives one)"
    )
