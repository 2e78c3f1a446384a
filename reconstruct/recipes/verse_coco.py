"""COCO as VerSe needs it: what its images are called, where they live, their licences and their captions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hannun.reconstruct.archives.packed_texts import Wanted, packed_texts
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.strict_json import loads
from hannun.schemas.text import nfc

FOLDERS = ("train2014", "val2014")
"""COCO's folders of 2014, those of VerSe's images."""

TRAIN_2017 = "train2017"

_FILES = "COCO's captions_train2014.json and captions_val2014.json, or annotations_trainval2014.zip"
_CAPTIONS = Wanted(re.compile(r"captions_\w+\.json"), "captions_*.json of COCO")
_NAME_2014 = re.compile(r"COCO_(train2014|val2014)_(\d{12})\.jpg")
_ADDRESS_2017 = re.compile(r"/(train2017|val2017)/\d{12}\.jpg$")
# COCO of 2017 cut the images of 2014 anew and named them by number alone: val2017 is a part of val2014.
_FOLDER_OF_2017 = {"val2017": "val2014", TRAIN_2017: TRAIN_2017}
_HOSTS = ("https://s3.amazonaws.com/images.cocodataset.org", "http://images.cocodataset.org")

Licence = tuple[str | None, str, str]
"""SPDX identifier, name and address."""

_CC = "http://creativecommons.org/licenses"
_LICENCES: dict[int, Licence] = {
    1: ("CC-BY-NC-SA-2.0", "Attribution-NonCommercial-ShareAlike License", f"{_CC}/by-nc-sa/2.0/"),
    2: ("CC-BY-NC-2.0", "Attribution-NonCommercial License", f"{_CC}/by-nc/2.0/"),
    3: ("CC-BY-NC-ND-2.0", "Attribution-NonCommercial-NoDerivs License", f"{_CC}/by-nc-nd/2.0/"),
    4: ("CC-BY-2.0", "Attribution License", f"{_CC}/by/2.0/"),
    5: ("CC-BY-SA-2.0", "Attribution-ShareAlike License", f"{_CC}/by-sa/2.0/"),
    6: ("CC-BY-ND-2.0", "Attribution-NoDerivs License", f"{_CC}/by-nd/2.0/"),
    7: (None, "No known copyright restrictions", "http://flickr.com/commons/usage/"),
    8: (None, "United States Government Work", "http://www.usa.gov/copyright.shtml"),
}
"""COCO's own table, for files that lack it."""

_SPDX = {address: spdx for spdx, _, address in _LICENCES.values()}


class Caption(NamedTuple):
    """A caption with its white space made plain blanks; `number` is the annotation's id."""

    number: int
    text: str


@dataclass
class Coco:
    """What the captions files say, by the images' numbers, which are unique in all of COCO."""

    folders: dict[int, str] = field(default_factory=dict)
    captions: dict[int, list[Caption]] = field(default_factory=dict)
    licences: dict[int, Licence] = field(default_factory=dict)
    photographs: dict[int, str] = field(default_factory=dict)

    def image_id(self, number: int) -> str:
        return f"coco:{self.folders[number]}/{number:012d}"

    def lock_entry(self, number: int) -> LockEntry:
        folder, licence = self.folders[number], self.licences.get(number)
        name = f"COCO_{folder}_{number:012d}.jpg" if folder in FOLDERS else f"{number:012d}.jpg"
        return LockEntry(
            image_id=self.image_id(number),
            locations=tuple(f"{host}/{folder}/{name}" for host in _HOSTS),
            licence=None if licence is None else dict(zip(("spdx", "name", "url"), licence, strict=True)),
            # COCO names no photographers: this is how they are found.
            attribution=f"Flickr: {self.photographs[number]}" if number in self.photographs else None,
        )


def image_of(name: str) -> tuple[str, int] | None:
    """Folder and number of an image by its name of 2014; None for any other name."""
    found = _NAME_2014.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))


def read_coco(sources: Iterable[Source], names: Iterable[str]) -> Coco:
    """All captions files together; their order, and that of their lines, does not matter.

    Parameters
    ----------
    sources
        COCO's captions: JSON, or an archive that holds it, as the official zip.
    names
        Names of 2014 of further images, which need not stand in the files.

    Raises
    ------
    InputError
        Not such a file, or the files contradict each other.
    """
    read = _Read()
    for name in names:
        read.name(name, "the annotations")
    for source in sources:
        for text, where in packed_texts(source.data, source.where, _CAPTIONS):
            document = _document(text, where)
            table = _licence_table(document, where)
            for image in document["images"]:
                read.image(image, table, where)
            for annotation in document["annotations"]:
                read.caption(annotation, where)
    return Coco(
        {**read.folders_2017, **read.folders},
        {number: _distinct(captions) for number, captions in read.captions.items()},
        read.licences,
        read.photographs,
    )


