"""`run`: plan, fetch, verify, resolve, build, report."""

from __future__ import annotations

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
@options.benchmark
@options.out
@options.planning
@options.fetching
@options.policy
@options.layout
@options.store
@options.as_json
@options.quiet
def command(**given: Any) -> ExitCode:
    """All of it, then the folder that load_dataset reads. Continues where it stopped."""
    return run(**given)


def run(
    *,
    name: str,
    out: Path,
    sources: dict[str, Path],
    options: dict[str, str],
    lock: Path | None,
    revision: str | None,
    settings: Settings,
    policy: Policy,
    layout: str,
    store: Store,
    limit: int | None,
    retry: bool,
    shard: Any,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Plan into DIR/plan, fetch, and build DIR."""
    from hannun import pipeline
    from hannun.build import build
    from hannun.builders.folder import check_place
    from hannun.builders.layout import Layout
    from hannun.commands import screen
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.schemas.strict_json import dumps

    check_place(out)
    request = pipeline.PlanRequest(name, sources, options, lock, settings.reach, revision)
    pipeline.make_plan(request, out / pipeline.PLAN)
    plan = PlanFolder.at(out)
    screen.watch(pipeline.fetch_images(plan, store, settings, limit=limit, retry=retry, shard=shard), quiet=quiet)
    licences = pipeline.fetch_licences(plan, store, settings.reach)
    state = pipeline.state_of(plan, store, policy, fast=settings.fast)
    pipeline.write_report(plan, pipeline.report_of(state))
    built = build(state, store, out, Layout(layout))
    missing = len(state.lock) - state.accepted
    if as_json:
        screen.say(
            dumps(
                {
                    "folder": str(out),
                    "rows": built.rows,
                    "dropped": len(built.resolution.dropped),
                    "substitutions": len(built.resolution.substitutions),
                    "missing_images": missing,
                }
            )
        )
    elif not quiet:
        screen.licences(licences)
        _tell(screen, built, missing)
    if state.may_still_come:
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if missing or built.resolution.dropped else ExitCode.COMPLETE


def _tell(screen: Any, built: Any, missing: int) -> None:
    console = screen.console()
    made = screen.table(None, "config", "split", "rows", right=("rows",))
    for config, splits in built.rows.items():
        for split, rows in splits.items():
            made.add_row(config, split, f"{rows:,}")
    console.print(made)
    for dropped in built.resolution.dropped[:20]:
        console.print(f"dropped {dropped.id}: {dropped.reason}")
    more = len(built.resolution.dropped) - 20
    if more > 0:
        console.print(f"... and {more:,} more in {built.folder / 'plan' / 'report.md'}")
    if missing:
        console.print(f"{missing:,} images are missing; see {built.folder / 'plan' / 'report.md'}")
    first = next(iter(built.rows))
    split = list(built.rows[first])[-1]
    console.print(f'load_dataset("{built.folder}", "{first}", split="{split}")')
