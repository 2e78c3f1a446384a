"""Which addresses may be asked: http and https, and nothing inside somebody's own network.

A lock is somebody else's input, so a name is resolved and every address it stands for is checked
before connecting, and again after each redirect.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

from hannun.schemas.outcome import Outcome

Resolver = Callable[[str, int], list[str]]

PRIVATE = frozenset({"loopback", "private"})
"""Kinds of addresses that a user may allow; link-local ones hold the keys of cloud machines and never are."""


class Unusable(Exception):
    """An address that is not asked: the outcome and the reason."""

    def __init__(self, outcome: Outcome, note: str) -> None:
        super().__init__(note)
        self.outcome = outcome
        self.note = note


def system_resolver(host: str, port: int) -> list[str]:
    """Every IP address of a name, as the system resolves it (decimal and octal forms included)."""
    return sorted({str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})


@lru_cache(maxsize=1024)
def literal_resolver(host: str, port: int) -> list[str]:
    """The IP address that a host is when it is written as a number in any form; nothing for a name."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        return []
    return sorted({str(info[4][0]) for info in found})


def check_address(address: str, *, allow_private: bool, resolve: Resolver = system_resolver) -> None:
    """Refuse what must not be asked; `allow_private` lets the kinds of `PRIVATE` pass.

    Raises
    ------
    Unusable
        `malformed-address`, `unsafe-address`, or `unreachable` when the name does not resolve.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise Unusable(Outcome.MALFORMED_ADDRESS, str(error)) from None
    if parts.scheme.lower() not in ("http", "https"):
        raise Unusable(Outcome.UNSAFE_ADDRESS, f"scheme {parts.scheme or 'none'!r}")
    if not host:
        raise Unusable(Outcome.MALFORMED_ADDRESS, "no host")
    if parts.username is not None or parts.password is not None:
        raise Unusable(Outcome.UNSAFE_ADDRESS, "credentials in the address")
    try:
        found = resolve(host, port or (443 if parts.scheme.lower() == "https" else 80))
    except (OSError, UnicodeError) as error:
        raise Unusable(Outcome.UNREACHABLE, f"{host} does not resolve: {error}") from None
    for text in found:
        kind = unsafe_kind(text)
        if kind is not None and not (allow_private and kind in PRIVATE):
            raise Unusable(Outcome.UNSAFE_ADDRESS, f"{host} is {text}: {kind}")


def unsafe_kind(address: str) -> str | None:
    """Why an IP address must not be connected to; None when it is a public one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if mapped is not None:
        ip = mapped
    for kind in ("loopback", "link_local", "multicast", "unspecified", "reserved", "private"):
        if getattr(ip, f"is_{kind}"):
            return kind.replace("_", "-")
    return None if ip.is_global else "not public"
