"""`hannun eval run`: a model's answers, or its scores of the candidates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hannun.commands import options
from hannun.commands.model_options import model_options
from hannun.schemas.errors import ExitCode


@click.command()
@options.benchmark
@click.option("--model", required=True, metavar="MODEL", help="Folder, repository of the Hub, or an endpoint's name.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Built folder with rows and pictures (default: the one built here).",
)
@click.option("--config", "configs", multiple=True, help="Config; may be given more than once (default: all).")
@click.option("--split", default="test", show_default=True, help="Split.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON lines to write, or to continue (default: NAME-MODEL.jsonl here).",
)
@click.option(
    "--sampling",
    "preset",
    type=click.Choice(["paper", "upstream", "greedy"]),
    help="Of answers: as HAERAE-Vision's paper has it (its default), as its own program does when nothing is said,"
    " or the likeliest token each time (KOFFVQA's default).",
)
@click.option("--temperature", type=click.FloatRange(0, 5), help="In place of the preset's.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="In place of the preset's; thinking included.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="Of sampling.")
@click.option(
    "--definitions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON lines of id and definition, looked for in place of the context.",
)
@click.option(
    "--constraints",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON lines of id and the questions object, attribute, state.",
)
@click.option("--limit", type=click.IntRange(min=1), help="So many rows of each config only.")
@model_options
@options.quiet
def command(
    *,
    name: str,
    model: str,
    choice: Callable[[str], Any],
    out: Path | None,
    quiet: bool,
    **rest: Any,
) -> ExitCode:
    """Put every row to a model: questions for an answer, ten pictures for their scores.

    Pictures are ranked by embeddings where the model is a dual encoder such as CLIP, by the likelihood of yes and no
    where it is a vision-language model, and by integers from 0 to 100 where it is behind an endpoint. Run it again to
    continue; a row that has its line is not asked again.
    """
    from hannun.commands import screen
    from hannun.predicting import Prediction, PredictRequest

    path = out or Path(f"{name}-{_file_name(model)}.jsonl")
    run = Prediction(PredictRequest(name, choice(model), **rest), path)
    screen.each_of(run.run(), run.progress.total, "rows", quiet=quiet)
    return _tell(screen, name, path, run, quiet=quiet)


def _tell(screen: Any, name: str, path: Path, run: Any, *, quiet: bool) -> ExitCode:
    done = run.progress
    if not quiet:
        console = screen.console()
        before = f", {done.lines:,} were there" if done.lines else ""
        console.print(f"{path}: {done.answered:,} rows by {run.interface}{before}")
        if done.answered:
            console.print(f"{done.seconds / done.answered:.3f} s a row")
        if done.refused:
            console.print(f"{done.refused:,} rows were refused; their lines say why")
        for note in run.notes:
            console.print(f"note: {note}")
    if done.open:
        why = f"; the last: {done.why}" if done.why else ""
        click.echo(f"{done.open:,} rows are still to be done{why}\nto do: run the same again", err=True)
        return ExitCode.INCOMPLETE
    if not quiet:
        verb = "judge" if run.interface == "answer" else "score"
        screen.console().print(f"next: hannun eval {verb} {name} {path}")
    return ExitCode.FINDINGS if done.refused else ExitCode.COMPLETE


def _file_name(model: str) -> str:
    """A model's name as a part of a file's: `Qwen/Qwen3-VL-8B-Instruct` is Qwen3-VL-8B-Instruct."""
    last = model.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    return "".join(each if each.isalnum() or each in "-_." else "-" for each in last).lstrip(".") or "model"
