"""`lock`: a completed lock to share."""

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
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write (default: DIR/completed.lock.jsonl)."
)
@click.option(
    "--replace", multiple=True, metavar="IMAGE_ID", help="Take what was observed also over what the lock says."
)
@click.option("--remote", is_flag=True, help="Ask the hosts for licence and author where the lock has none.")
@options.contact
@options.mirrors
@options.policy
@options.store
@options.quiet
def command(
    *,
    folder: Path,
    out: Path | None,
    replace: tuple[str, ...],
    remote: bool,
    contact: str | None,
    mirrors: dict[str, str],
    policy: Policy,
    store: Store,
    quiet: bool,
) -> ExitCode:
    """Write a lock with its nulls filled from what was observed.

    Whoever plans with it (--lock FILE) gets the same bytes, or is told what differs.
    """
    from hannun import pipeline
    from hannun.commands import screen
    from hannun.licences import ask_licences, with_published
    from hannun.reconstruct.plan_folder import LOCK, PlanFolder
    from hannun.reconstruct.transfer import Reach
    from hannun.schemas.errors import InputError
    from hannun.schemas.strict_json import dump_lines
    from hannun.schemas.text_file import write_whole

    plan = PlanFolder.at(folder)
    state = pipeline.state_of(plan, store, policy)
    entries = pipeline.complete_lock(state, store, replace=replace)
    licences = None
    if remote:
        licences = ask_licences(plan, entries, store, Reach(contact=contact, mirrors=mirrors))
        entries = list(with_published(entries, plan))
    target = out or plan.folder / "completed.lock.jsonl"
    if target.resolve() == (plan.folder / LOCK).resolve():
        raise InputError("the lock of a plan is never rewritten", where=str(target), todo="choose another --out")
    write_whole(target, dump_lines(entry.to_json() for entry in entries).encode())
    known = sum(1 for entry in entries if entry.digests)
    if not quiet:
        screen.licences(licences)
        screen.console().print(f"{known:,} of {len(entries):,} images have digests: {target}")
    return ExitCode.COMPLETE if known == len(entries) else ExitCode.FINDINGS
