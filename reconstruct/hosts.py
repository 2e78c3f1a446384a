"""Hosts: how many requests at a time, how fast, and what else each demands (`hosts.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hannun.reconstruct.transfer import Reach
from hannun.schemas.errors import InputError

ANY = "*"


@dataclass(frozen=True)
class HostRule:
    """How a host wants to be treated.

    `concurrency` counts requests at a time, `bytes_per_second` holds for all of them together,
    `first_wait` is the pause in seconds after the first refusal. `contact` says that the User-Agent must
    name somebody, `publishes` which digest the host gives without a download, `widths` are those of its
    thumbnails in pixels (any where empty), `source` is where the rule is known from.
    """

    hosts: tuple[str, ...]
    concurrency: int
    source: str
    bytes_per_second: int | None = None
    contact: bool = False
    first_wait: float = 1.0
    publishes: str | None = None
    widths: tuple[int, ...] = ()


@cache
def rules() -> tuple[HostRule, ...]:
    """Every rule, the one for all other hosts last."""
    listed = tomllib.loads((Path(__file__).parent / "hosts.toml").read_text(encoding="utf-8"))["rules"]
    return tuple(HostRule(**_fields(each)) for each in listed)


def _fields(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in rule.items()}


@cache
def rule_for(host: str) -> HostRule:
    """The rule of a host by its name."""
    return next(rule for rule in rules() if host in rule.hosts or ANY in rule.hosts)


def check_contact(hosts: Iterable[str], reach: Reach) -> None:
    """Refuse to ask hosts that demand a contact without one.

    Raises
    ------
    InputError
        A host demands it, and there is none.
    """
    demanding = sorted(host for host in hosts if rule_for(host).contact and host not in reach.mirrors)
    if demanding and reach.contact is None:
        raise InputError(
            f"{demanding[0]} answers only those who say how to reach them",
            where=rule_for(demanding[0]).source,
            expected="an address or page of yours in the User-Agent",
            got="none",
            todo="--contact you@lab.org (or HANNUN_CONTACT)",
        )
