"""`fetch`: images into the store, each compared with the lock."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

if TYPE_CHECKING:
    from hannun.reconstruct.resolve import Policy
    from hannun.reconstruct.settings import Settings
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
    shard: Any,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Images into the store, each compared with the lock. Continues where it stopped."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.schemas.outcome import Again, Outcome, is_accepted
    from hannun.schemas.strict_json import dumps

    plan = PlanFolder.at(folder)
    done = pipeline.fetch_images(plan, store, settings, limit=limit, retry=retry, shard=shard)
    screen.watch(done, quiet=quiet)
    licences = pipeline.fetch_licences(plan, store, settings.reach)
    outcomes: Counter[Outcome] = Counter()
    for (_, outcome), count in done.outcomes.items():
        outcomes[outcome] += count
    accepted = sum(
        count for each, count in outcomes.items() if is_accepted(each, accept=policy.accept, locked=policy.locked)
    )
    if as_json:
        counts = {each.value: outcomes[each] for each in Outcome if outcomes[each]}
        screen.say(dumps({"images": outcomes.total(), "accepted": accepted, "outcomes": counts}))
    elif not quiet:
        console = screen.console()
        console.print(screen.outcome_table(outcomes))
        console.print(screen.host_table(done.outcomes))
        screen.licences(licences)
        recorded = outcomes[Outcome.UNVERIFIED]
        only = f", {recorded:,} only recorded" if recorded else ""
        console.print(f"{outcomes[Outcome.EXACT]:,} of {outcomes.total():,} verified{only}")
    if any(outcomes[each] for each in Outcome if each is Outcome.PENDING or each.again in (Again.YES, Again.LATER)):
        return ExitCode.INCOMPLETE
    return ExitCode.COMPLETE if accepted == outcomes.total() else ExitCode.FINDINGS
