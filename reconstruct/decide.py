"""What a response means and what to do next: decided here, done elsewhere."""

from __future__ import annotations

import email.utils
import math
from dataclasses import dataclass
from datetime import UTC, datetime

from hannun.schemas.outcome import Again, Outcome

ATTEMPTS = 3
"""Tries of one address in one run, the first included."""
LONGEST_WAIT = 60.0
"""Seconds; a host that asks for more is left for a later run."""

_GONE = frozenset({404, 410})
_SERVER = frozenset({500, 502, 504})


@dataclass(frozen=True)
class Decision:
    """The outcome of one try, and the seconds to wait before the next; None means no next try."""

    outcome: Outcome
    wait: float | None
    note: str | None = None


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


def decide(outcome: Outcome, attempt: int, retry_after: str | None, now: datetime, jitter: float) -> Decision:
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
    """
    if outcome.again not in (Again.YES, Again.LATER) or attempt >= ATTEMPTS:
        return Decision(outcome, None)
    wait = 2.0 ** (attempt - 1) * (1 + jitter)
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
