"""`verify`: the stored images against the lock, again."""

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
@click.option("--fast", is_flag=True, help="Compare xxh3_128 instead of sha256; decode nothing.")
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    policy: Policy,
    store: Store,
    fast: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Re-check every stored image of a plan or built folder."""
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.schemas.outcome import Outcome, is_accepted
    from hannun.schemas.strict_json import dumps

    state = pipeline.state_of(PlanFolder.at(folder), store, policy, fast=fast)
    checked = list(state.verified.values())
    bad = [
        each
        for each in checked
        if each.problem is not None or not is_accepted(each.outcome, accept=policy.accept, locked=policy.locked)
    ]
    if as_json:
        rows = [{**each.__dict__, "outcome": each.outcome.value} for each in bad]
        screen.say(dumps({"images": len(checked), "ok": len(checked) - len(bad), "problems": rows}))
    elif not quiet:
        console = screen.console()
        for each in bad:
            what = each.problem or each.outcome.meaning
            console.print(f"{each.image_id}: {each.outcome.value}: {what}")
            if each.expected:
                console.print(f"    expected {each.expected}\n    got      {each.got}")
            todo = Outcome.PENDING.next_step if each.problem else each.outcome.next_step
            console.print(f"    to do: {todo}")
        console.print(f"{len(checked) - len(bad):,} of {len(checked):,} images verified")
    return ExitCode.FINDINGS if bad else ExitCode.COMPLETE