@dataclass
class _Read:
    """What was read so far; images are known by number."""

    folders: dict[int, str] = field(default_factory=dict)
    folders_2017: dict[int, str] = field(default_factory=dict)
    licences: dict[int, Licence] = field(default_factory=dict)
    captions: dict[int, list[Caption]] = field(default_factory=dict)
    photographs: dict[int, str] = field(default_factory=dict)

    def name(self, name: str, where: str) -> None:
        """An image's name of 2014; any other says nothing."""
        image = image_of(name)
        if image is None:
            return
        folder, number = image
        known = self.folders.setdefault(number, folder)
        if known != folder:
            raise InputError(
                f"image {number} lies in two folders", where=where, expected=known, got=folder, todo="mend one of them"
            )

    def image(self, image: dict[str, Any], table: dict[int, Licence], where: str) -> None:
        number = image["id"]
        self.captions.setdefault(number, [])
        self.name(image["file_name"], where)
        address = _ADDRESS_2017.search(str(image.get("coco_url", "")))
        if address:
            self.folders_2017[number] = _FOLDER_OF_2017[address[1]]
        photograph = image.get("flickr_url")
        if isinstance(photograph, str) and photograph:
            self.photographs[number] = min(photograph, self.photographs.get(number, photograph))
        if image.get("license") is not None:
            self._licence(number, table, image["license"], where)

    def caption(self, annotation: dict[str, Any], where: str) -> None:
        number = annotation["image_id"]
        if number not in self.captions:
            raise InputError(
                f"caption {annotation['id']} is of an image that the file does not list",
                where=where,
                got=str(number),
                todo="get the file again",
            )
        text = nfc(" ".join(annotation["caption"].split()))
        if text:
            self.captions[number].append(Caption(annotation["id"], text))

    def _licence(self, number: int, table: dict[int, Licence], licence_id: Any, where: str) -> None:
        if not isinstance(licence_id, int) or licence_id not in table:
            raise InputError(
                f"image {number} has an unknown licence",
                where=where,
                expected=", ".join(map(str, table)),
                got=repr(licence_id),
                todo=f"give {_FILES}",
            )
        licence = table[licence_id]
        known = self.licences.setdefault(number, licence)
        if known != licence:
            raise InputError(
                f"image {number} has two licences",
                where=where,
                expected=known[1],
                got=licence[1],
                todo="give files of one origin",
            )


def _distinct(captions: Iterable[Caption]) -> list[Caption]:
    """By annotation id; equal texts count once."""
    first: dict[str, Caption] = {}
    for caption in sorted(captions):
        first.setdefault(caption.text, caption)
    return list(first.values())


def _document(text: str, where: str) -> dict[str, Any]:
    document: Any = loads(text, where)
    shapes = {
        "images": {"id": int, "file_name": str},
        "annotations": {"id": int, "image_id": int, "caption": str},
    }
    for name, shape in shapes.items():
        rows = document.get(name) if isinstance(document, dict) else None
        if not isinstance(rows, list):
            raise InputError(
                "no captions of COCO",
                where=where,
                expected=f"an object with a list of {name}",
                got=_kind(document),
                todo=f"give {_FILES}",
            )
        kinds = list(shape.values())
        for place, row in enumerate(rows):
            given = row if isinstance(row, dict) else {}
            if [type(given.get(key)) for key in shape] != kinds:
                lacking = next(key for key, kind in shape.items() if type(given.get(key)) is not kind)
                raise InputError(
                    f"{name}: entry {place} lacks {lacking}",
                    where=where,
                    expected=", ".join(f"{key} ({kind.__name__})" for key, kind in shape.items()),
                    got=repr(row)[:200],
                    todo=f"give {_FILES}; instances_*, person_keypoints_* and image_info_* hold no captions",
                )
    return dict(document)


def _kind(document: Any) -> str:
    """What a document is, in JSON's words."""
    if isinstance(document, dict):
        return f"an object of {', '.join(map(repr, list(document)[:5])) or 'nothing'}"
    return "a list" if isinstance(document, list) else repr(document)[:80]


def _licence_table(document: dict[str, Any], where: str) -> dict[int, Licence]:
    """COCO's table with what the file's own says in its place."""
    table = dict(_LICENCES)
    stated = document.get("licenses") or []
    for each in stated if isinstance(stated, list) else [stated]:
        try:
            number, name, url = each["id"], each["name"], each["url"]
        except (KeyError, TypeError):
            number = name = url = None
        if type(number) is not int or not isinstance(name, str) or not isinstance(url, str):
            raise InputError(
                "not a licence",
                where=where,
                expected="id (int), name and url (str)",
                got=repr(each)[:200],
                todo=f"give {_FILES}",
            )
        table[number] = (_SPDX.get(url), name, url)
    return table
