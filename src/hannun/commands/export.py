"""`hannun export`: a benchmark in a form for others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.store import Store


@click.command()
@click.argument("target", metavar="NAME_OR_DIR")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "tsv", "parquet"]),
    help="One table: of questions with the columns and pictures that their publisher gives.",
)
@click.option("--for", "audience", type=click.Choice(["annotators"]), help="For whom: forms to choose pictures on.")
@click.option(
    "--out",
    envvar="HANNUN_OUT",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="File or folder to write (default for a table: NAME-CONFIG.FORMAT here).",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Built or plan folder (default: the one built here).",
)
@click.option("--config", "configs", multiple=True, metavar="CONFIG", help="Only these configs; of a table, one.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of forms: another seed asks in another order.")
@options.store
@options.quiet
def command(
    *,
    target: str,
    form: Any,
    audience: str | None,
    out: Path | None,
    data: Path | None,
    configs: tuple[str, ...],
    seed: int,
    store: Store,
    quiet: bool,
) -> ExitCode:
    """A built benchmark for others: one table (--format), or forms without the answers (--for annotators)."""
    from hannun.commands import screen
    from hannun.reconstruct.home import path_of

    if (form is None) == (audience is None):
        raise click.UsageError("choose one: --format jsonl|tsv|parquet, or --for annotators")
    folder = data or path_of(target)
    if form is not None:
        told = [_table(folder, form, out, configs)]
    elif out is None:
        raise click.UsageError("forms need a folder: --out DIR")
    else:
        told = [*_forms(folder, store, out, configs, seed), _AFTER_FORMS]
    if not quiet:
        console = screen.console()
        for line in told:
            console.print(line)
    return ExitCode.COMPLETE


_AFTER_FORMS = "give each annotator a page or a CSV; read them back: hannun agreement DIR FORM.csv ..."


def _table(folder: Path, form: Any, out: Path | None, configs: tuple[str, ...]) -> str:
    from hannun.builders.export import export

    if len(configs) > 1:
        raise click.UsageError("a table holds one config: give --config once")
    path = export(folder, form, out, configs[0] if configs else None)
    return f"{path}  ({path.stat().st_size / 1e6:.1f} MB)"


def _forms(folder: Path, store: Store, out: Path, configs: tuple[str, ...], seed: int) -> list[str]:
    from hannun.pages import write_forms

    return [str(path) for path in write_forms(folder, store, out, configs=configs, seed=seed)]
