"""Outcomes: what became of one image. One list for code, reports and docs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Again(StrEnum):
    """Whether asking again can change the outcome."""

    DONE = "-"
    NO = "no"
    YES = "yes"
    LATER = "later"
    WHEN_THERE = "when there"


class Outcome(StrEnum):
    """What became of one image; listed best first, which is the order of `best`."""

    EXACT = "exact"
    UNVERIFIED = "unverified"
    SAME_PIXELS = "same-pixels"
    SIMILAR = "similar"
    DIFFERENT = "different"
    CHANGED = "changed"
    PLACEHOLDER = "placeholder"
    DAMAGED = "damaged"
    UNSUPPORTED_FORMAT = "unsupported-format"
    NOT_AN_IMAGE = "not-an-image"
    GONE = "gone"
    REFUSED = "refused"
    VARIANT_UNAVAILABLE = "variant-unavailable"
    REDIRECTED = "redirected"
    TLS = "tls"
    TOO_LARGE = "too-large"
    UNSAFE_ADDRESS = "unsafe-address"
    MALFORMED_ADDRESS = "malformed-address"
    NEEDS_PERSON = "needs-person"
    THROTTLED = "throttled"
    SERVER_ERROR = "server-error"
    UNREACHABLE = "unreachable"
    TRUNCATED = "truncated"
    PENDING = "pending"

    @property
    def meaning(self) -> str:
        return _TABLE[self].meaning

    @property
    def again(self) -> Again:
        return _TABLE[self].again

    @property
    def next_step(self) -> str:
        """What a person can do about it."""
        return _TABLE[self].next_step


@dataclass(frozen=True)
class _Row:
    meaning: str
    again: Again
    next_step: str


_D, _N, _Y = Again.DONE, Again.NO, Again.YES
_RUN_AGAIN = "run fetch again: it continues with this image"
_LOOK = "look at both pictures in the report; if the new one is right, lock DIR --replace IMAGE_ID"
_OTHER_PLACE = "give your own copy with --local NAME=DIR, or build without it"

_TABLE: dict[Outcome, _Row] = {
    Outcome.EXACT: _Row("bytes equal the lock", _D, "nothing"),
    Outcome.UNVERIFIED: _Row(
        "decodes; the lock holds no digest", _D, "share a completed lock (sage-reconstruct lock DIR)"
    ),
    Outcome.SAME_PIXELS: _Row("other bytes, equal pixels", _D, "accept it with --accept same-pixels"),
    Outcome.SIMILAR: _Row(
        "perceptual and thumbnail-colour distance within the stated threshold",
        _D,
        "look at it; accept with --accept similar",
    ),
    Outcome.DIFFERENT: _Row("decodes, and is another picture", _N, _LOOK),
    Outcome.CHANGED: _Row("bytes differ and nothing more can be told", _N, _LOOK),
    Outcome.PLACEHOLDER: _Row("one picture for many addresses of a host, or a single pixel", _N, _OTHER_PLACE),
    Outcome.DAMAGED: _Row("complete transfer, but the decoder fails", _N, _OTHER_PLACE),
    Outcome.UNSUPPORTED_FORMAT: _Row("a format that is not decoded (svg and the like)", _N, _OTHER_PLACE),
    Outcome.NOT_AN_IMAGE: _Row("html, json, nothing, or a pointer file", _N, _OTHER_PLACE),
    Outcome.GONE: _Row("not there any more", _N, _OTHER_PLACE),
    Outcome.REFUSED: _Row("the host refuses, or its policy does", _N, "read the host's reason"),
    Outcome.VARIANT_UNAVAILABLE: _Row("this size is not served any more", _N, _OTHER_PLACE),
    Outcome.REDIRECTED: _Row("redirected in a loop, too often, or to where it must not go", _N, _OTHER_PLACE),
    Outcome.TLS: _Row("the certificate is another host's, expired or untrusted", _N, _OTHER_PLACE),
    Outcome.TOO_LARGE: _Row("over the byte or pixel cap", _N, "raise --max-bytes or --max-pixels if you trust it"),
    Outcome.UNSAFE_ADDRESS: _Row(
        "scheme, or a private, loopback or link-local address", _N, "give your own copy with --local NAME=DIR"
    ),
    Outcome.MALFORMED_ADDRESS: _Row("cannot be repaired without guessing", _N, "correct the address in the source"),
    Outcome.NEEDS_PERSON: _Row("must be fetched by hand", Again.WHEN_THERE, "follow the note, then run fetch again"),
    Outcome.THROTTLED: _Row("429 or 503 until the budget ended", Again.LATER, "wait, then run fetch again"),
    Outcome.SERVER_ERROR: _Row("500, 502 or 504", _Y, _RUN_AGAIN),
    Outcome.UNREACHABLE: _Row("DNS, connect, reset, 408 or total deadline", _Y, _RUN_AGAIN),
    Outcome.TRUNCATED: _Row("the transfer ended short", _Y, _RUN_AGAIN),
    Outcome.PENDING: _Row("not tried yet", _Y, _RUN_AGAIN),
}


def outcomes_page() -> str:
    """All outcomes as Markdown, for the guide."""
    lines = [
        "# Outcomes",
        "",
        "What became of an image. The digest decides first; of several attempts the best counts, in this order.",
        "Built are: `exact`; `unverified`, unless `--locked`; `same-pixels` and `similar`, with `--accept`.",
        "Nothing else is.",
        "",
        "| outcome | meaning | ask again? | what to do |",
        "| --- | --- | --- | --- |",
        *(f"| `{each}` | {each.meaning} | {each.again.value} | {each.next_step} |" for each in Outcome),
    ]
    return "\n".join(lines) + "\n"


_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}

# What `--accept` may add to the defaults.
ACCEPTABLE = (Outcome.SAME_PIXELS, Outcome.SIMILAR)


def best(outcomes: list[Outcome]) -> Outcome:
    """The best of several attempts' outcomes; `pending` when there was none."""
    return min(outcomes, key=_ORDER.__getitem__, default=Outcome.PENDING)


def is_accepted(outcome: Outcome, *, accept: frozenset[Outcome] = frozenset(), locked: bool = False) -> bool:
    """Whether an image with this outcome may be built.

    `exact` always; `unverified` unless `locked`; `same-pixels` and `similar` only when named in `accept`.
    """
    if outcome is Outcome.EXACT:
        return True
    if outcome is Outcome.UNVERIFIED:
        return not locked
    return outcome in accept
