"""KoNA: ten pictures, one right, for a Korean noun with several senses that can be drawn.

Gold: a picture that shows the query's sense. Negatives: pictures of the noun's other senses (`hard`, at
most four), pictures of the gold's own kind (`near`, at most three) and others (`random`); near and
random ones stand for no sense of the noun. Nothing that one could take for the gold is a candidate,
nor anything that the query itself excludes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from hannun.reconstruct.location import Package
from hannun.reconstruct.rank import ranked
from hannun.reconstruct.recipes.kona_tables import (
    WORDINGS,
    Picture,
    Query,
    Tables,
    picture_files,
    read_tables,
    unmarked,
)
from hannun.reconstruct.source import Source
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Drop, Planned

VERSION = 1
OPTIONS = {"seed": 1}

STYLE = "twemoji"

_HARD, _NEAR = 4, 3
_SPARES = {"hard": 2, "near": 2, "random": 4}


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:
    """Rows, images and drops of KoNA.

    Raises
    ------
    InputError
        A table contradicts itself or another one; the message names file, line and rule.
    """
    tables = read_tables(sources)
    files = picture_files(sources["twemoji-index"])
    rows: list[Instance] = []
    dropped: list[Drop] = []
    for query in tables.queries:
        chosen = choose(tables, query, options["seed"])
        if isinstance(chosen, Drop):
            dropped.append(chosen)
            continue
        candidates, spares = chosen
        rows.extend(_instance(benchmark, query, wording, candidates, spares) for wording in WORDINGS)
    used = {c.image_id.partition(":")[2] for row in rows for c in (*row.candidates, *row.spares)}
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(_lock_entry(benchmark, picture, files) for picture in sorted(used)),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
    )


def choose(tables: Tables, query: Query, seed: int) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]] | Drop:
    """The ten candidates in order and the spares, or why there are too few."""
    sense = query.sense
    golds = (p.key for p in tables.pictures.values() if sense.key in p.shows and p.key not in query.exclude)
    gold = next(iter(ranked(seed, "gold", query.item, golds)), None)
    if gold is None:
        return Drop(query.item, "no picture shows the sense")
    barred = query.exclude | tables.confusable.get(gold, frozenset()) | {gold}
    allowed = [p for p in tables.pictures.values() if p.key not in barred and sense.key not in p.fits]
    of_noun = tables.senses_of(sense.noun)
    others = [p for p in allowed if not p.fits & of_noun]
    kind = tables.pictures[gold].kind
    hard = _hard(allowed, of_noun - {sense.key}, query.item, seed)
    near = ranked(seed, "near", query.item, (p.key for p in others if p.kind == kind))
    random = ranked(seed, "random", query.item, (p.key for p in others if p.kind != kind))
    if not hard:
        return Drop(query.item, "no picture shows another sense of the noun")
    taken = {"hard": min(len(hard), _HARD), "near": min(len(near), _NEAR)}
    taken["random"] = CANDIDATES - 1 - taken["hard"] - taken["near"]
    if len(random) < taken["random"]:
        return Drop(query.item, "too few pictures stand for no sense of the noun")
    pools = {"hard": hard, "near": near, "random": random}
    picked = {gold: "gold"}
    for name, pool in pools.items():
        picked |= dict.fromkeys(pool[: taken[name]], name)
    placed = ranked(seed, "place", query.item, picked)
    spares = [(key, name) for name, pool in pools.items() for key in pool[taken[name] :][: _SPARES[name]]]
    return (
        tuple(Candidate(_image_id(key), picked[key]) for key in placed),
        tuple(Candidate(_image_id(key), name) for key, name in spares),
    )


def _hard(allowed: list[Picture], senses: frozenset[str], item: str, seed: int) -> list[str]:
    """Pictures of the noun's other senses, one of each sense before a second of any."""
    by_sense = [ranked(seed, "hard", item, (p.key for p in allowed if s in p.shows)) for s in sorted(senses)]
    first = ranked(seed, "hard", item, (pool[0] for pool in by_sense if pool))
    by_sense.sort(key=lambda pool: first.index(pool[0]) if pool else len(first))
    rounds = zip_longest(*by_sense)
    return list(dict.fromkeys(key for each in rounds for key in each if key is not None))


def _instance(
    benchmark: Benchmark,
    query: Query,
    wording: str,
    candidates: tuple[Candidate, ...],
    spares: tuple[Candidate, ...],
) -> Instance:
    context, start, end = unmarked(query.wordings[wording])
    return Instance(
        id=f"{benchmark.name}/{wording}/{query.item}",
        split=query.sense.split,
        context=context,
        target=context[start:end],
        target_span=(start, end),
        candidates=candidates,
        label=next(place for place, c in enumerate(candidates) if c.kind == "gold"),
        spares=spares,
        source={
            "item": query.item,
            "noun": query.sense.noun,
            "sense": query.sense.key,
            "gloss": query.sense.gloss,
        },
    )


def _lock_entry(benchmark: Benchmark, picture: str, files: Mapping[str, tuple[str, str, int]]) -> LockEntry:
    if picture not in files:
        raise InputError(
            f"no {STYLE} picture for {picture}",
            expected="a picture of the index",
            got=picture,
            todo="correct depictions.tsv",
        )
    path, sha256, size = files[picture]
    distribution = benchmark.sources["twemoji-index"].distribution
    return LockEntry(
        image_id=_image_id(picture),
        locations=(str(Package(distribution or "", path)),),
        digests={"sha256": sha256},
        bytes=size,
        format="PNG",
        licence=benchmark.image_licence.for_lock(),
        attribution=benchmark.image_licence.attribution,
    )


def _image_id(picture: str) -> str:
    return f"{STYLE}:{picture}"
