"""`hannun push`: a built folder to the Hugging Face Hub, as far as its licences let it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@options.folder
@click.argument("repo", metavar="OWNER/NAME")
@click.option("--private", is_flag=True, help="Make the repository private; licences count all the same.")
@click.option("--revision", metavar="BRANCH", help="Branch to write to, made where it is not there (default: main).")
@click.option("--dry-run", is_flag=True, help="Upload nothing; list every file, whether it would go up, and why.")
@click.option(
    "--rights-confirmed",
    is_flag=True,
    help="State that you have the rights that are not known; recipe.json and the card record it.",
)
@options.as_json
@options.quiet
def command(
    *,
    folder: Path,
    repo: str,
    private: bool,
    revision: str | None,
    dry_run: bool,
    rights_confirmed: bool,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    """Upload a built folder as a dataset of the Hugging Face Hub.

    Texts and pictures whose licence forbids passing them on, or is not known, are refused: rows without them go up,
    with the lock and a card that tells how to rebuild. Exit 1: something was refused.
    """
    from hannun.cards.facts import read_facts
    from hannun.cards.push import check_repo, push
    from hannun.cards.upload import rights_in, write_upload
    from hannun.commands import screen
    from hannun.schemas.strict_json import dumps
    from hannun.schemas.version import version

    check_repo(repo)
    facts = read_facts(folder)
    rights = rights_in(folder, facts, confirmed=rights_confirmed)
    refused = rights.to_json()["withheld"]
    address = None
    with tempfile.TemporaryDirectory(prefix=".hannun-push-", dir=folder.resolve().parent) as staging:
        files = write_upload(folder, facts, rights, Path(staging))
        if not quiet and not as_json:
            for each in refused:
                screen.say(_refusal(each))
        if not dry_run:
            message = f"{facts.benchmark.title}, built by hannun {version()}"
            address = push(Path(staging), repo, private=private, revision=revision, message=message)
    if as_json:
        listed = [{"path": e.path, "goes_up": e.goes_up, "bytes": e.bytes, "why": e.why} for e in files]
        screen.say(dumps({"repo": repo, "commit": address, "refused": refused, "files": listed}))
    elif not quiet:
        if dry_run:
            made = screen.table(None, "file", "bytes", "goes up", "why", right=("bytes",))
            for each in files:
                made.add_row(each.path, f"{each.bytes:,}", "yes" if each.goes_up else "no", each.why)
            screen.console().print(made)
        going = [each for each in files if each.goes_up]
        said = f"{len(going):,} files, {sum(each.bytes for each in going):,} bytes"
        screen.say(f"{said} would go to {repo}; nothing was uploaded" if dry_run else f"{said}: {address}")
    return ExitCode.FINDINGS if refused else ExitCode.COMPLETE


def _refusal(refused: dict[str, object]) -> str:
    count = f"{refused['count']:,} " if "count" in refused else ""
    todo = (
        "rows go up without them, and the card tells how to rebuild"
        if refused["redistribution"] == "forbidden"
        else "rows go up without them, and the card tells how to rebuild; --rights-confirmed if you have the rights"
    )
    return f"refused: {count}{refused['what']}: {refused['why']}\n  {todo}"
