"""SAGE's verbs: a caption that uses a verb of VerSe, and ten COCO images, one of which shows the verb's sense.

An instance begins with an image of a verb in a sense, the paired image. Its caption is the context. Gold
is the paired image (`verse-original`) or another one of the same verb and sense (`verse-spis` and its
neutralized wording). Negatives are images of the verb in another sense (`hard`), filled up with images
that have nothing to do with the verb (`random`). The three configs share instances, negatives and the
gold's place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hannun.reconstruct.rank import ranked
from hannun.reconstruct.recipes.verb_forms import forms_of, neutralized, places
from hannun.reconstruct.recipes.verse_coco import FOLDERS, TRAIN_2017, Caption, Coco, image_of, read_coco
from hannun.reconstruct.recipes.verse_tables import COCO, NO_SENSE, Annotation, read_annotations, read_glosses
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.plan import Drop, Planned

VERSION = 1
OPTIONS = {
    "seed": 1,
    "verse.annotations": ("3.5k", "gold_all"),
    "verse.images": ("train2014+val2014", "val2014"),
}

ORIGINAL, NEUTRALIZED = "verse-original", "verse-spis-neutralized"
PLACEHOLDER = "[VERB]"

_SPARES = {"hard": 2, "random": 4}
_POOL = 256
"""Of more pictures of a kind than this for a verb, the first by rank of the verb: so that time grows with the
number of images and not with its square."""
_WORD = re.compile(r"[^\W\d_]+")


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:
    """Rows, images and drops of one config.

    Raises
    ------
    InputError
        A source is not what it should be, or contradicts another; the message names file and line.
    """
    _refuse_other_annotations(benchmark, sources["verse-annotations"], options["verse.annotations"])
    annotations = read_annotations(sources["verse-annotations"])
    for each in annotations:
        if each.collection == COCO and image_of(each.image) is None:
            raise InputError(
                "not the name of a COCO image",
                where=sources["verse-annotations"].where,
                expected="COCO_val2014_000000000000.jpg, or train2014",
                got=each.image,
            )
    glosses = read_glosses(sources["verse-senses"])
    of_coco = [source for key, source in sorted(sources.items()) if key.partition(".")[0] == "coco-captions"]
    coco = read_coco(of_coco, (each.image for each in annotations))
    verse = Verse(annotations, coco, str(options["verse.images"]), options["seed"])
    rows: list[Instance] = []
    dropped: list[Drop] = []
    seen: set[Annotation] = set()
    questions: set[tuple[str, tuple[int, int]]] = set()
    for annotation, item in zip(annotations, verse.items, strict=True):
        chosen = Drop(item, "repeats another row") if annotation in seen else choose(verse, annotation, item)
        seen.add(annotation)
        if isinstance(chosen, Drop):
            dropped.append(chosen)
            continue
        asked = {(text, span) for text, span, _ in (_plain(chosen), _masked(chosen))}
        if asked & questions:
            # Whatever the config, so that all hold the same instances, and each of them every context once.
            dropped.append(Drop(item, "its context, or what masking leaves of it, is that of another row"))
            continue
        questions |= asked
        rows.append(_instance(benchmark.configs[0].name, chosen, glosses))
    used = {c.image_id for row in rows for c in (*row.candidates, *row.spares)}
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(coco.lock_entry(_number(image_id)) for image_id in sorted(used)),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
        baselines=form_baselines(row.to_json() for row in rows),
    )


class Verse:
    """VerSe's images by verb and sense, within the pool of images that the options state."""

    def __init__(self, annotations: list[Annotation], coco: Coco, images: str, seed: int) -> None:
        self.coco = coco
        self.seed = seed
        self.annotations = annotations
        self._folders = set(images.split("+"))
        if self._folders.issuperset(FOLDERS):
            # Which folder of 2014 an image of train2017 lies in is not known, but it lies in one.
            self._folders.add(TRAIN_2017)
        self._of_verb: dict[str, set[str]] = defaultdict(set)
        self._of_sense: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for each in annotations:
            image = image_of(each.image)
            if each.collection == COCO and image is not None:
                image_id = coco.image_id(image[1])
                self._of_verb[each.lemma].add(image_id)
                if image[0] in self._folders and each.sense != NO_SENSE:
                    self._of_sense[each.lemma][each.sense].add(image_id)
        self._pools: dict[tuple[str, ...], list[str]] = {}

    def has(self, annotation: Annotation) -> bool:
        """Whether the annotation's image lies in the pool."""
        image = image_of(annotation.image)
        return image is not None and image[0] in self._folders

    @cached_property
    def items(self) -> list[str]:
        """For each annotation its item: lemma and image, and the sense where the image has several of the verb."""
        senses: dict[tuple[str, str], set[str]] = defaultdict(set)
        for each in self.annotations:
            senses[each.lemma, each.image].add(each.sense)
        result = []
        for each in self.annotations:
            image = image_of(each.image)
            item = f"{each.lemma}-{each.image if image is None else image[1]}"
            several = len(senses[each.lemma, each.image]) > 1
            result.append(f"{item}-{each.sense}" if several else item)
        return result

    def same(self, lemma: str, sense: str) -> list[str]:
        """Images of the verb in the sense."""
        return self._pool("gold", lemma, sense, self._of_sense[lemma][sense])

    def hard(self, lemma: str, sense: str) -> list[str]:
        """Images of the verb in other senses, without those that also show this one."""
        others = set[str]().union(*(images for other, images in self._of_sense[lemma].items() if other != sense))
        return self._pool("hard", lemma, sense, others - self._of_sense[lemma][sense])

    def random(self, lemma: str) -> list[str]:
        """Images that are not annotated with the verb and none of whose captions holds a form of it."""
        if ("random", lemma) not in self._pools:
            holding = set[int]().union(*(self._holding(form) for form in forms_of(lemma)))
            free = (image_id for number, image_id in self._captioned.items() if number not in holding)
            self._pools["random", lemma] = self._first("random", lemma, set(free) - self._of_verb[lemma])
        return self._pools["random", lemma]

    def _pool(self, kind: str, lemma: str, sense: str, images: Iterable[str]) -> list[str]:
        key = (kind, lemma, sense)
        if key not in self._pools:
            self._pools[key] = self._first(kind, f"{lemma}-{sense}", images)
        return self._pools[key]

    def _first(self, kind: str, item: str, images: Iterable[str]) -> list[str]:
        return ranked(self.seed, kind, item, images, first=_POOL)

    @cached_property
    def _captioned(self) -> dict[int, str]:
        """Image ids by number of the pool's images that have captions."""
        folders, image_id = self.coco.folders, self.coco.image_id
        return {
            number: image_id(number)
            for number, captions in self.coco.captions.items()
            if captions and folders.get(number) in self._folders
        }

    @cached_property
    def _numbers_of_word(self) -> dict[str, set[int]]:
        """Numbers of the images whose captions hold a word, for each word in a form of a verb."""
        words = {word for each in self.annotations for form in forms_of(each.lemma) for word in _words(form)}
        numbers: dict[str, set[int]] = {word: set() for word in words}
        for number, captions in self.coco.captions.items():
            for word in words.intersection(*[_words(" ".join(caption.text for caption in captions))]):
                numbers[word].add(number)
        return numbers

    def _holding(self, form: str) -> set[int]:
        """Numbers of the images whose captions hold all words of a form: those that hold the form are among them."""
        return set.intersection(*(self._numbers_of_word[word] for word in _words(form)))


