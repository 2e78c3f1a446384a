"""What a response means and what to do next: decided here, done elsewhere."""

from __future__ import annotations

import email.utils
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urljoin

from hannun.reconstruct.reply import Fault, Reply, range_start, range_total
from hannun.schemas.outcome import Again, Outcome

ATTEMPTS = 3
"""Tries of one address in one run, the first included."""
LONGEST_WAIT = 60.0
"""Seconds; a host that asks for more is left for a later run."""

REDIRECTS = 5
"""Redirects that are followed from one address."""

_REDIRECT = frozenset({301, 302, 303, 307, 308})
_OF_FAULT = {
    Fault.DEADLINE: Outcome.UNREACHABLE,
    Fault.NO_HOST: Outcome.UNREACHABLE,
    Fault.CONNECTION: Outcome.UNREACHABLE,
    Fault.SHORT: Outcome.TRUNCATED,
    Fault.TLS: Outcome.TLS,
    Fault.TOO_LARGE: Outcome.TOO_LARGE,
    Fault.UNSAFE: Outcome.UNSAFE_ADDRESS,
    Fault.MALFORMED: Outcome.MALFORMED_ADDRESS,
    Fault.PROTOCOL: Outcome.SERVER_ERROR,
}
_GONE = frozenset({404, 410})
_SERVER = frozenset({500, 502, 504})


@dataclass(frozen=True)
class Decision:
    """The outcome of one try, and the seconds to wait before the next; None means no next try."""

    outcome: Outcome
    wait: float | None
    note: str | None = None


@dataclass(frozen=True)
class Whole:
    """The body came whole: its bytes decide."""


@dataclass(frozen=True)
class Follow:
    """Ask this address instead."""

    address: str


@dataclass(frozen=True)
class StartOver:
    """What came does not continue what is there: ask for all of it."""

    note: str


@dataclass(frozen=True)
class Failure:
    """No whole body: the outcome, and why."""

    outcome: Outcome
    note: str | None = None


Verdict = Whole | Follow | StartOver | Failure


def verdict(reply: Reply, *, hops: int) -> Verdict:
    """What one reply means.

    Parameters
    ----------
    hops
        Redirects that were followed to get here.
    """
    if reply.fault is not None:
        return Failure(_OF_FAULT[reply.fault], reply.note)
    status = reply.status or 0
    if status in _REDIRECT and reply.location:
        return _followed(reply, hops)
    if status in (200, 206, 416):
        ranged = _ranged(reply, status)
        if ranged is not None:
            return ranged
    outcome = outcome_of_status(status)
    if outcome is not None:
        return Failure(outcome, f"{status} {reply.reason}".strip())
    if reply.declared is not None and reply.received < reply.declared:
        return Failure(Outcome.TRUNCATED, f"{reply.received} of {reply.declared} bytes")
    return Whole()


def _ranged(reply: Reply, status: int) -> Verdict | None:
    """What Content-Range and the part that was asked for say against a reply; None where they do not."""
    start, total = range_start(reply.content_range), range_total(reply.content_range)
    if reply.asked_from:
        continues = status == 206 and start == reply.asked_from
        whole = status == 200 and start is None
        if not (continues or whole):
            return StartOver(f"asked from byte {reply.asked_from}, got {reply.content_range or status}")
        if continues and total is not None and reply.asked_from + reply.received < total:
            return Failure(Outcome.TRUNCATED, f"{reply.asked_from + reply.received} of {total} bytes")
    elif status != 416 and (status == 206 or start is not None) and total != reply.received:
        return Failure(Outcome.TRUNCATED, f"a part that nobody asked for: {reply.content_range or 'unnamed'}")
    return None


def _followed(reply: Reply, hops: int) -> Verdict:
    if hops >= REDIRECTS:
        return Failure(Outcome.REDIRECTED, f"more than {REDIRECTS} redirects")
    try:
        target = urljoin(reply.address, reply.location or "")
    except ValueError as error:
        return Failure(Outcome.MALFORMED_ADDRESS, f"redirected to what is no address: {error}")
    if reply.address.lower().startswith("https:") and target.lower().startswith("http:"):
        return Failure(Outcome.REDIRECTED, "from https to http")
    return Follow(target)


def outcome_of_status(status: int) -> Outcome | None:
    """The outcome of a final HTTP status (redirects followed); None when the body decides."""
    if 200 <= status < 300:
        return None
    if status in _GONE:
        return Outcome.GONE
    if status == 408:
        return Outcome.UNREACHABLE
    if status in (429, 503):
        return Outcome.THROTTLED
    if status in _SERVER:
        return Outcome.SERVER_ERROR
    if 300 <= status < 400:
        return Outcome.REDIRECTED
    if status >= 500:
        return Outcome.SERVER_ERROR
    return Outcome.REFUSED


def decide(
    outcome: Outcome, attempt: int, retry_after: str | None, now: datetime, jitter: float, *, first_wait: float = 1.0,
    attempts: int = ATTEMPTS,
) -> Decision:  # fmt: skip
    """Whether to try the same address again in this run.

    Parameters
    ----------
    attempt
        Number of this try, from 1.
    retry_after
        The header as it came, or None.
    now
        The present instant, with its zone.
    jitter
        A number in [0, 1) that spreads the waits of many clients.
    first_wait
        Seconds before the second try; each later wait is twice as long.
    attempts
        Tries in one run, the first included.
    """
    if outcome.again not in (Again.YES, Again.LATER) or attempt >= attempts:
        return Decision(outcome, None)
    wait = first_wait * 2.0 ** (attempt - 1) * (1 + jitter)
    note = None
    if retry_after is not None:
        asked = seconds_asked(retry_after, now)
        if asked is None:
            note = f"unreadable Retry-After {retry_after[:40]!r}"
        elif asked > LONGEST_WAIT:
            return Decision(outcome, None, f"the host asked for {asked:.0f} s, over the limit of {LONGEST_WAIT:.0f} s")
        else:
            wait = asked
    return Decision(outcome, wait, note)


def seconds_asked(retry_after: str, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, never negative, rounded up; None when unreadable.

    Both forms of RFC 9110 section 10.2.3 are read, and a fraction, as some hosts send it.
    """
    text = retry_after.strip()
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        value = float(text)
        return float(math.ceil(value)) if math.isfinite(value) else math.inf
    try:
        instant = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return max(0.0, float(math.ceil((instant - now).total_seconds())))
