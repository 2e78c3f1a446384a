"""The record of the blind readings, and what the card says of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import hannun.reconstruct.recipes.kona
from hannun.reconstruct.recipes.kona_tables import read_tables
from hannun.reconstruct.source import open_sources
from hannun.schemas import catalogue
from hannun.schemas.table import parse_table

KONA = catalogue.benchmark("kona")
PATH = Path(hannun.reconstruct.recipes.kona.__file__).parents[1] / "kona" / "review.tsv"
COLUMNS = ("item", "round", "wording", "style", "verdict", "correction")
ROWS = parse_table(PATH.read_bytes(), str(PATH), columns=COLUMNS).rows
TABLES = read_tables(open_sources({name: KONA.sources[name] for name in KONA.sources if name.startswith("kona-")}, {}))


def last_verdicts() -> dict[tuple[str, str], dict[str, str]]:
    """(wording, style) -> item -> its verdict in the last round in which it was read."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in sorted(ROWS, key=lambda row: int(row["round"])):
        found.setdefault((row["wording"], row["style"]), {})[row["item"]] = row["verdict"]
    return found


def test_the_card_says_what_the_record_holds() -> None:
    verdicts = last_verdicts()
    for fact, key in zip(
        KONA.facts, [("original", "twemoji"), ("explicit", "twemoji"), ("explicit", "noto")], strict=True
    ):
        read = verdicts[key]
        assert set(read) == {query.item for query in TABLES.queries}
        assert fact["value"] == f"{Counter(read.values())['gold']} of {len(read)}"
        assert fact["where"] == "reconstruct/kona/review.tsv"
    assert "not people" in KONA.facts[0]["what"]


def test_the_promised_agreement_is_reached() -> None:
    verdicts = last_verdicts()
    for (wording, _), read in verdicts.items():
        share = Counter(read.values())["gold"] / len(read)
        assert share >= {"original": 0.95, "explicit": 0.98}[wording]


def test_whoever_did_not_choose_the_gold_was_answered() -> None:
    for row in ROWS:
        assert row["verdict"] == "gold" or row["verdict"] in TABLES.pictures
        assert row["verdict"] == "gold" or row["correction"] != "-"