@dataclass(frozen=True)
class Chosen:
    """All that the configs share.

    `paired` is the caption's own image and `other` another one of its sense; negatives and spares have their
    kinds; `place` is the gold's among the ten.
    """

    item: str
    annotation: Annotation
    paired: str
    other: str
    caption: Caption
    rule: str
    negatives: tuple[tuple[str, str], ...]
    place: int
    spares: tuple[tuple[str, str], ...]


def choose(verse: Verse, annotation: Annotation, item: str) -> Chosen | Drop:
    """What an annotation gives, or why it gives nothing; the first reason in this order counts."""
    image = image_of(annotation.image)
    if annotation.collection != COCO or image is None:
        return Drop(item, "TUHOI: its images have neither public addresses nor captions")
    lemma, sense, seed = annotation.lemma, annotation.sense, verse.seed
    if sense == NO_SENSE:
        return Drop(item, "sense -1: no sense of the verb applies")
    if not verse.has(annotation):
        return Drop(item, "its image is not among verse.images")
    captions = verse.coco.captions.get(image[1])
    if not captions:
        return Drop(item, "no caption of the image is given")
    found = context_of(captions, lemma)
    if found is None:
        return Drop(item, "no caption holds a form of the verb")
    paired = verse.coco.image_id(image[1])
    others = [each for each in ranked(seed, "gold", item, verse.same(lemma, sense)) if each != paired]
    if not others:
        return Drop(item, "no other image shows the verb's sense")
    hard = [each for each in ranked(seed, "hard", item, verse.hard(lemma, sense)) if each != paired]
    random = ranked(seed, "random", item, verse.random(lemma))
    wanted = CANDIDATES - 1
    taken = {"hard": min(len(hard), wanted)}
    taken["random"] = wanted - taken["hard"]
    if len(random) < taken["random"]:
        return Drop(item, "too few negatives")
    pools = {"hard": hard, "random": random}
    negatives = {each: kind for kind, pool in pools.items() for each in pool[: taken[kind]]}
    order = ranked(seed, "place", item, ["gold", *negatives])
    return Chosen(
        item=item,
        annotation=annotation,
        paired=paired,
        other=others[0],
        caption=found[0],
        rule=found[1],
        negatives=tuple((each, negatives[each]) for each in order if each != "gold"),
        place=order.index("gold"),
        spares=tuple((each, kind) for kind, pool in pools.items() for each in pool[taken[kind] :][: _SPARES[kind]]),
    )


