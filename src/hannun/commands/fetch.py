"""`fetch`: images into the store, each compared with the lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.fetch import Settings
    from hannun.reconstruct.resolve import Policy
    from hannun.reconstruct.store import Store


@click.command()
@options.folder
@options.sources
@options.fetching
@options.policy
@options.store
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    sources: dict[str, Path],  # noqa: ARG001 (inside settings already)
    settings: Settings,
    policy: Policy,
    store: Store,
    limit: int | None,
    retry: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Images into the store, each compared with the lock. Continues where it stopped."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.schemas.outcome import Outcome
    from hannun.schemas.strict_json import dumps

    plan = PlanFolder.at(folder)
    total, attempts = pipeline.fetch_images(plan, store, settings, limit=limit, retry=retry)
    screen.watched(total, attempts, quiet=quiet)
    state = pipeline.state_of(plan, store, policy, fast=True)
    outcomes = state.outcomes
    if as_json:
        counts = {each.value: outcomes.count(each) for each in Outcome if each in outcomes}
        screen.say(dumps({"images": len(outcomes), "accepted": state.accepted, "outcomes": counts}))
    elif not quiet:
        console = screen.console()
        console.print(screen.outcome_table(outcomes))
        recorded = outcomes.count(Outcome.UNVERIFIED)
        only = f", {recorded:,} only recorded" if recorded else ""
        console.print(f"{outcomes.count(Outcome.EXACT):,} of {len(outcomes):,} verified{only}")
    if state.may_still_come:
        return ExitCode.INCOMPLETE
    return ExitCode.COMPLETE if state.accepted == len(outcomes) else ExitCode.FINDINGS
