"""Recipes: sources and options to rows, images and drops.

A recipe is pure: no network, no clock, no global randomness, and the order of its sources' lines does
not matter. Each module is named as in the catalogue and offers `VERSION`, `OPTIONS` (name -> default)
and `plan(benchmark, sources, options) -> Planned`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

from hannun.reconstruct.source import Source
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.plan import Planned


class RecipeModule(Protocol):
    """What every module of this folder offers."""

    VERSION: int
    OPTIONS: Mapping[str, int | str]

    def plan(self, benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned: ...


def recipe_module(name: str) -> RecipeModule:
    """The recipe of that catalogue name."""
    return cast("RecipeModule", importlib.import_module(f"hannun.reconstruct.recipes.{name}"))


def completed_options(module: RecipeModule, given: Mapping[str, str]) -> dict[str, int | str]:
    """The recipe's options with the user's values (`--set KEY=VALUE`), each of its default's type.

    Raises
    ------
    InputError
        An option that the recipe does not have, or a value that is not a whole number where one is due.
    """
    options = dict(module.OPTIONS)
    for key, text in given.items():
        if key not in options:
            raise InputError(f"no option named {key!r}", expected=", ".join(options), got=key, todo="correct --set")
        if isinstance(options[key], int):
            try:
                options[key] = int(text)
            except ValueError:
                raise InputError(f"option {key} takes a whole number", expected="a whole number", got=text) from None
        else:
            options[key] = text
    return options
