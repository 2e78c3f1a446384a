"""A group of verbs, each a module that is imported when it is called, so that `--help` stays light."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """Verbs by name: the module that has one as its `command`, and a line of help."""

    def __init__(self, verbs: Mapping[str, tuple[str, str]], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._verbs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in self._verbs:
            return None
        module = importlib.import_module(f"hannun.commands.{self._verbs[name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._verbs.items()])
