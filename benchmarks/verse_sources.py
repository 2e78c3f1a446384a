"""Made sources of SAGE's verbs, in their true layout and size: annotations like VerSe's, captions like COCO's."""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from hannun.reconstruct.recipes.verb_forms import TABLE
from hannun.reconstruct.recipes.verse_coco import image_of
from hannun.schemas.table import parse_table

# VerSe: rows, those on images of TUHOI, those of sense -1, and of a hundred others how many have which sense.
ROWS, TUHOI_ROWS, SENSELESS_ROWS = 4_460, 1_188, 22
SENSES = {"1": 87, "2": 11, "3": 1, "4": 1}
# COCO of 2014: images, the highest of their numbers, captions of an image, words of a caption, share with a verb.
FOLDERS = {"train2014": 82_783, "val2014": 40_504}
HIGHEST, CAPTIONS, WORDS, WITH_VERB = 581_929, 5, 11, 0.6

HEADER = ("lemma", "image", "sense_chosen", "COCO/TUHOI")
NEXT = 1_000_000
"""What is added to the numbers of images with each repetition."""

FORMS: dict[str, list[str]] = defaultdict(list)
"""Each verb of VerSe with its forms."""
for entry in parse_table(TABLE.read_bytes(), str(TABLE), columns=("lemma", "form")).rows:
    FORMS[entry["lemma"]].append(entry["form"])

Row = tuple[str, ...]
"""What stands under the header."""


class Image(NamedTuple):
    """An image of COCO and the verbs that it is annotated with."""

    number: int
    folder: str
    verbs: tuple[str, ...]


def write_sources(folder: Path, rows: list[Row], images: list[Image], times: int) -> tuple[Path, ...]:
    """Write the sources, so many times over, and give the paths of the captions.

    A repetition has images of its own, which are annotated alike, and captions of its own.
    """
    repeated = (repetition(row, time) for time in range(times) for row in rows)
    write_table(folder / "annotations.csv", [HEADER, *repeated], ",")
    glosses = [(verb, sense, f"{verb} in sense {sense}") for verb in FORMS for sense in SENSES]
    write_table(folder / "senses.tsv", [("lemma", "sense_num", "definition"), *glosses], "\t")
    paths = {name: folder / f"captions_{name}.json" for name in FOLDERS}
    for name, path in paths.items():
        here = [image for image in images if image.folder == name]
        with path.open("w") as out:
            out.write('{"info": {"year": 2014}, "images": [')
            write_list(out, image_entries(here, times))
            out.write('], "licenses": [], "annotations": [')
            write_list(out, caption_entries(here, times, seed=name))
            out.write("]}")
    return tuple(paths.values())


def made_rows() -> list[Row]:
    """Annotations whose verbs and senses are as uneven as VerSe's."""
    rng = random.Random(1)
    verbs = rng.choices(list(FORMS), [rng.expovariate(1) for _ in FORMS], k=ROWS)
    senses = ["-1"] * SENSELESS_ROWS + rng.choices(list(SENSES), list(SENSES.values()), k=ROWS - SENSELESS_ROWS)
    rng.shuffle(senses)
    numbers = rng.sample(range(1, HIGHEST + 1), ROWS)
    images = [(f"ILSVRC2012_val_{number:08}.JPEG", "TUHOI") for number in numbers[:TUHOI_ROWS]]
    images += [(coco_name(rng.choice(list(FOLDERS)), number), "COCO") for number in numbers[TUHOI_ROWS:]]
    return [(verb, name, sense, of) for verb, sense, (name, of) in zip(verbs, senses, images, strict=True)]


def read_rows(path: Path) -> list[Row]:
    """The annotations of a file of VerSe."""
    with path.open(newline="") as stream:
        return [tuple(row) for row in csv.reader(stream)][1:]


def images_of(rows: list[Row]) -> list[Image]:
    """The images of COCO in the rows."""
    verbs: dict[tuple[str, int], list[str]] = defaultdict(list)
    for verb, name, *_ in rows:
        if image := image_of(name):
            verbs[image].append(verb)
    return [Image(number, folder, tuple(each)) for (folder, number), each in verbs.items()]


def all_of_coco(images: list[Image]) -> list[Image]:
    """These images and as many others as COCO has besides."""
    rng = random.Random(2)
    free = sorted(set(range(1, HIGHEST + 1)).difference(image.number for image in images))
    numbers = rng.sample(free, sum(FOLDERS.values()) - len(images))
    folders = rng.choices(list(FOLDERS), list(FOLDERS.values()), k=len(numbers))
    return images + [Image(number, folder, ()) for number, folder in zip(numbers, folders, strict=True)]


def coco_name(folder: str, number: int) -> str:
    return f"COCO_{folder}_{number:012}.jpg"


def repetition(row: Row, time: int) -> Row:
    verb, name, *rest = row
    name = re.sub(r"\d+(?=\.)", lambda found: f"{int(found[0]) + time * NEXT:0{len(found[0])}}", name)
    return verb, name, *rest


def write_table(path: Path, rows: Iterable[Row], delimiter: str) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out, delimiter=delimiter).writerows(rows)


def write_list(out: TextIO, entries: Iterable[dict[str, Any]]) -> None:
    """The inside of a JSON list, never held as a whole."""
    out.writelines(f"{', ' if place else ''}{json.dumps(entry)}" for place, entry in enumerate(entries))


def image_entries(images: list[Image], times: int) -> Iterator[dict[str, Any]]:
    for time, image in itertools.product(range(times), images):
        number = image.number + time * NEXT
        name = coco_name(image.folder, number)
        yield {
            "license": number % 8 + 1,
            "file_name": name,
            "coco_url": f"http://images.cocodataset.org/{image.folder}/{name}",
            "height": 480,
            "width": 640,
            "date_captured": "2013-11-14 17:02:52",
            "flickr_url": f"http://farm7.staticflickr.com/6116/{number:010}_da26cf2c9e_z.jpg",
            "id": number,
        }


def caption_entries(images: list[Image], times: int, seed: str) -> Iterator[dict[str, Any]]:
    """Captions of words and verbs by Zipf's law; every caption of an annotated image holds one of its verbs."""
    rng = random.Random(seed)
    words, verbs = vocabulary(), list(FORMS)
    of_words, of_verbs = zipf(len(words)), zipf(len(verbs))
    # The captions of an image are far from each other, as in COCO's files.
    order = itertools.product(range(times), range(CAPTIONS), images)
    for number, (time, place, image) in enumerate(order, 1):
        text = rng.choices(words, cum_weights=of_words, k=WORDS)
        verb = None
        if image.verbs:
            verb = image.verbs[place % len(image.verbs)]
        elif rng.random() < WITH_VERB:
            verb = rng.choices(verbs, cum_weights=of_verbs)[0]
        if verb is not None:
            text[rng.randrange(WORDS)] = rng.choice(FORMS[verb])
        caption = " ".join(text).capitalize() + "."
        yield {"image_id": image.number + time * NEXT, "id": number, "caption": caption}


def vocabulary() -> list[str]:
    """Some 20,000 made words, short ones first, none of which is a form of a verb."""
    syllables = ["".join(letters) for letters in itertools.product("bdfgklmnprstvwz", "aeiou", "bdgklmnprst")]
    longer = map("".join, itertools.product(syllables, syllables[::33]))
    forms = {form for each in FORMS.values() for form in each}
    return [word for word in ("a", "on", "of", "the", *syllables, *longer) if word not in forms]


def zipf(count: int) -> list[float]:
    """Cumulative weights of so many things, each the rarer the later it comes."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))
