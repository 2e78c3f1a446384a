"""`verify`: the stored images against the lock again, or what their hosts publish of them."""

from __future__ import annotations

from collections import Counter
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
@click.option("--remote", is_flag=True, help="Ask the hosts for their digests instead; nothing is downloaded.")
@options.contact
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    policy: Policy,
    store: Store,
    fast: bool,
    remote: bool,
    contact: str | None,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Re-check every image of a plan or built folder: in the store, or with --remote at its host."""
    if remote and fast:
        raise click.UsageError("--fast is for stored images: leave it out with --remote")
    if remote:
        return _verify_remote(folder, store, contact, as_json=as_json, quiet=quiet)
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


def _verify_remote(folder: Path, store: Store, contact: str | None, *, as_json: bool, quiet: bool) -> ExitCode:
    from hannun.commands import screen
    from hannun.pages import Held
    from hannun.reconstruct.remote import comparable, verify_remote
    from hannun.reconstruct.transfer import Reach
    from hannun.schemas.outcome import Outcome
    from hannun.schemas.strict_json import dumps

    lock = [comparable(entry, store) for entry in Held.at(folder).plan.lock()]
    console = screen.console()
    counts: Counter[Outcome] = Counter()
    bad = []
    for each in verify_remote(lock, Reach(contact=contact)):
        if each.outcome is not None:
            counts[each.outcome] += 1
        if each.outcome is Outcome.EXACT:
            continue
        bad.append(each)
        if not (as_json or quiet):
            word, meaning = (each.outcome.value, each.outcome.meaning) if each.outcome else ("not checkable here", "")
            console.print(f"{each.image_id}: {word}: {each.note or meaning}")
            if each.expected:
                console.print(f"    expected {each.expected}\n    got      {each.got}")
            if each.outcome:
                console.print(f"    to do: {each.outcome.next_step}")
    unasked = len(lock) - counts.total()
    if as_json:
        outcomes = {each.value: counts[each] for each in Outcome if counts[each]}
        rows = [each.to_json() for each in bad]
        summary = {"images": len(lock), "ok": counts[Outcome.EXACT], "outcomes": outcomes, "not_checkable": unasked}
        screen.say(dumps({**summary, "problems": rows}))
    elif not quiet:
        console.print(screen.outcome_table(counts))
        if unasked:
            console.print(f"{unasked:,} not checkable here: their hosts publish no digest")
        console.print(f"{counts[Outcome.EXACT]:,} of {len(lock):,} images are what the lock says, by their hosts")
    return ExitCode.FINDINGS if bad else ExitCode.COMPLETE
