"""Replies: what one request came to, as facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Why a request ended without a whole response."""

    DEADLINE = "deadline"
    NO_HOST = "no-host"
    CONNECTION = "connection"
    SHORT = "short"
    TLS = "tls"
    TOO_LARGE = "too-large"
    UNSAFE = "unsafe"
    MALFORMED = "malformed"
    PROTOCOL = "protocol"


@dataclass(frozen=True)
class Reply:
    """One request's end. `declared` and `received` count bytes of the body, `asked_from` is its first byte asked for.

    `fault` is None where a whole response came; header fields are as they came, or None.
    """

    address: str
    status: int | None = None
    reason: str = ""
    fault: Fault | None = None
    note: str | None = None
    declared: int | None = None
    received: int = 0
    asked_from: int = 0
    location: str | None = None
    retry_after: str | None = None
    validator: str | None = None
    content_range: str | None = None
    content_type: str | None = None
    content_encoding: str | None = None


_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")


def range_start(content_range: str | None) -> int | None:
    """The first byte that a Content-Range header names (RFC 9110 section 14.4); None when it names none."""
    found = _CONTENT_RANGE.fullmatch((content_range or "").strip().lower())
    return int(found.group(1)) if found else None


def range_total(content_range: str | None) -> int | None:
    """The whole size that a Content-Range header names; None when it does not say."""
    found = _CONTENT_RANGE.fullmatch((content_range or "").strip().lower())
    return int(found.group(3)) if found and found.group(3) != "*" else None
