"""Options that several verbs share; each has an environment variable."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

F = TypeVar("F", bound=Callable[..., Any])


def _pairs(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    result: dict[str, str] = {}
    for value in values:
        key, equals, rest = value.partition("=")
        if not equals or not key or not rest:
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}", param=parameter)
        if key in result:
            raise click.BadParameter(f"{key} is given twice", param=parameter)
        result[key] = rest
    return result


def _sources(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """Source paths by key; a repeated source of which there may be many becomes `NAME.2`, `NAME.3`, ..."""
    numbered = []
    seen: Counter[str] = Counter()
    for value in values:
        name, equals, path = value.partition("=")
        seen[name] += 1
        further = seen[name] > 1 and _may_be_many(name)
        numbered.append(f"{name}.{seen[name]}{equals}{path}" if further else value)
    return _existing(ctx, parameter, tuple(numbered))


def _may_be_many(source: str) -> bool:
    from hannun.schemas import catalogue

    entries = (entry for name in catalogue.names() for entry in catalogue.benchmark(name).sources.values())
    return any(entry.many for entry in entries if entry.name == source)


def _existing(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    # Path.expanduser raises for an unknown user; the name then stays as it is.
    paths = {key: Path(os.path.expanduser(text)) for key, text in _pairs(ctx, parameter, values).items()}  # noqa: PTH111
    for key, path in paths.items():
        try:
            problem = None if path.exists() else "no such file or folder"
        except OSError as error:
            problem = error.strerror
        if problem:
            raise click.BadParameter(f"{key}: {problem}: {path}", param=parameter)
    return paths


def _addresses(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = {host.lower(): address for host, address in _pairs(ctx, parameter, values).items()}
    for host, address in pairs.items():
        if not address.startswith(("http://", "https://")):
            raise click.BadParameter(f"{host}: {address!r} is no http or https address", param=parameter)
    return pairs


def _shard(_: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    if value is None:
        return None
    from hannun.reconstruct.survey import Shard

    number, slash, of = value.partition("/")
    if slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return Shard(int(number), int(of))
    raise click.BadParameter(f"{value!r} is not {parameter.metavar} with I from 1 to N", param=parameter)


def _header_text(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not (value.isascii() and value.isprintable()):
        raise click.BadParameter("plain ASCII text is needed: it goes into a header", param=parameter)
    return value


def _option(*names: str, **arguments: Any) -> Callable[[F], F]:
    variable = "HANNUN_" + names[0].removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, show_envvar=True, **arguments)


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


out = _option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder to write.")
as_json = _option("--json", "as_json", is_flag=True, help="JSON on standard output.")
quiet = _option("--quiet", is_flag=True, help="Say nothing but errors.")

sources = _option(
    "--source", "sources", multiple=True, callback=_sources, metavar="NAME=PATH", help="A source that you have."
)
planning = _all(
    sources,
    _option("--set", "options", multiple=True, callback=_pairs, metavar="KEY=VALUE", help="Recipe option, as seed=7."),
    _option(
        "--lock",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        help="A completed lock: its digests are expected too.",
    ),
    _option(
        "--revision", metavar="REV", help="Branch, tag or commit of what comes from the Hub (default: the newest)."
    ),
)
contact = _option(
    "--contact",
    callback=_header_text,
    metavar="you@lab.org",
    help="Goes into the User-Agent; some hosts demand it.",
)
mirrors = _option(
    "--mirror",
    "mirrors",
    multiple=True,
    callback=_addresses,
    metavar="HOST=ADDRESS",
    help="Ask this address instead of that host; it may be a private one.",
)
folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
benchmark = click.argument("name", metavar="NAME")


def store(function: F) -> F:
    """`--store`, given to the verb as an opened `Store`."""

    @functools.wraps(function)
    def call(*, store: Path | None, **rest: Any) -> Any:
        from hannun.reconstruct.home import store_folder
        from hannun.reconstruct.store import Store

        return function(store=Store(store or store_folder()), **rest)

    option = _option(
        "--store", type=click.Path(path_type=Path, file_okay=False), help="Image store (default: $HANNUN_HOME/store)."
    )
    return option(cast("F", call))


def policy(function: F) -> F:
    """What may be built, given to the verb as a `Policy`."""

    @functools.wraps(function)
    def call(*, accept: tuple[str, ...], locked: bool, on_missing: Any, false_negatives: Any, **rest: Any) -> Any:
        from hannun.reconstruct.resolve import Policy
        from hannun.schemas.outcome import Outcome

        accepted = frozenset(Outcome(each) for each in accept)
        return function(policy=Policy(accepted, locked, on_missing, false_negatives), **rest)

    options = _all(
        _option(
            "--accept",
            multiple=True,
            type=click.Choice(["same-pixels", "similar"]),
            help="Accept more than equal bytes.",
        ),
        _option("--locked", is_flag=True, help="An image without a locked digest is a failure."),
        _option(
            "--on-missing",
            type=click.Choice(["drop", "substitute", "fail"]),
            default="drop",
            show_default=True,
            help="What a missing negative does to its instance.",
        ),
        _option(
            "--false-negatives",
            type=click.Choice(["report", "substitute"]),
            default="report",
            show_default=True,
            help="What happens to a negative that is the gold's picture.",
        ),
    )
    return options(cast("F", call))


layout = _option(
    "--layout",
    type=click.Choice(["embedded", "by-id"]),
    default="embedded",
    show_default=True,
    help="Pictures in every row, or once each in a config `images`.",
)


def fetching(function: F) -> F:
    """How to fetch, given to the verb as `Settings`; `sources` is passed on too."""

    @functools.wraps(function)
    def call(
        *,
        sources: dict[str, Path],
        local: dict[str, Path],
        contact: str | None,
        deadline: float,
        max_bytes: int,
        max_pixels: int,
        mirrors: dict[str, str],
        max_per_host: int | None,
        allow_private: bool,
        fast: bool,
        **rest: Any,
    ) -> Any:
        from hannun.reconstruct.settings import Settings
        from hannun.reconstruct.transfer import Limits, Reach

        limits = Limits(max_bytes=max_bytes, max_pixels=max_pixels, deadline=deadline)
        reach = Reach(
            sources=sources,
            limits=limits,
            allow_private=allow_private,
            contact=contact,
            mirrors=mirrors,
            per_host=max_per_host,
        )
        return function(sources=sources, settings=Settings(reach=reach, local=local, fast=fast), **rest)

    options = _all(
        _option(
            "--local", multiple=True, callback=_existing, metavar="NAME=DIR", help="Images that you have, as coco=DIR."
        ),
        contact,
        _option(
            "--deadline",
            type=click.FloatRange(min=1, max=86_400),
            default=300.0,
            show_default=True,
            help="Seconds an image.",
        ),
        _option(
            "--max-bytes", type=click.IntRange(min=1), default=512 << 20, show_default=True, help="Bytes an image."
        ),
        _option(
            "--max-pixels", type=click.IntRange(min=1), default=250_000_000, show_default=True, help="Pixels an image."
        ),
        mirrors,
        _option("--max-per-host", type=click.IntRange(min=1, max=64), help="Requests at a time to one host, at most."),
        _option("--shard", callback=_shard, metavar="I/N", help="Only the hosts that fall to part I of N (from 1)."),
        _option("--limit", type=click.IntRange(min=1), help="Work on so many images only."),
        _option("--retry", is_flag=True, help="Ask again also where the answer was final."),
        _option("--allow-private", is_flag=True, help="Allow private and loopback addresses (for tests)."),
        _option("--fast", is_flag=True, help="Trust stored files without hashing all their bytes."),
    )
    return options(cast("F", call))
