"""`hannun agreement`: annotators' forms against the gold and each other."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command()
@options.folder
@click.argument("forms", metavar="FORM.csv...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.as_json
@options.quiet
def command(*, folder: Path, forms: tuple[Path, ...], as_json: bool, quiet: bool) -> ExitCode:
    """Read filled forms of `hannun export`: agreement with the gold, Fleiss' kappa, and the doubtful items."""
    from hannun.commands import screen
    from hannun.pages import agreement_of
    from hannun.schemas.errors import InputError
    from hannun.schemas.strict_json import dumps

    found = agreement_of(folder, forms)
    if not found:
        raise InputError("the forms hold no answer", where=", ".join(map(str, forms)), todo="fill the column choice")
    if as_json:
        screen.say(dumps([asdict(each) for each in found]))
    elif not quiet:
        for each in found:
            _tell(screen, each)
    return ExitCode.COMPLETE


def _tell(screen: Any, agreement: Any) -> None:
    console = screen.console()
    made = screen.table(agreement.config, "annotator", "answers", "as the gold", right=("answers", "as the gold"))
    for number, (answered, share) in enumerate(zip(agreement.answered, agreement.with_gold, strict=True), 1):
        made.add_row(str(number), f"{answered:,}", f"{share:.1%}")
    made.add_row("majority", f"{agreement.rows:,}", f"{agreement.majority:.1%}")
    console.print(made)
    kappa = f"{agreement.kappa:.3f}" if agreement.kappa is not None else f"not computed ({agreement.kappa_missing})"
    console.print(f"Fleiss' kappa over {agreement.shared:,} rows that all answered: {kappa}")
    for doubt in agreement.doubts:
        chosen = ", ".join("none" if each < 0 else str(each) for each in doubt.choices)
        line = f"  {doubt.row_id}: gold {doubt.gold}, chosen {chosen}"
        if doubt.also:
            line += f"; also fits {', '.join(map(str, doubt.also))}"
        console.print(line + "".join(f"; {remark}" for remark in doubt.remarks))
