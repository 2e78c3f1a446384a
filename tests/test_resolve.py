from __future__ import annotations

from collections.abc import Sequence

import pytest
from hannun.reconstruct.resolve import FalseNegative, Policy, Substitution, resolve
from hannun.schemas.instance import Candidate, Instance
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome

GOLD, KINDS = 3, ("hard", "hard", "near", "gold", "near", "random", "random", "random", "random", "random")


def row(spares: Sequence[str] = ("s0", "s1", "s2")) -> Instance:
    return Instance(
        id="kona/original/a-1",
        split="test",
        context="배가 고프다",
        target="배",
        target_span=(0, 1),
        candidates=tuple(Candidate(f"c{n}", kind) for n, kind in enumerate(KINDS)),
        label=GOLD,
        spares=tuple(Candidate(name, "random") for name in spares),
        source={},
    )


def observed(missing: Sequence[str] = (), **outcomes: Outcome) -> dict[str, Observation]:
    """Every image exact, with bytes of its own, but for what is said."""
    seen = {}
    for name in [f"c{n}" for n in range(10)] + ["s0", "s1", "s2"]:
        if name in missing:
            continue
        outcome = outcomes.get(name, Outcome.EXACT)
        seen[name] = Observation(
            name, "x", outcome, "t", digests={"sha256": name}, pixels={"sha256": "p" + name, "decoder": "d"}
        )
    return seen


def same(seen: dict[str, Observation], one: str, other: str, *, pixels: bool = False) -> dict[str, Observation]:
    from dataclasses import replace

    change = {"pixels": seen[other].pixels} if pixels else {"digests": seen[other].digests}
    return {**seen, one: replace(seen[one], **change)}


DROP, SUBSTITUTE = Policy(), Policy(on_missing="substitute")
FALSE = Policy(on_missing="substitute", false_negatives="substitute")

