"""Recipes: sources and options to rows, images and drops.

A recipe is pure: no network, no clock, no global randomness, and the order of its sources' lines does
not matter. Each module is named as in the catalogue and offers `VERSION`, `OPTIONS` (name -> default, or
the words to choose from, the default first) and `plan(benchmark, sources, options) -> Planned`.
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
    OPTIONS: Mapping[str, int | tuple[str, ...]]

    def plan(self, benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned: ...


def recipe_module(name: str) -> RecipeModule:
    """The recipe of that catalogue name."""
    return cast("RecipeModule", importlib.import_module(f"hannun.reconstruct.recipes.{name}"))


def completed_options(module: RecipeModule, given: Mapping[str, str]) -> dict[str, int | str]:
    """The recipe's options with the user's values (`--set KEY=VALUE`), each of its default's type.

    Raises
    ------
    InputError
        An option that the recipe does not have, a value that is not a whole number where one is due,
        or a word that is not one of the option's.
    """
    options = _defaults(module)
    for key, text in given.items():
        if key not in options:
            raise InputError(f"no option named {key!r}", expected=", ".join(options), got=key, todo="correct --set")
        allowed = module.OPTIONS[key]
        if isinstance(allowed, int):
            try:
                options[key] = int(text)
            except ValueError:
                raise InputError(f"option {key} takes a whole number", expected="a whole number", got=text) from None
        elif text in allowed:
            options[key] = text
        else:
            raise InputError(f"option {key} has no {text!r}", expected=", ".join(allowed), got=text)
    return options


def variant(module: RecipeModule, options: Mapping[str, Any]) -> str:
    """What tells a plan from the one with the default options: "" for that one, else as `noto-seed7`."""
    defaults = _defaults(module)
    other = [key for key in sorted(options) if options[key] != defaults[key]]
    return "-".join(f"{key}{options[key]}" if isinstance(options[key], int) else str(options[key]) for key in other)


def _defaults(module: RecipeModule) -> dict[str, int | str]:
    return {key: value if isinstance(value, int) else value[0] for key, value in module.OPTIONS.items()}
