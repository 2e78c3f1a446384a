"""From the facts of one reply to what it means: the whole table."""

from __future__ import annotations

import pytest
from hannun.reconstruct.decide import REDIRECTS, Failure, Follow, StartOver, Verdict, Whole, verdict
from hannun.reconstruct.reply import Fault, Reply, range_start, range_total
from hannun.schemas.outcome import Outcome
from hypothesis import given
from hypothesis import strategies as st

HTTP, HTTPS = "http://h.invalid/a.jpg", "https://h.invalid/d/a.jpg"


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        (Reply(HTTP, 200, declared=9, received=9), Whole()),
        (Reply(HTTP, 200, received=9), Whole()),
        (Reply(HTTP, 200, declared=9, received=4), Failure(Outcome.TRUNCATED, "4 of 9 bytes")),
        (Reply(HTTP, 204), Whole()),
        (Reply(HTTP, 404, "Not Found"), Failure(Outcome.GONE, "404 Not Found")),
        (Reply(HTTP, 403, "Forbidden"), Failure(Outcome.REFUSED, "403 Forbidden")),
        (Reply(HTTP, 429), Failure(Outcome.THROTTLED, "429")),
        (Reply(HTTP, 503, "Slow Down"), Failure(Outcome.THROTTLED, "503 Slow Down")),
        (Reply(HTTP, 520), Failure(Outcome.SERVER_ERROR, "520")),
        (Reply(HTTP, 302, location="b.jpg"), Follow("http://h.invalid/b.jpg")),
        (Reply(HTTPS, 308, location="../b.jpg"), Follow("https://h.invalid/b.jpg")),
        (Reply(HTTP, 307, location="//other.invalid/b"), Follow("http://other.invalid/b")),
        (Reply(HTTPS, 301, location="HTTP://h.invalid/b"), Failure(Outcome.REDIRECTED, "from https to http")),
        (Reply(HTTP, 302), Failure(Outcome.REDIRECTED, "302")),
        (Reply(HTTP, 304), Failure(Outcome.REDIRECTED, "304")),
        (Reply(HTTP, 206, asked_from=5, content_range="bytes 5-8/9", declared=4, received=4), Whole()),
        (Reply(HTTP, 206, asked_from=5, content_range="bytes 0-8/9"), StartOver("asked from byte 5, got bytes 0-8/9")),
        (Reply(HTTP, 206, asked_from=5), StartOver("asked from byte 5, got 206")),
        (Reply(HTTP, 416, asked_from=5), StartOver("asked from byte 5, got 416")),
        (Reply(HTTP, 416), Failure(Outcome.REFUSED, "416")),
        (
            Reply(HTTP, 206, asked_from=5, content_range="bytes 5-6/9", declared=2, received=2),
            Failure(Outcome.TRUNCATED, "7 of 9 bytes"),
        ),
        (
            Reply(HTTP, 200, asked_from=5, content_range="bytes 5-8/9", declared=4, received=4),
            StartOver("asked from byte 5, got bytes 5-8/9"),
        ),
        (
            Reply(HTTP, 200, content_range="bytes 5-8/9", declared=4, received=4),
            Failure(Outcome.TRUNCATED, "a part that nobody asked for: bytes 5-8/9"),
        ),
        (Reply(HTTP, 206, asked_from=5, content_range="bytes 5-8/*", received=4), Whole()),
        (Reply(HTTP, 200, asked_from=5, declared=9, received=9), Whole()),
        (Reply(HTTP, 206, received=9, content_range="bytes 0-8/9"), Whole()),
        (
            Reply(HTTP, 206, received=4, content_range="bytes 0-3/9"),
            Failure(Outcome.TRUNCATED, "a part that nobody asked for: bytes 0-3/9"),
        ),
        (Reply(HTTP, 206, received=4), Failure(Outcome.TRUNCATED, "a part that nobody asked for: unnamed")),
        (Reply(HTTP, fault=Fault.NO_HOST, note="no such name"), Failure(Outcome.UNREACHABLE, "no such name")),
        (Reply(HTTP, 200, fault=Fault.CONNECTION, note="reset"), Failure(Outcome.UNREACHABLE, "reset")),
        (Reply(HTTP, 200, fault=Fault.DEADLINE), Failure(Outcome.UNREACHABLE, None)),
        (Reply(HTTP, 200, fault=Fault.SHORT), Failure(Outcome.TRUNCATED, None)),
        (Reply(HTTP, 200, fault=Fault.TOO_LARGE), Failure(Outcome.TOO_LARGE, None)),
        (Reply(HTTP, fault=Fault.TLS), Failure(Outcome.TLS, None)),
        (Reply(HTTP, fault=Fault.UNSAFE), Failure(Outcome.UNSAFE_ADDRESS, None)),
        (Reply(HTTP, fault=Fault.MALFORMED), Failure(Outcome.MALFORMED_ADDRESS, None)),
        (Reply(HTTP, fault=Fault.PROTOCOL), Failure(Outcome.SERVER_ERROR, None)),
    ],
)
def test_what_a_reply_means(reply: Reply, meant: Verdict) -> None:
    assert verdict(reply, hops=0) == meant


def test_redirects_end() -> None:
    reply = Reply(HTTP, 302, location="/b")
    assert isinstance(verdict(reply, hops=REDIRECTS - 1), Follow)
    assert verdict(reply, hops=REDIRECTS) == Failure(Outcome.REDIRECTED, "more than 5 redirects")
    broken = Reply(HTTP, 302, location="http://[")
    assert isinstance(verdict(broken, hops=0), Failure)


@given(
    st.builds(
        Reply,
        address=st.sampled_from([HTTP, HTTPS]),
        status=st.none() | st.integers(100, 599),
        fault=st.none() | st.sampled_from(Fault),
        location=st.none() | st.text(max_size=20),
        content_range=st.none() | st.text(max_size=20) | st.just("bytes 1-2/3"),
        declared=st.none() | st.integers(0, 10),
        received=st.integers(0, 10),
        asked_from=st.integers(0, 3),
    ),
    st.integers(0, 6),
)
def test_every_reply_means_something(reply: Reply, hops: int) -> None:
    meant = verdict(reply, hops=hops)
    if reply.fault is not None:
        assert isinstance(meant, Failure)
    if isinstance(meant, Whole):
        assert 200 <= (reply.status or 0) < 300


@pytest.mark.parametrize(
    ("header", "start", "total"),
    [
        ("bytes 5-8/9", 5, 9),
        (" Bytes 0-0/1 ", 0, 1),
        ("bytes 5-8/*", 5, None),
        ("bytes */9", None, None),
        ("bytes 5-8", None, None),
        ("items 5-8/9", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_content_ranges(header: str | None, start: int | None, total: int | None) -> None:
    assert range_start(header) == start
    assert range_total(header) == total
