"""`report`: what a reconstruction gave, for a person and for a CI job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.resolve import Policy
    from hannun.reconstruct.store import Store


@click.command()
@options.folder
@options.policy
@options.store
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    policy: Policy,
    store: Store,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Write report.json, report.md and report.html beside the plan, and print the Markdown."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.pages import write_report_page
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.reconstruct.report import markdown
    from hannun.schemas.strict_json import dumps

    plan = PlanFolder.at(folder)
    state = pipeline.state_of(plan, store, policy)
    report = pipeline.report_of(state)
    paths = [*pipeline.write_report(plan, report), write_report_page(plan, report, state, store)]
    if as_json:
        screen.say(dumps(report))
    elif not quiet:
        console = screen.console()
        console.print(markdown(report))
        console.print("written: " + ", ".join(map(str, paths)))
    return ExitCode.COMPLETE if state.accepted == len(state.lock) else ExitCode.FINDINGS