def context_of(captions: Iterable[Caption], lemma: str) -> tuple[Caption, str] | None:
    """The caption that becomes the context, and the rule that chose it; None where none holds the verb."""
    holding = [(caption, len(places(caption.text, lemma))) for caption in captions]
    one = next((caption for caption, forms in holding if forms == 1), None)
    if one is not None:
        return one, "one form"
    several = next((caption for caption, forms in holding if forms), None)
    return None if several is None else (several, "several forms")


def _plain(chosen: Chosen) -> tuple[str, tuple[int, int], None]:
    """The context and the span of its first form of the verb."""
    return chosen.caption.text, places(chosen.caption.text, chosen.annotation.lemma)[0], None


def _masked(chosen: Chosen) -> tuple[str, tuple[int, int], str]:
    """The context without the verb, the span of its first placeholder, and the rule that was used."""
    text, spans, rule = neutralized(chosen.caption.text, chosen.annotation.lemma, PLACEHOLDER)
    return text, spans[0], rule


def _instance(config: str, chosen: Chosen, glosses: Mapping[tuple[str, str], str]) -> Instance:
    lemma, sense = chosen.annotation.lemma, chosen.annotation.sense
    context, span, neutralization = _masked(chosen) if config == NEUTRALIZED else _plain(chosen)
    candidates = [Candidate(*each) for each in chosen.negatives]
    candidates.insert(chosen.place, Candidate(chosen.paired if config == ORIGINAL else chosen.other, "gold"))
    return Instance(
        id=f"sage/{config}/{chosen.item}",
        split="test",
        context=context,
        target=context[slice(*span)],
        target_span=span,
        candidates=tuple(candidates),
        label=chosen.place,
        spares=tuple(Candidate(*each) for each in chosen.spares),
        source={
            "row": None,
            "lemma": lemma,
            "sense": sense,
            "gloss": glosses.get((lemma, sense)),
            "caption_id": str(chosen.caption.number),
            "image": chosen.paired,
            "rule": chosen.rule,
            "neutralization": neutralization,
        },
    )


def _refuse_other_annotations(benchmark: Benchmark, source: Source, wanted: str) -> None:
    """A file that is the one of another `verse.annotations` was given by mistake."""
    for entry in benchmark.sources.values():
        named = entry.options.get("verse.annotations", wanted)
        if entry.name == source.name and named != wanted and entry.digest == source.digest:
            raise InputError(
                f"the file is that of verse.annotations={named}",
                where=source.where,
                expected=f"the one of verse.annotations={wanted}",
                got=source.digest,
                todo=f"add --set verse.annotations={named}, or give the other file",
            )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _number(image_id: str) -> int:
    return int(image_id.rpartition("/")[2])
