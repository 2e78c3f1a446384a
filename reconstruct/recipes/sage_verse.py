"""SAGE's verbs: a caption that uses a verb of VerSe, and ten COCO images, one of which shows the verb's sense.

An instance begins with an image of a verb in a sense, the paired image. Its caption is the context. Gold
is the paired image (`verse-original`) or another one of the same verb and sense (`verse-spis` and its
neutralized wording). Negatives are images of the verb in another sense (`hard`), filled up with images
that have nothing to do with the verb (`random`). The three configs share instances, negatives and the
gold's place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from hannun.reconstruct.rank import first_ranked, ranked
from hannun.reconstruct.recipes.verb_forms import DO, VerbForms, words_of
from hannun.reconstruct.recipes.verse_coco import FOLDERS, TRAIN_2017, Caption, Coco, image_of, read_coco
from hannun.reconstruct.recipes.verse_tables import COCO, NO_SENSE, Annotation, read_annotations, read_glosses
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.plan import Drop, Planned

ORIGINAL, SPIS, NEUTRALIZED = "verse-original", "verse-spis", "verse-spis-neutralized"
PLACEHOLDER = "[VERB]"

VERSION = 1
OPTIONS: Mapping[str, int | tuple[str, ...]] = {
    "seed": 1,
    "verse.annotations": ("3.5k", "gold_all"),
    "verse.images": ("train2014+val2014", "val2014"),
    "verse.placeholder": (PLACEHOLDER, DO),
}

_SPARES = {"hard": 2, "random": 4}
_POOL = 256
"""Of more pictures of a kind than this for a verb, the first by rank of the verb: so that time grows with the
number of images and not with its square."""


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:
    """Rows, images and drops of one config.

    Raises
    ------
    InputError
        A source is not what it should be, or contradicts another; the message names file and line.
    """
    _refuse_other_annotations(benchmark, sources["verse-annotations"], options["verse.annotations"])
    annotations = read_annotations(sources["verse-annotations"])
    glosses = read_glosses(sources["verse-senses"])
    of_coco = [source for key, source in sorted(sources.items()) if key.partition(".")[0] == "coco-captions"]
    coco = read_coco(of_coco, (each.image for each in annotations))
    forms = VerbForms(sources["verb-forms"])
    verse = Verse(annotations, coco, forms, str(options["verse.images"]), options["seed"])
    made = [config.name for config in benchmark.configs if config.name in (ORIGINAL, SPIS, NEUTRALIZED)]
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
        wordings = _wordings(chosen, forms, options["verse.placeholder"])
        asked = {(text, span) for text, span, _ in (wordings[SPIS], _masked(chosen, forms, PLACEHOLDER))}
        if asked & questions:
            # Whatever the config, so that all hold the same instances, and each of them every context once.
            dropped.append(Drop(item, "its context, or what masking leaves of it, is that of another row"))
            continue
        questions |= asked
        rows += [_instance(config, chosen, wordings[config], glosses) for config in made]
    used = {image_id for row in rows for image_id in row.image_ids}
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(coco.lock_entry(_number(image_id)) for image_id in sorted(used)),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
        baselines=form_baselines(row.to_json() for row in rows),
    )


class Verse:
    """VerSe's images by verb and sense, within the pool of images that the options state."""

    def __init__(self, annotations: list[Annotation], coco: Coco, forms: VerbForms, images: str, seed: int) -> None:
        self.coco = coco
        self.forms = forms
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
        self._pools: dict[tuple[str, tuple[str, ...]], list[str]] = {}

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
        return self._pool("gold", (lemma, sense), lambda: self._of_sense[lemma][sense])

    def hard(self, lemma: str, sense: str) -> list[str]:
        """Images of the verb in other senses, without those that also show this one."""
        return self._pool("hard", (lemma, sense), lambda: self._in_other_senses(lemma, sense))

    def random(self, lemma: str) -> list[str]:
        """Images that are not annotated with the verb and none of whose captions holds a form of it.

        Nor a word made of one, as paintings of paint: it may show what the verb says.
        """
        return self._pool("random", (lemma,), lambda: self._without(lemma))

    def _pool(self, kind: str, of: tuple[str, ...], images: Callable[[], Iterable[str]]) -> list[str]:
        """The first images of a kind for a verb, or a verb in a sense; looked for once."""
        if (kind, of) not in self._pools:
            self._pools[kind, of] = first_ranked(self.seed, kind, "-".join(of), images(), _POOL)
        return self._pools[kind, of]

    def _in_other_senses(self, lemma: str, sense: str) -> set[str]:
        others = (images for other, images in self._of_sense[lemma].items() if other != sense)
        return set[str]().union(*others) - self._of_sense[lemma][sense]

    def _without(self, lemma: str) -> Iterator[str]:
        barred = self._of_verb[lemma] | self._holding[lemma]
        return (image_id for image_id in self._captioned if image_id not in barred)

    @cached_property
    def _captioned(self) -> dict[str, list[Caption]]:
        """Captions by image id, of the pool's images that have any."""
        folders, image_id = self.coco.folders, self.coco.image_id
        return {
            image_id(number): captions
            for number, captions in self.coco.captions.items()
            if captions and folders.get(number) in self._folders
        }

    @cached_property
    def _holding(self) -> dict[str, set[str]]:
        """The pool's images whose captions hold a form of a verb or a word made of one, for each verb."""
        holding: dict[str, set[str]] = defaultdict(set)
        verbs_of = cache(self.forms.verbs_of)
        for image_id, captions in self._captioned.items():
            words = words_of(" ".join(caption.text for caption in captions))
            for lemmas in filter(None, map(verbs_of, words)):
                for lemma in lemmas:
                    holding[lemma].add(image_id)
        return holding


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
    found = context_of(captions, lemma, verse.forms)
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


def context_of(captions: Iterable[Caption], lemma: str, forms: VerbForms) -> tuple[Caption, str] | None:
    """The caption that becomes the context, and the rule that chose it; None where none holds the verb."""
    holding = [(caption, len(forms.places(caption.text, lemma))) for caption in captions]
    one = next((caption for caption, count in holding if count == 1), None)
    if one is not None:
        return one, "one form"
    several = next((caption for caption, count in holding if count), None)
    return None if several is None else (several, "several forms")


_Wording = tuple[str, tuple[int, int], str | None]
"""A context, the span of its target, and the rule of neutralization that was used, if any."""


def _wordings(chosen: Chosen, forms: VerbForms, placeholder: str) -> dict[str, _Wording]:
    """The wording of each config; the target is the first form of the verb, or its placeholder."""
    plain = chosen.caption.text, forms.places(chosen.caption.text, chosen.annotation.lemma)[0], None
    return {ORIGINAL: plain, SPIS: plain, NEUTRALIZED: _masked(chosen, forms, placeholder)}


def _masked(chosen: Chosen, forms: VerbForms, placeholder: str) -> _Wording:
    text, spans, rule = forms.neutralized(chosen.caption.text, chosen.annotation.lemma, placeholder)
    return text, spans[0], rule


def _instance(config: str, chosen: Chosen, wording: _Wording, glosses: Mapping[tuple[str, str], str]) -> Instance:
    lemma, sense = chosen.annotation.lemma, chosen.annotation.sense
    context, span, neutralization = wording
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


def _number(image_id: str) -> int:
    return int(image_id.rpartition("/")[2])
