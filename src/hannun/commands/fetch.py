"""`fetch`: images into the store, each compared with the lock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@options.folder
@options.sources
@options.fetching
@options.policy
@options.store
@options.fast
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    store: Path | None,
    limit: int | None,
    retry: bool,
    accept: tuple[str, ...],
    locked: bool,
    on_missing: str,
    false_negatives: str,
    as_json: bool,
    quiet: bool,
    **reach: Any,
) -> ExitCode:
    """Images into the store, each compared with the lock. Continues where it stopped."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder

    plan = PlanFolder.at(folder)
    opened = options.make_store(store)
    total, attempts = pipeline.fetch_images(plan, opened, options.make_settings(**reach), limit=limit, retry=retry)
    screen.watched(total, attempts, quiet=quiet)
    policy = options.make_policy(accept, locked, on_missing, false_negatives)
    state = pipeline.state_of(plan, opened, policy, fast=True)
    return tell(state, as_json=as_json, quiet=quiet)


def tell(state: Any, *, as_json: bool, quiet: bool) -> ExitCode:
    """Print the outcomes of a state, and say with the exit code what they mean."""
    from hannun.commands import screen
    from hannun.schemas.outcome import Outcome
    from hannun.schemas.strict_json import dumps

    seen = state.seen
    outcomes = [seen[entry.image_id].outcome if entry.image_id in seen else Outcome.PENDING for entry in state.lock]
    verified = outcomes.count(Outcome.EXACT)
    recorded = outcomes.count(Outcome.UNVERIFIED)
    if as_json:
        counts = {each.value: outcomes.count(each) for each in Outcome if each in outcomes}
        click.echo(dumps({"images": len(outcomes), "accepted": state.accepted, "outcomes": counts}))
    elif not quiet:
        console = screen.console()
        console.print(screen.outcome_table(outcomes))
        only = f", {recorded:,} only recorded" if recorded else ""
        console.print(f"{verified:,} of {len(outcomes):,} verified{only}")
    if state.may_still_come:
        return ExitCode.INCOMPLETE
    return ExitCode.COMPLETE if state.accepted == len(outcomes) else ExitCode.FINDINGS
