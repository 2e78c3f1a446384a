from __future__ import annotations

import xxhash
from hannun.reconstruct.rank import first_ranked, rank, ranked
from hypothesis import given
from hypothesis import strategies as st


def test_the_rank_is_the_stated_digest() -> None:
    expected = int.from_bytes(xxhash.xxh3_128_digest("2026\x1fgold\x1f배-1\x1f1f350".encode()), "big")
    assert rank(2026, "gold", "배-1", "1f350") == expected
    # Fixed for ever: plans of all versions must agree.
    pictures = ["1f34a", "1f34b", "1f34c", "1f347"]
    assert ranked(2026, "near", "bae-pear-1", pictures) == ["1f34a", "1f34b", "1f34c", "1f347"]


@given(st.sets(st.text(max_size=5), max_size=12), st.integers(), st.randoms())
def test_the_order_of_what_is_given_does_not_matter(pictures: set[str], seed: int, shuffler: object) -> None:
    shuffled = list(pictures)
    shuffler.shuffle(shuffled)
    assert ranked(seed, "r", "i", shuffled) == ranked(seed, "r", "i", sorted(pictures))


@given(st.sets(st.text(max_size=5), min_size=1, max_size=12))
def test_one_vanished_picture_moves_nothing_else(pictures: set[str]) -> None:
    order = ranked(7, "hard", "item", pictures)
    for gone in pictures:
        assert ranked(7, "hard", "item", pictures - {gone}) == [each for each in order if each != gone]


@given(st.sets(st.text(max_size=5), max_size=12), st.integers(0, 14))
def test_the_first_are_those_of_the_whole_order(pictures: set[str], count: int) -> None:
    assert first_ranked(7, "random", "item", iter(pictures), count) == ranked(7, "random", "item", pictures)[:count]
