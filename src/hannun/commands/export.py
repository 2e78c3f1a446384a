"""`hannun export`: a benchmark in a form for others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.store import Store


@click.command()
@options.benchmark
@click.option(
    "--for", "audience", type=click.Choice(["annotators"]), required=True, help="For whom: forms to choose pictures on."
)
@options.out
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Built or plan folder (default: the one built here).",
)
@click.option("--config", "configs", multiple=True, metavar="CONFIG", help="Only these configs.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed asks in another order.")
@options.store
@options.quiet
def command(
    *,
    name: str,
    audience: str,  # noqa: ARG001  (one choice now; it says what the files are)
    out: Path,
    data: Path | None,
    configs: tuple[str, ...],
    seed: int,
    store: Store,
    quiet: bool,
) -> ExitCode:
    """Forms for annotators: a CSV and a page of pictures for each config, without the answers."""
    from hannun.commands import screen
    from hannun.pages import write_forms
    from hannun.reconstruct.home import built_folder
    from hannun.schemas import catalogue

    catalogue.benchmark(name)
    paths = write_forms(data or built_folder(name), store, out, configs=configs, seed=seed)
    if not quiet:
        console = screen.console()
        for path in paths:
            console.print(str(path))
        console.print("give each annotator a page or a CSV; read them back: hannun agreement DIR FORM.csv ...")
    return ExitCode.COMPLETE
