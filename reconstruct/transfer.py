"""Transfers: the bytes at one location, as a stream, or why they cannot be had; and what they may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hannun.schemas.outcome import Outcome
from hannun.schemas.version import version


class Failed(Exception):
    """No complete bytes: the outcome, a note that ends with what to do, and what the host said."""

    def __init__(
        self,
        outcome: Outcome,
        what: str | None = None,
        *,
        todo: str | None = None,
        status: int | None = None,
        retry_after: str | None = None,
    ) -> None:
        note = what if todo is None else f"{what}: {todo}"
        super().__init__(note or outcome.meaning)
        self.outcome = outcome
        self.what = what or outcome.meaning
        self.todo = todo
        self.note = note
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Limits:
    """What one image may cost. `max_bytes` in bytes, `deadline` in seconds for the whole transfer."""

    max_bytes: int = 512 << 20
    max_pixels: int = 250_000_000
    deadline: float = 300.0


@dataclass(frozen=True)
class Reach:
    """What may be reached, and how.

    `sources` are files by source name, for `archive:` and `row:` locations. `contact` goes into the
    User-Agent, which some hosts demand. `mirrors` maps a host to the address that stands for it; the user
    names it, so it may be a private one. `per_host` caps requests at a time to one host.
    """

    sources: Mapping[str, Path] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    allow_private: bool = False
    contact: str | None = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    per_host: int | None = None

    def mirrored(self, address: str, host: str) -> str:
        """The address at the mirror that the user named for its host, else the address itself."""
        if host not in self.mirrors:
            return address
        _, _, rest = address.partition("://")
        _, slash, path = rest.partition("/")
        return self.mirrors[host].rstrip("/") + slash + path

    @property
    def user_agent(self) -> str:
        return f"hannun/{version()}" + (f" ({self.contact})" if self.contact else "")


@dataclass(frozen=True)
class Transfer:
    """An opened location: its bytes piece by piece, and what the host said."""

    pieces: Iterator[bytes]
    status: int | None = None
    etag: str | None = None
    note: str | None = None
