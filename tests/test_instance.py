from __future__ import annotations

from typing import Any

import pytest
from hannun.schemas.instance import Instance
from hannun.schemas.invariants import set_violations, violations
from hypothesis import given
from hypothesis import strategies as st


def instance(label: int = 4, item: str = "bae-1", config: str = "original", **changes: Any) -> dict[str, Any]:
    kinds = ["hard", "near", "random"] * 3
    ids = [f"p:{item}-{n}" for n in range(10)]
    kinds.insert(label, "gold")
    row = {
        "id": f"kona/{config}/{item}",
        "split": "test",
        "context": f"{item} 배가 고프다",
        "target": "배",
        "target_span": [len(item) + 1, len(item) + 2],
        "candidates": [{"image_id": i, "kind": k} for i, k in zip(ids, kinds, strict=True)],
        "label": label,
        "spares": [{"image_id": f"p:{item}-s", "kind": "random"}],
        "source": {"item": item, "noun": item.partition("-")[0]},
    }
    return {**row, **changes}


def rules(row: dict[str, Any]) -> list[str]:
    return [each.rule for each in violations(row)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(list(instance())), json_values), max_size=4))
def test_no_json_breaks_the_judging(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        violations(row)
        violations({**instance(), **row})
    set_violations(rows, split_by="source.noun", share_by="source.item")
    set_violations([{**instance(), **row} for row in rows], split_by="source.noun", share_by="source.item")


@given(st.integers(0, 9))
def test_a_good_instance_breaks_nothing(label: int) -> None:
    row = instance(label)
    assert violations(row) == []
    assert Instance.from_json(row).to_json() == row
    assert Instance.from_json(row).gold == f"p:bae-1-{label}"


def test_each_break_is_named() -> None:
    good = instance()
    nine = good["candidates"][:9]
    twice = [*good["candidates"][:9], good["candidates"][0]]
    gold_twice = [
        {**c, "image_id": good["candidates"][4]["image_id"]} if n == 8 else c for n, c in enumerate(good["candidates"])
    ]
    no_gold = [{**c, "kind": "near"} for c in good["candidates"]]
    assert rules({**good, "candidates": nine}) == ["candidate-count"]
    assert rules({**good, "candidates": twice}) == ["duplicate-candidate"]
    assert "gold twice" in violations({**good, "candidates": gold_twice})[0].message
    assert rules({**good, "candidates": no_gold}) == ["gold-count"]
    assert rules({**good, "label": 3}) == ["wrong-label"]
    for out_of_range in (10, -1, 99, True, "4", 4.0):
        assert rules({**good, "label": out_of_range}) == ["label-range"]
    assert rules({**good, "target_span": [0, 1]}) == ["span-target"]
    assert rules({**good, "target_span": [3, 999]}) == ["span-range"]
    assert rules({**good, "target_span": [7, 7]}) == ["span-range"]
    assert rules({**good, "spares": [{**good["candidates"][0]}]}) == ["spare-in-use"]
    assert rules({**good, "spares": [{"image_id": "p:x", "kind": "gold"}]}) == ["spare-gold"]
    assert "text-not-nfc" in rules({**good, "context": "\u1107\u1162"})


def test_plain_candidates_with_a_named_gold_are_judged_too() -> None:
    row = {"id": 7, "candidates": [f"n{n}" for n in range(10)], "label": 2, "gold": "n2"}
    assert violations(row) == []
    assert rules({**row, "gold": "other"}) == ["wrong-label"]
    assert rules({**row, "gold": "other", "label": None}) == ["label-range", "gold-absent"]
    assert rules({**row, "label": None}) == ["label-range"]
    assert rules({**row, "label": 5}) == ["wrong-label"]


def many(labels: list[int], **changes: Any) -> list[dict[str, Any]]:
    return [instance(label, item=f"noun{n}-1", **changes) for n, label in enumerate(labels)]


@pytest.mark.parametrize("place", [0, 9, 5])
def test_a_gold_always_at_one_place_is_found(place: int) -> None:
    found = [each for each in set_violations(many([place] * 30)) if each.rule == "gold-spread"]
    assert f"gold index is {place} in 30 of 30" in [each.message for each in found]


def test_a_place_that_never_holds_the_gold_is_found() -> None:
    found = set_violations(many([n % 9 for n in range(900)]))
    assert [each.message for each in found] == ["gold index is 9 in only 0 of 900"]


@given(st.lists(st.integers(0, 9), max_size=60))
def test_only_what_chance_would_not_do_is_called_uneven(labels: list[int]) -> None:
    uneven = any(each.rule == "gold-spread" for each in set_violations(many(labels)))
    most = max((labels.count(place) for place in range(10)), default=0)
    if most <= len(labels) / 10 + 3:
        assert not uneven
    if len(labels) >= 12 and most == len(labels):
        assert uneven


def test_wordings_of_an_item_share_everything_but_their_words() -> None:
    one, other = instance(), instance(config="explicit", context="bae-1 배 한 척")
    other["target_span"] = [6, 7]
    assert set_violations([one, other], share_by="source.item") == []
    moved = {**other, "candidates": other["candidates"][::-1], "label": 5}
    found = set_violations([one, moved], share_by="source.item")
    assert [(each.rule, each.field, each.row_id) for each in found] == [
        ("unshared", "candidates", "kona/explicit/bae-1"),
        ("unshared", "label", "kona/explicit/bae-1"),
    ]
    # The gold of an item counts once, not once for each wording.
    repeated = [instance(3, config=config) for config in ("original", "explicit", "neutralized") * 5]
    assert not [each for each in set_violations(repeated, share_by="source.item") if each.rule == "gold-spread"]


def test_splits_share_no_noun_ids_are_unique_contexts_differ() -> None:
    test, validation = instance(item="bae-1"), instance(item="bae-2", split="validation")
    assert [each.rule for each in set_violations([test, validation], split_by="source.noun")] == ["split-overlap"]
    assert set_violations([test, {**validation, "split": "test"}], split_by="source.noun") == []
    assert "duplicate-id" in [each.rule for each in set_violations([test, dict(test)])]
    same = {**instance(item="bae-3"), "context": test["context"]}
    assert [each.rule for each in set_violations([test, same])] == ["duplicate-context"]