CASES = [
    ("complete", observed(), DROP, list(range(10)), [], []),
    ("missing negative, drop", observed(["c5"]), DROP, None, [], []),
    ("missing negative", observed(["c5"]), SUBSTITUTE, [0, 1, 2, 3, 4, "s0", 6, 7, 8, 9], [(5, "s0", "pending")], []),
    ("gone negative", observed(c0=Outcome.GONE), SUBSTITUTE, ["s0", *range(1, 10)], [(0, "s0", "gone")], []),
    ("missing gold", observed(["c3"]), SUBSTITUTE, None, [], []),
    ("missing gold, drop", observed(["c3"]), DROP, None, [], []),
    ("two missing, in order", observed(["c8", "c1"]), SUBSTITUTE, [0, "s0", 2, 3, 4, 5, 6, 7, "s1", 9], [(1, "s0", "pending"), (8, "s1", "pending")], []),
    ("spare missing too", observed(["c1", "s0"]), SUBSTITUTE, [0, "s1", *range(2, 10)], [(1, "s1", "pending")], []),
    ("spares used up", observed(["c1", "c2", "c4", "c5"]), SUBSTITUTE, None, [], []),
    ("spares all missing", observed(["c1", "s0", "s1", "s2"]), SUBSTITUTE, None, [], []),
    ("equal bytes, reported", same(observed(), "c6", "c3"), SUBSTITUTE, list(range(10)), [], [("c6", "bytes")]),
    ("equal pixels, reported", same(observed(), "c6", "c3", pixels=True), DROP, list(range(10)), [], [("c6", "pixels")]),
    ("equal bytes, replaced", same(observed(), "c6", "c3"), FALSE, [*range(6), "s0", 7, 8, 9], [(6, "s0", "bytes")], [("c6", "bytes")]),
    ("spare equals gold", same(observed(["c1"]), "s0", "c3"), SUBSTITUTE, [0, "s1", *range(2, 10)], [(1, "s1", "pending")], []),
    ("negatives equal each other", same(observed(), "c6", "c7"), FALSE, list(range(10)), [], []),
    ("same pixels, not accepted", observed(c2=Outcome.SAME_PIXELS), DROP, None, [], []),
    ("same pixels, accepted", observed(c2=Outcome.SAME_PIXELS), Policy(accept=frozenset({Outcome.SAME_PIXELS})), list(range(10)), [], []),
    ("unverified", observed(c2=Outcome.UNVERIFIED), DROP, list(range(10)), [], []),
    ("unverified, locked", observed(c2=Outcome.UNVERIFIED), Policy(locked=True), None, [], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "policy", "built", "substituted", "false"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_built(
    seen: dict[str, Observation],
    policy: Policy,
    built: list[int | str] | None,
    substituted: list[tuple[int, str, str]],
    false: list[tuple[str, str]],
) -> None:
    result = resolve([row()], seen, policy)
    names = [[c.image_id for c in each.candidates] for each in result.rows]
    if built is None:
        assert names == []
        assert [each.id for each in result.dropped] == ["kona/original/a-1"]
        assert result.substitutions == ()
    else:
        assert names == [[f"c{n}" if isinstance(n, int) else n for n in built]]
        assert result.dropped == ()
        assert result.rows[0].label == GOLD
        assert result.rows[0].gold == "c3"
        used = {c.image_id for c in (*result.rows[0].candidates, *result.rows[0].spares)}
        assert len(used) == 10 + len(result.rows[0].spares)
    assert [(s.place, s.built) for s in result.substitutions] == [(place, to) for place, to, _ in substituted]
    assert all(why in s.why for s, (_, _, why) in zip(result.substitutions, substituted, strict=True))
    assert [f.image_id for f in result.false_negatives] == [image for image, _ in false]
    assert all(why in f.why for f, (_, why) in zip(result.false_negatives, false, strict=True))


def test_reasons_name_the_image_and_its_outcome() -> None:
    result = resolve([row()], observed(["c1", "s0", "s1", "s2"]), SUBSTITUTE)
    assert result.dropped[0].reason == "negative c1 is pending, and no spare is left"
    result = resolve([row()], observed(c3=Outcome.GONE), DROP)
    assert result.dropped[0].reason == "gold c3 is gone"
    result = resolve([row()], same(observed(), "c6", "c3"), FALSE)
    assert result.substitutions == (Substitution("kona/original/a-1", 6, "c6", "s0", "equal bytes to the gold's"),)
    assert result.false_negatives == (FalseNegative("kona/original/a-1", "c6", "equal bytes to the gold's"),)


def test_wordings_of_an_item_resolve_alike() -> None:
    from dataclasses import replace

    rows = [row(), replace(row(), id="kona/explicit/a-1", context="과일 배")]
    for _, seen, policy, *_ in CASES:
        result = resolve(rows, seen, policy)
        assert len({each.candidates for each in result.rows}) <= 1
        assert len(result.rows) in (0, 2)


def looking(phash: str, colour: str, kind: str = "JPEG") -> dict[str, object]:
    return {"likeness": {"phash": phash, "colour": colour * 48}, "format": kind}


@pytest.mark.parametrize(
    ("gold", "other", "reported"),
    [
        (looking("0" * 16, "10"), looking("0" * 15 + "7", "14"), "3 of 64 bits and 4 of 255"),
        (looking("0" * 16, "10"), looking("0" * 16, "10", "WEBP"), "0 of 64 bits and 0 of 255"),
        # Blue and red drops hash alike: colour tells them apart.
        (looking("0" * 16, "10"), looking("0" * 16, "80"), None),
        (looking("0" * 16, "10"), looking("f" * 16, "10"), None),
        # Drawings look alike by nature.
        (looking("0" * 16, "10"), looking("0" * 16, "10", "PNG"), None),
        (looking("0" * 16, "10"), {"format": "JPEG"}, None),
    ],
)
def test_photographs_that_look_like_the_gold_are_reported_and_stay(
    gold: dict[str, object], other: dict[str, object], reported: str | None
) -> None:
    from dataclasses import replace

    seen = observed()
    seen |= {"c3": replace(seen["c3"], **gold), "c6": replace(seen["c6"], **other)}
    result = resolve([row()], seen, FALSE)
    assert result.rows == (row(),)
    if reported is None:
        assert result.false_negatives == ()
    else:
        [found] = result.false_negatives
        assert (found.image_id, reported in found.why) == ("c6", True)


def test_a_set_without_spares_is_given_as_it_is() -> None:
    result = resolve([row(())], same(observed(), "c6", "c3"), FALSE)
    assert result.rows == (row(()),)
    assert [each.image_id for each in result.false_negatives] == ["c6"]
