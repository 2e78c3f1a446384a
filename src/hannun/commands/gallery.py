"""`gallery`: one page of every instance or question and its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.store import Store


@click.command()
@options.folder
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write (default: DIR/gallery.html)."
)
@click.option("--limit", type=click.IntRange(min=1), help="Show so many rows of each config.")
@options.store
@options.quiet
def command(*, folder: Path, out: Path | None, limit: int | None, store: Store, quiet: bool) -> ExitCode:
    """One page of every instance or question: its wordings, its pictures, and what is right."""
    from hannun.commands import screen
    from hannun.pages import write_gallery

    path = write_gallery(folder, store, out, limit=limit)
    if not quiet:
        screen.console().print(f"{path}  ({path.stat().st_size / 1e6:.1f} MB; open it in a browser)")
    return ExitCode.COMPLETE
