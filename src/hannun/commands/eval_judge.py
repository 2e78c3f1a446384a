"""`hannun eval judge`: answers to a judge, by the published protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.commands.model_options import model_options
from hannun.schemas.errors import ExitCode

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@options.benchmark
@click.argument("predictions", metavar="PREDS", type=_FILE)
@click.option("--judge", "model", required=True, metavar="MODEL", help="Folder, Hub repository, or endpoint's name.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Built or plan folder with the rows (default: the one built here).",
)
@click.option("--out", type=_FILE, help="JSON lines to write, or to continue (default: PREDS-judged.jsonl beside it).")
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Times that each answer is judged; tells how the points vary.",
)
@click.option("--with-image", is_flag=True, help="Show the judge the pictures too; the protocols do not.")
@click.option("--reference", type=_FILE, help="JSON lines of id and reference, a right answer to show the judge.")
@click.option("--prompt-file", type=_FILE, help="Another prompt, with {question}, {criteria}, {count}, {answer}.")
@click.option("--human", type=_FILE, help="JSON lines of id and points, what people gave: how often the judge agrees.")
@click.option("--temperature", type=click.FloatRange(0, 5), help="Of the judge's sampling (default: 0, greedy).")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Tokens of the judge's text, at most (default: 2048).")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="Of sampling.")
@model_options
@options.as_json
@options.quiet
def command(
    *,
    name: str,
    predictions: Path,
    model: str,
    choice: Callable[[str], Any],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **rest: Any,
) -> ExitCode:  # fmt: skip
    """Put every answer to a judge, whose text is kept as it comes.

    KOFFVQA's judge sees question, answer and criteria, and gives points of ten; HAERAE-Vision's sees the checklist,
    and gives 0, 0.5 or 1 for each item. Run it again to continue; what is judged is not judged again.
    """
    from hannun.commands import screen
    from hannun.judging import Judgement, JudgeRequest

    path = out or predictions.with_name(f"{predictions.stem}-judged.jsonl")
    run = Judgement(JudgeRequest(name, predictions, choice(model), **rest), path)
    screen.each_of(run.run(), run.progress.total, "answers", quiet=quiet or as_json)
    if as_json:
        _print_json(screen, path, run)
    elif not quiet:
        _tell(screen, name, path, run)
    done = run.progress
    if done.open:
        why = f"; the last: {done.why}" if done.why else ""
        click.echo(f"{done.open:,} answers are still to be judged{why}\nto do: run the same again", err=True)
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if done.refused else ExitCode.COMPLETE


def _print_json(screen: Any, path: Path, run: Any) -> None:
    from hannun.schemas.strict_json import dumps

    spread, people, done = run.spread(), run.as_people(), run.progress
    screen.say(
        dumps(
            {
                "file": str(path), "judged": done.answered, "errors": done.refused, "open": done.open,
                "before": done.lines, "unread": run.unread, "spread": None if spread is None else asdict(spread),
                "as_people": None if people is None else asdict(people),
            }
        )
    )  # fmt: skip


def _tell(screen: Any, name: str, path: Path, run: Any) -> None:
    console, done = screen.console(), run.progress
    before = f", {done.lines:,} were there" if done.lines else ""
    console.print(f"{path}: {done.answered:,} judgements{before}")
    if done.answered:
        console.print(f"{done.seconds / done.answered:.3f} s a judgement")
    if done.refused:
        console.print(f"{done.refused:,} answers have no judgement; their lines say why")
    if run.unread:
        console.print(f"no points can be read of {run.unread:,} judgements; hannun eval score lists them")
    spread, people = run.spread(), run.as_people()
    if spread is not None:
        console.print(
            f"standard deviation of a question's points, mean of {spread.questions:,}:"
            f" {spread.population:.3f} (over N-1: {spread.sample:.3f})"
            + (f"; {spread.left_out:,} left out, with fewer than two points" if spread.left_out else "")
        )
    if people is not None:
        off = "" if people.mean_difference is None else f", {people.mean_difference:.3f} points off on average"
        console.print(f"as people did: {people.share:.1%} of {people.judgements:,} judgements{off}")
    if not done.open:
        console.print(f"next: hannun eval score {name} {path}")
