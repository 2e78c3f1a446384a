"""Options of the verbs that run a model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--endpoint", metavar="ADDRESS", envvar="HANNUN_ENDPOINT", show_envvar=True,
        help="OpenAI-compatible endpoint, as http://localhost:8000/v1, that has the model; its key is read from"
        " HANNUN_API_KEY or OPENAI_API_KEY.",
    ),
    click.option("--revision", metavar="REV", help="Branch, tag or commit of the model on the Hub."),
    click.option(
        "--device", type=click.Choice(["auto", "cuda", "cpu"]), default="auto", show_default=True,
        help="Where a model of this machine runs; auto: a GPU if there is one.",
    ),
    click.option(
        "--dtype", type=click.Choice(["auto", "bfloat16", "float16", "float32"]), default="auto", show_default=True,
        help="Its numbers; auto: bfloat16 on a GPU, float32 elsewhere.",
    ),
    click.option(
        "--batch-size", type=click.IntRange(1, 1024), default=8, show_default=True,
        help="Pictures or texts at a time; of an endpoint, requests at a time.",
    ),
    click.option(
        "--max-side", type=click.IntRange(min=16), default=2048, show_default=True,
        help="Pixels of a picture's longer side, at most; larger ones are scaled down.",
    ),
    click.option(
        "--deadline", type=click.FloatRange(min=0.1, max=86_400), default=600.0, show_default=True,
        help="Seconds of one request to an endpoint.",
    ),
)  # fmt: skip


def model_options(function: F) -> F:
    """Where and how a model runs, given to the verb as a function from its name to a `ModelChoice`."""

    @functools.wraps(function)
    def call(
        *, endpoint: str | None, revision: str | None, device: str, dtype: str, batch_size: int, max_side: int,
        deadline: float, **rest: Any,
    ) -> Any:  # fmt: skip
        from hannun.model_choice import ModelChoice

        choice = functools.partial(
            ModelChoice, endpoint=endpoint, revision=revision, device=device, dtype=dtype, batch_size=batch_size,
            max_side=max_side, deadline=deadline,
        )  # fmt: skip
        return function(choice=choice, **rest)

    decorated: Any = call
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return cast("F", decorated)
