"""`plan`: sources to recipe, rows and image lock."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode

_NAMED = 3
"""Dropped items that are named for each reason."""


@click.command()
@options.benchmark
@options.out
@options.planning
@options.mirrors
@options.as_json
@options.quiet
def command(
    *,
    name: str,
    out: Path,
    sources: dict[str, Path],
    options: dict[str, str],
    lock: Path | None,
    revision: str | None,
    mirrors: dict[str, str],
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Sources to recipe, rows and image lock. No image is touched."""
    from hannun.commands import screen
    from hannun.pipeline import PlanRequest, make_plan
    from hannun.reconstruct.transfer import Reach
    from hannun.schemas.question import Question
    from hannun.schemas.strict_json import dumps

    planned, new = make_plan(PlanRequest(name, sources, options, lock, Reach(mirrors=mirrors), revision), out)
    counts = {"rows": len(planned.rows), "images": len(planned.images), "dropped": len(planned.dropped)}
    if as_json:
        screen.say(dumps({"folder": str(out), "new": new, **counts}))
    elif not quiet:
        console = screen.console()
        what = "questions" if isinstance(planned.rows[0], Question) else "instances"
        console.print(f"{counts['rows']:,} {what}, {counts['images']:,} distinct images, {counts['dropped']:,} dropped")
        by_reason: dict[str, list[str]] = defaultdict(list)
        for drop in planned.dropped:
            by_reason[drop.reason].append(drop.item)
        for reason, items in by_reason.items():
            more = f", and {len(items) - _NAMED:,} more in recipe.json" if len(items) > _NAMED else ""
            console.print(f"  {len(items):,} dropped, {reason}: {', '.join(items[:_NAMED])}{more}")
        for note in planned.notes:
            console.print(f"  {note}")
        console.print(f"{'plan' if new else 'the same plan was already'} in {out}")
    return ExitCode.COMPLETE
