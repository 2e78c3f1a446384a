"""`hannun build`: one folder that load_dataset reads, and the by-name form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.commands.run import run
from hannun.schemas.errors import ExitCode


@click.command()
@options.benchmark
@click.option(
    "--out",
    envvar="HANNUN_OUT",
    show_envvar=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write (default: $HANNUN_HOME/built/NAME).",
)
@options.planning
@options.fetching
@options.policy
@options.layout
@options.store
@click.option(
    "--register/--no-register", default=True, show_default=True, help='Answer load_dataset("hannun/NAME", CONFIG) too.'
)
@options.as_json
@options.quiet
def command(*, name: str, out: Path | None, register: bool, **given: Any) -> ExitCode:
    """Build a benchmark: one self-contained folder that load_dataset reads."""
    from hannun.commands import screen
    from hannun.reconstruct.home import built_folder
    from hannun.reconstruct.recipes import completed_options, recipe_module, variant
    from hannun.schemas import catalogue

    module = recipe_module(catalogue.benchmark(name).recipe)
    chosen = variant(module, completed_options(module, given["options"]))
    embedded = given["layout"] == "embedded"
    folder = out or built_folder(name, chosen if embedded else "-".join(filter(None, [chosen, given["layout"]])))
    code = run(name=name, out=folder, **given)
    # A build that running again would complete is not what the name stands for, nor are rows without pictures.
    if register and embedded and code is not ExitCode.INCOMPLETE:
        import datasets

        from hannun.builders.register import NAMESPACE
        from hannun.builders.register import register as prepare

        if given["quiet"] or given["as_json"] or not sys.stderr.isatty():
            datasets.disable_progress_bars()
        configs = prepare(name, folder)
        if not given["quiet"] and not given["as_json"]:
            screen.console().print(f'load_dataset("{NAMESPACE}/{name}", "{configs[0]}")  by name, on this machine')
    return code
