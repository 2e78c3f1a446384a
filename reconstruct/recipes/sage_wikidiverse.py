"""SAGE's entities: a mention of WikiDiverse's test set, and ten pictures of entities.

Gold: the page image of the entity that the mention is linked to. Negatives: the page images of the other
entities that were retrieved for it (`hard`), then of entities of other rows (`random`). No picture stands for
two candidates, and none but the gold is one of the linked entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import Any

from hannun.reconstruct.rank import rank, ranked
from hannun.reconstruct.recipes.wikidiverse_entities import Entity, EntityImage, EntityImages
from hannun.reconstruct.recipes.wikidiverse_mentions import Mention, read_mentions
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Drop, Planned

VERSION = 1
GOLDS = ("linked", "retrieved")
"""Rows to take: all that are linked to an entity, or only those whose entity was retrieved too."""

OPTIONS: Mapping[str, int | tuple[str, ...]] = {"seed": 1, "wikidiverse.gold": GOLDS}

_SPARES = {"hard": 2, "random": 4}


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:  # noqa: ARG001
    """Rows, images and drops of the test set.

    Raises
    ------
    InputError
        A file is not of the official layout; the message names file and row.
    """
    mentions = read_mentions(sources["wikidiverse-candidates"])
    pool = _Pool(mentions, sources["wikidiverse-entity-images"])
    rows: list[Instance] = []
    dropped: list[Drop] = []
    used: set[tuple[str, tuple[int, int]]] = set()
    for mention in mentions:
        made = _instance(mention, pool, options)
        if isinstance(made, Instance) and (made.context, made.target_span) in used:
            made = "sentence and mention of an earlier row"
        if isinstance(made, str):
            dropped.append(Drop(_id(mention), made))
            continue
        used.add((made.context, made.target_span))
        rows.append(made)
    needed = sorted({c.image_id for row in rows for c in (*row.candidates, *row.spares)})
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(LockEntry(image_id, (pool.locations[image_id],)) for image_id in needed),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
        baselines=form_baselines(row.to_json() for row in rows),
    )


class _Pool:
    """The page images of all entities of the file, linked or retrieved."""

    def __init__(self, mentions: Iterable[Mention], source: Source) -> None:
        entities = {each for mention in mentions for each in (*mention.retrieved, mention.linked) if each is not None}
        self._listed = EntityImages(source, {each.key for each in entities})
        self.locations: dict[str, str] = {}
        self._by_key: dict[str, set[str]] = defaultdict(set)
        for each in entities:
            image = self.of(each)
            if isinstance(image, EntityImage):
                self._by_key[each.key].add(image.image_id)
                known = self.locations.get(image.image_id, image.location)
                self.locations[image.image_id] = min(known, image.location)

    def of(self, entity: Entity) -> EntityImage | str:
        """The entity's page image, or why there is none."""
        return self._listed.of(entity)

    def without(self, entities: Iterable[Entity]) -> set[str]:
        """Image ids that stand for none of the entities."""
        return set(self.locations).difference(*(self._by_key.get(each.key, ()) for each in entities))


def _instance(mention: Mention, pool: _Pool, options: Mapping[str, Any]) -> Instance | str:
    """The instance of a mention, or why it gives none."""
    if mention.linked is None:
        return "nil"
    if mention.span is None:
        return "the mention does not stand in its sentence"
    if options["wikidiverse.gold"] == "retrieved" and mention.linked.key not in {e.key for e in mention.retrieved}:
        return "the entity was not retrieved"
    gold = pool.of(mention.linked)
    if isinstance(gold, str):
        return f"gold {gold}"
    seed, item = options["seed"], str(mention.row)
    others = [each for each in mention.retrieved if each.key != mention.linked.key]
    retrieved = {image.image_id for image in map(pool.of, others) if isinstance(image, EntityImage)} - {gold.image_id}
    hard = ranked(seed, "hard", item, retrieved)
    of_hard = min(len(hard), CANDIDATES - 1)
    of_random = CANDIDATES - 1 - of_hard
    # The first ones of thousands, for each row: sorting all of them would take most of the time.
    random = nsmallest(
        of_random + _SPARES["random"],
        pool.without([*others, mention.linked]) - {gold.image_id},
        key=lambda picture: (rank(seed, "random", item, picture), picture),
    )
    if len(random) < of_random:
        return "fewer than ten retrieved entities have an image, and too few random ones are left"
    kinds = {gold.image_id: "gold"}
    kinds |= dict.fromkeys(hard[:of_hard], "hard") | dict.fromkeys(random[:of_random], "random")
    placed = ranked(seed, "place", item, kinds)
    spares = [(each, "hard") for each in hard[of_hard:][: _SPARES["hard"]]]
    spares += [(each, "random") for each in random[of_random:]]
    target = mention.sentence[slice(*mention.span)]
    return Instance(
        id=_id(mention),
        split="test",
        context=mention.sentence,
        target=target,
        target_span=mention.span,
        candidates=tuple(Candidate(each, kinds[each]) for each in placed),
        label=placed.index(gold.image_id),
        spares=tuple(Candidate(*each) for each in spares),
        source={
            "row": mention.row,
            "lemma": target,
            "sense": mention.linked.title,
            "gloss": None,
            "caption_id": None,
            "image": None,
            "rule": mention.rule,
            "neutralization": None,
        },
    )


def _id(mention: Mention) -> str:
    return f"sage/wikidiverse/{mention.row}"
