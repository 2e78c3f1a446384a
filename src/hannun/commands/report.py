"""`report`: what a reconstruction gave, for a person and for a CI job."""

from __future__ import annotations

from pathlib import Path

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@options.folder
@options.policy
@options.store
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    store: Path | None,
    accept: tuple[str, ...],
    locked: bool,
    on_missing: str,
    false_negatives: str,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write report.json and report.md beside the plan, and print the Markdown."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.reconstruct.report import markdown
    from hannun.schemas.strict_json import dumps

    plan = PlanFolder.at(folder)
    policy = options.make_policy(accept, locked, on_missing, false_negatives)
    state = pipeline.state_of(plan, options.make_store(store), policy)
    report = pipeline.report_of(state)
    paths = pipeline.write_report(plan, report)
    if as_json:
        click.echo(dumps(report))
    elif not quiet:
        console = screen.console()
        console.print(markdown(report), markup=False)
        console.print("written: " + ", ".join(map(str, paths)), markup=False)
    return ExitCode.COMPLETE if state.accepted == len(state.lock) else ExitCode.FINDINGS
