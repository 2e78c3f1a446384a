from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hannun.reconstruct.address import Unusable, check_address, unsafe_kind
from hannun.reconstruct.decide import LONGEST_WAIT, decide, outcome_of_status, seconds_asked
from hannun.schemas.outcome import Again, Outcome
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 1, 0, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, None), (206, None), (301, Outcome.REDIRECTED), (400, Outcome.REFUSED), (401, Outcome.REFUSED),
        (403, Outcome.REFUSED), (404, Outcome.GONE), (408, Outcome.UNREACHABLE), (410, Outcome.GONE),
        (429, Outcome.THROTTLED), (451, Outcome.REFUSED), (500, Outcome.SERVER_ERROR), (502, Outcome.SERVER_ERROR),
        (503, Outcome.THROTTLED), (504, Outcome.SERVER_ERROR), (507, Outcome.SERVER_ERROR),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, outcome: Outcome | None) -> None:
    assert outcome_of_status(status) is outcome


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("5", 5), ("1.2", 2), ("0", 0), (" 7 ", 7), ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0), ("Thursday, 01-Jan-26 00:00:30 GMT", 30), ("", None), ("soon", None),
        ("-5", None), ("1e3", None), ("٣", None), ("9" * 300, float(10**300 - 1)), ("9" * 400, float("inf")),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 1e9),
    ],
)  # fmt: skip
def test_retry_after_in_all_its_forms(header: str, seconds: float | None) -> None:
    got = seconds_asked(header, NOW)
    if seconds is not None and seconds > 1e6:
        assert got is not None
        assert got > 1e6
    else:
        assert got == seconds


@given(st.text())
def test_no_header_breaks_the_reading(header: str) -> None:
    got = seconds_asked(header, NOW)
    assert got is None or got >= 0


def test_what_cannot_change_is_not_asked_again() -> None:
    for outcome in Outcome:
        first = decide(outcome, 1, None, NOW, 0.0)
        assert (first.wait is not None) is (outcome.again in (Again.YES, Again.LATER))
        assert decide(outcome, 3, None, NOW, 0.0).wait is None


def test_waits_grow_and_a_hosts_wish_is_followed_up_to_the_limit() -> None:
    assert decide(Outcome.SERVER_ERROR, 1, None, NOW, 0.5).wait == 1.5
    assert decide(Outcome.SERVER_ERROR, 2, None, NOW, 0.5).wait == 3.0
    assert decide(Outcome.THROTTLED, 1, "9", NOW, 0.5).wait == 9
    too_long = decide(Outcome.THROTTLED, 1, "86400", NOW, 0.5)
    assert too_long.wait is None
    assert too_long.note == f"the host asked for 86400 s, over the limit of {LONGEST_WAIT:.0f} s"
    unreadable = decide(Outcome.THROTTLED, 1, "soon", NOW, 0.0)
    assert unreadable.wait == 1.0
    assert "soon" in str(unreadable.note)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "224.0.0.1",
        "100.64.0.1", "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::",
        "255.255.255.255", "192.0.2.1",
    ],
)  # fmt: skip
def test_inner_addresses_are_unsafe(address: str) -> None:
    assert unsafe_kind(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "208.80.154.240", "2620:0:861:ed1a::2:b"])
def test_public_addresses_are_not(address: str) -> None:
    assert unsafe_kind(address) is None


@pytest.mark.parametrize(
    ("address", "resolved", "outcome"),
    [
        ("https://h/a", ["8.8.8.8"], None),
        ("http://h:8080/a", ["8.8.8.8"], None),
        ("https://h/a", ["8.8.8.8", "10.0.0.1"], Outcome.UNSAFE_ADDRESS),
        ("http://2130706433/", ["127.0.0.1"], Outcome.UNSAFE_ADDRESS),
        ("file:///etc/passwd", [], Outcome.UNSAFE_ADDRESS),
        ("ftp://h/a", [], Outcome.UNSAFE_ADDRESS),
        ("https://user:pw@h/a", ["8.8.8.8"], Outcome.UNSAFE_ADDRESS),
        ("https:///a", [], Outcome.MALFORMED_ADDRESS),
        ("https://h:99999/a", [], Outcome.MALFORMED_ADDRESS),
        ("https://[::1/a", [], Outcome.MALFORMED_ADDRESS),
    ],
)
def test_addresses_are_checked_before_connecting(address: str, resolved: list[str], outcome: Outcome | None) -> None:
    def resolve(host: str, port: int) -> list[str]:
        return resolved

    if outcome is None:
        check_address(address, allow_private=False, resolve=resolve)
        return
    with pytest.raises(Unusable) as caught:
        check_address(address, allow_private=False, resolve=resolve)
    assert caught.value.outcome is outcome


def test_the_systems_own_resolver_knows_decimal_forms() -> None:
    for address in ("http://127.1/", "http://2130706433/", "http://[::1]/", "http://localhost/"):
        with pytest.raises(Unusable) as caught:
            check_address(address, allow_private=False)
        assert caught.value.outcome is Outcome.UNSAFE_ADDRESS
