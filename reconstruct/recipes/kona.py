"""KoNA: ten pictures, one right, for a Korean noun with several senses that can be drawn.

Gold: a picture that shows the query's sense. Negatives: pictures of the noun's other senses (`hard`, at
most four), pictures of the gold's own kind (`near`, at most three) and others (`random`); near and
random ones stand for no sense of the noun. Nothing that one could take for the gold is a candidate,
nor anything that the query itself excludes. The picture styles hold the same instances in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from hannun.reconstruct.location import Package
from hannun.reconstruct.rank import ranked
from hannun.reconstruct.recipes.kona_tables import (
    WORDINGS,
    Picture,
    Query,
    Tables,
    overlap,
    picture_files,
    read_tables,
    unmarked,
)
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import expected_hits, form_baselines
from hannun.schemas.catalogue import Benchmark, SourceEntry
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.licence import Licence
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Drop, Planned

VERSION = 1
STYLES = ("twemoji", "noto")
"""Ways to draw the pictures, the default first."""

OPTIONS = {"seed": 1, "images": STYLES}

_HARD, _NEAR = 4, 3
_SPARES = {"hard": 2, "near": 2, "random": 4}


@dataclass(frozen=True)
class _Style:
    """One way to draw the pictures, and how it names things: image ids, configs, files, licence."""

    name: str
    suffix: str
    index: SourceEntry
    licence: Licence

    def image_id(self, picture: str) -> str:
        return f"{self.name}:{picture}"

    def location(self, path: str) -> str:
        if self.index.distribution is not None:
            return str(Package(self.index.distribution, path))
        return f"{self.index.address}{path}"


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:
    """Rows, images and drops of KoNA.

    Raises
    ------
    InputError
        A table contradicts itself or another one; the message names file, line and rule.
    """
    tables = read_tables(sources)
    style = _style(benchmark, options["images"])
    files = picture_files(sources[style.index.name])
    rows: list[Instance] = []
    items: list[tuple[Query, Instance]] = []
    dropped: list[Drop] = []
    for query in tables.queries:
        chosen = choose(tables, query, options["seed"])
        if isinstance(chosen, Drop):
            dropped.append(chosen)
            continue
        of_query = [_instance(style, query, wording, chosen) for wording in WORDINGS]
        rows += of_query
        items.append((query, of_query[0]))
    used = {c.image_id.partition(":")[2] for row in rows for c in (*row.candidates, *row.spares)}
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(_lock_entry(style, picture, files, sources[style.index.name].where) for picture in sorted(used)),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
        baselines=_baselines(tables, items),
    )


@dataclass(frozen=True)
class Chosen:
    """Pictures and the kind of each: the ten candidates in order, and the spares."""

    candidates: tuple[tuple[str, str], ...]
    spares: tuple[tuple[str, str], ...]


def choose(tables: Tables, query: Query, seed: int) -> Chosen | Drop:
    """The pictures of a query, or why there are too few."""
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
    spares = tuple((key, name) for name, pool in pools.items() for key in pool[taken[name] :][: _SPARES[name]])
    return Chosen(tuple((key, picked[key]) for key in placed), spares)


def _hard(allowed: list[Picture], senses: frozenset[str], item: str, seed: int) -> list[str]:
    """Pictures of the noun's other senses, one of each sense before a second of any."""
    by_sense = [ranked(seed, "hard", item, (p.key for p in allowed if s in p.shows)) for s in sorted(senses)]
    first = ranked(seed, "hard", item, (pool[0] for pool in by_sense if pool))
    by_sense.sort(key=lambda pool: first.index(pool[0]) if pool else len(first))
    rounds = zip_longest(*by_sense)
    return list(dict.fromkeys(key for each in rounds for key in each if key is not None))


def _instance(style: _Style, query: Query, wording: str, chosen: Chosen) -> Instance:
    context, start, end = unmarked(query.wordings[wording])
    return Instance(
        id=f"kona/{wording}{style.suffix}/{query.item}",
        split=query.sense.split,
        context=context,
        target=context[start:end],
        target_span=(start, end),
        candidates=tuple(Candidate(style.image_id(key), kind) for key, kind in chosen.candidates),
        label=next(place for place, (_, kind) in enumerate(chosen.candidates) if kind == "gold"),
        spares=tuple(Candidate(style.image_id(key), kind) for key, kind in chosen.spares),
        source={
            "item": query.item,
            "noun": query.sense.noun,
            "sense": query.sense.key,
            "gloss": query.sense.gloss,
        },
    )


def _baselines(tables: Tables, items: list[tuple[Query, Instance]]) -> dict[str, float]:
    """What one scores without a picture: by form, by the context's words, by knowing which pictures show a sense."""
    golds = [row.label for _, row in items]
    shown = [[tables.pictures[c.image_id.partition(":")[2]] for c in row.candidates] for _, row in items]
    glosses = {key: sense.gloss for key, sense in tables.senses.items()}
    words = [
        [max((overlap(query.wordings["neutralized"], glosses[key]) for key in p.fits), default=0) for p in pictures]
        for (query, _), pictures in zip(items, shown, strict=True)
    ]
    prior = [[float(bool(each.shows)) for each in pictures] for pictures in shown]
    return {
        **form_baselines(row.to_json() for _, row in items),
        "text only, by words shared with a sense": expected_hits(words, golds),
        "any picture that shows a sense": expected_hits(prior, golds),
    }


def _style(benchmark: Benchmark, name: str) -> _Style:
    default = name == STYLES[0]
    licence = benchmark.image_licence if default else benchmark.licences[name]
    return _Style(name, "" if default else f"-{name}", benchmark.sources[f"{name}-index"], licence)


def _lock_entry(style: _Style, picture: str, files: Mapping[str, tuple[str, str, int]], where: str) -> LockEntry:
    if picture not in files:
        raise InputError(
            f"no {style.name} picture for {picture}",
            where=where,
            expected="a picture of the index",
            got=picture,
            todo="correct depictions.tsv",
        )
    path, sha256, size = files[picture]
    return LockEntry(
        image_id=style.image_id(picture),
        locations=(style.location(path),),
        digests={"sha256": sha256},
        bytes=size,
        format="PNG",
        licence=style.licence.for_lock(),
        attribution=style.licence.attribution,
    )
