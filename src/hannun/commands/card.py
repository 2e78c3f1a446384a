"""`hannun card`: the card of a built folder, written anew or compared with the folder."""

from __future__ import annotations

from pathlib import Path

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@options.folder
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and name every part that is stale.")
@click.option("--croissant", is_flag=True, help="Demand croissant.json; it is written where mlcroissant is installed.")
@options.as_json
@options.quiet
def command(*, folder: Path, check: bool, croissant: bool, as_json: bool, quiet: bool) -> ExitCode:
    """The dataset card of a built folder, from the catalogue and what the folder really holds.

    What you add below its last line, and keys that you add to its front matter, are kept.
    """
    from hannun.builders.folder import README
    from hannun.cards.card_file import own_parts, stale_parts, write_card
    from hannun.cards.croissant import is_installed, stale_croissant, write_croissant
    from hannun.cards.facts import read_facts
    from hannun.commands import screen
    from hannun.schemas.strict_json import dumps

    facts = read_facts(folder)
    if not check:
        write_card(folder, facts, own_parts(folder))
        if croissant or is_installed():
            write_croissant(folder, facts)
    stale = [*stale_parts(folder, facts), *stale_croissant(folder, facts, demanded=croissant)]
    if as_json:
        screen.say(dumps([{"what": each.what, "card": each.card, "folder": each.folder} for each in stale]))
    elif stale:
        for each in stale:
            screen.say(f"stale: {each.what}\n  card:   {each.card}\n  folder: {each.folder}")
        screen.say(f"{len(stale):,} parts of {folder / README} are stale; write it anew: hannun card {folder}")
    elif not quiet:
        screen.console().print(f"{folder / README}  {'is up to date' if check else 'written'}")
    return ExitCode.FINDINGS if stale else ExitCode.COMPLETE
