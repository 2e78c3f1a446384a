"""Both commands: `hannun` and `sage-reconstruct`; each verb is a module, imported when it is called."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from hannun.commands.lazy_group import LazyGroup
from hannun.schemas.errors import ExitCode, HannunError

_HANNUN = {
    "list": ("list", "What there is, and what is missing here."),
    "build": ("build", "Build a benchmark: one folder that load_dataset reads."),
    "validate": ("validate", "Check a data set: is it right?"),
    "gallery": ("gallery", "One page of every instance or question and its pictures."),
    "card": ("card", "The dataset card of a built folder: written anew, or checked."),
    "push": ("push", "To the Hugging Face Hub, as far as licences let it."),
    "export": ("export", "For others: the published table, JSON lines, or forms for annotators."),
    "eval": ("eval", "Scores that can be trusted."),
    "agreement": ("agreement", "Read annotators' forms: agreement with the gold and each other."),
}
_RECONSTRUCT = {
    "list": ("list", "What can be rebuilt, from what, and what is missing here."),
    "plan": ("plan", "Sources to recipe, rows and image lock; no image is touched."),
    "fetch": ("fetch", "Images into the store, each compared with the lock; continues."),
    "verify": ("verify", "Re-check the stored images."),
    "lock": ("lock", "A completed lock to share."),
    "report": ("report", "Report as JSON, Markdown and a page to look at."),
    "gallery": ("gallery", "One page of every instance or question and its pictures."),
    "run": ("run", "All of it, then the folder that load_dataset reads."),
}


def hannun() -> None:
    """Entry point of `hannun`."""
    _run(_HANNUN, "hannun", "Load, rebuild, check and score vision-language benchmarks.")


def sage_reconstruct() -> None:
    """Entry point of `sage-reconstruct`."""
    _run(
        _RECONSTRUCT,
        "sage-reconstruct",
        "Rebuild a benchmark's images from where they live, and verify every byte.",
    )


def _run(verbs: Mapping[str, tuple[str, str]], name: str, text: str) -> None:
    _make_writable()
    group = LazyGroup(verbs, name=name, help=text, context_settings={"help_option_names": ["-h", "--help"]})
    version = click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
    )
    group.params.append(version)
    sys.exit(_exit_code(group, name))


def _make_writable() -> None:
    """Standard output and error take any text, also when closed or not in UTF-8."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Kept open as long as the process runs, as the stream that it stands for.
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _exit_code(group: click.Group, name: str) -> int:
    try:
        code = group.main(prog_name=name, standalone_mode=False)
        # Some streams fail only when they are emptied.
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return ExitCode.BAD_INPUT
    except HannunError as error:
        click.echo(f"{name}: {error}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"{name}: stopped; what is done is kept", err=True)
        return ExitCode.STOPPED
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.COMPLETE
    except MemoryError:
        todo = "check that every file is the right one, free memory, run again"
        click.echo(f"{name}: not enough memory\n  to do:    {todo}", err=True)
        return ExitCode.INCOMPLETE
    except OSError as error:
        # The system's own refusal, whatever was being read or written: named, not traced.
        where = f"\n  where:    {error.filename}" if error.filename else ""
        click.echo(f"{name}: {error.strerror or error}{where}", err=True)
        return ExitCode.INCOMPLETE if error.errno == errno.ENOSPC else ExitCode.BAD_INPUT
    return code if isinstance(code, int) else ExitCode.COMPLETE


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from hannun.schemas import version

        click.echo(version.version())
        ctx.exit()
