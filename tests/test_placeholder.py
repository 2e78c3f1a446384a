"""Placeholders: what a host sends in place of pictures that it does not have."""

from __future__ import annotations

from typing import Any

import pytest
from hannun.reconstruct.placeholder import MIN_ADDRESSES, placeholders
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from hypothesis import given
from hypothesis import strategies as st

DIGEST, OTHER = "a" * 64, "b" * 64


def got(image_id: str, location: str, sha256: str = DIGEST, **more: Any) -> Observation:
    facts = {"width": 300, "height": 200, "digests": {"sha256": sha256}, **more}
    return Observation(image_id, location, Outcome.UNVERIFIED, "2026-01-01T00:00:00Z", **facts)


def many(count: int, host: str = "https://h.example", **more: Any) -> list[Observation]:
    return [got(f"a:{n}", f"{host}/{n}.jpg", **more) for n in range(count)]


def test_one_picture_for_many_addresses_of_a_host() -> None:
    assert MIN_ADDRESSES == 5
    assert placeholders(many(4)) == set()
    assert placeholders([*many(5), got("a:9", "https://h.example/9.jpg", OTHER)]) == {f"a:{n}" for n in range(5)}
    # Neither two hosts with four each, nor five images of one address.
    assert placeholders([*many(4), *many(4, "https://other.example")]) == set()
    assert placeholders([got(f"a:{n}", "https://h.example/one.jpg") for n in range(9)]) == set()
    assert placeholders(many(5, "https://H.example:443")) == {f"a:{n}" for n in range(5)}
    assert placeholders([]) == set()


def test_one_picture_is_told_by_its_bytes_or_its_pixels() -> None:
    pixels = {"sha256": "c" * 64, "decoder": "Pillow 1"}
    varied = [got(f"a:{n}", f"https://h.example/{n}", f"{n:064}", pixels=pixels) for n in range(5)]
    assert placeholders(varied) == {f"a:{n}" for n in range(5)}
    assert placeholders([got(f"a:{n}", f"https://h.example/{n}", f"{n:064}") for n in range(9)]) == set()
    # The digest of some bytes is never that of some pixels.
    mixed = [*many(4), got("a:8", "https://h.example/8", OTHER, pixels={**pixels, "sha256": DIGEST})]
    assert placeholders(mixed) == set()
    assert placeholders([*many(5, pixels=pixels), *many(5)]) == {f"a:{n}" for n in range(5)}


@pytest.mark.parametrize("where", ["archive:zip!{}.jpg", "row:table!{}/image", "package:p!{}.png", "local:a!{}.jpg"])
def test_tables_and_archives_may_hold_a_picture_several_times(where: str) -> None:
    assert placeholders([got(f"a:{n}", where.format(n)) for n in range(9)]) == set()
    assert placeholders([got(f"a:{n}", "store") for n in range(9)]) == set()


def test_a_single_pixel_is_one_wherever_it_comes_from() -> None:
    pixel = got("a:1", "archive:zip!1.gif", width=1, height=1)
    assert placeholders([pixel, got("a:2", "https://h/2", width=1, height=2)]) == {"a:1"}


ATTEMPTS = st.lists(
    st.builds(
        lambda image, host, path, digest: got(f"a:{image}", f"https://{host}.example/{path}", digest * 64),
        st.integers(0, 30),
        st.sampled_from("gh"),
        st.integers(0, 8),
        st.sampled_from("ab"),
    ),
    max_size=60,
)


@given(ATTEMPTS, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_every_one_has_its_reason(attempts: list[Observation], random: Any) -> None:
    found = placeholders(iter(attempts))
    shuffled = list(attempts)
    random.shuffle(shuffled)
    assert placeholders(shuffled) == found

    def key(each: Observation) -> tuple[str, str]:
        return each.location.split("/")[2], each.digests["sha256"]

    addresses: dict[tuple[str, str], set[str]] = {}
    for each in attempts:
        addresses.setdefault(key(each), set()).add(each.location)
    assert found == {each.image_id for each in attempts if len(addresses[key(each)]) >= MIN_ADDRESSES}
