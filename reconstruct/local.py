"""Images that the user has: folders in the usual layouts (`--local NAME=DIR`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from hannun.reconstruct.location import Local, read
from hannun.schemas.lock import LockEntry
from hannun.schemas.text import comparison_key
from hannun.schemas.text_file import find_file

_COCO = re.compile(r"coco:(?P<part>train|val)\d{4}/(?P<number>\d{12})")


class LocalImages:
    """The user's own folders by namespace of image ids; each directory is listed once."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._keys: dict[Path, set[str]] = {}

    def find(self, entry: LockEntry) -> Local | None:
        """The user's own file of an image.

        Raises
        ------
        InputError
            Several files answer to one name.
        """
        namespace = entry.image_id.partition(":")[0]
        if namespace not in self._folders:
            return None
        for name in local_names(entry.image_id, entry.locations):
            path = self._path(self._folders[namespace], name)
            if path is not None:
                return Local(namespace, path)
        return None

    def _path(self, folder: Path, name: str) -> Path | None:
        if (folder / name).is_file():
            return folder / name
        # Looking for another normal form reads whole directories, and COCO's are large.
        here = folder
        for part in PurePosixPath(name).parts:
            if not here.is_dir():
                break
            if not (here / part).exists() and comparison_key(part) not in self._names_in(here):
                return None
            here = here / part
        found = find_file(folder, name)
        return None if found is None else found[0]

    def _names_in(self, folder: Path) -> set[str]:
        if folder not in self._keys:
            self._keys[folder] = {comparison_key(entry.name) for entry in folder.iterdir()}
        return self._keys[folder]


def local_names(image_id: str, locations: tuple[str, ...]) -> list[str]:
    """Names under which a user's own folder may hold the image, the likeliest first.

    As each location calls the file, with and without the folders of the image id; COCO's images under
    their names of 2014 and of 2017.
    """
    name = image_id.partition(":")[2]
    parent = PurePosixPath(name).parent
    found: dict[str, None] = {}
    for location in map(read, locations):
        if location.name:
            found[str(parent / location.name)] = None
            found[location.name] = None
    found[name] = None
    coco = _COCO.fullmatch(image_id)
    if coco is not None:
        found |= dict.fromkeys(_coco_names(**coco.groupdict()))
    return [each for each in found if ".." not in PurePosixPath(each).parts and not each.startswith("/")]


def _coco_names(part: str, number: str) -> Iterator[str]:
    """COCO's layouts; a number is one image in all of them, and what 2014 had in val may be in train of 2017."""
    parts = sorted(("train", "val"), key=lambda each: each != part)
    for folder in ("", "images/"):
        for each in parts:
            yield f"{folder}{each}2014/COCO_{each}2014_{number}.jpg"
        for each in parts:
            yield f"{folder}{each}2017/{number}.jpg"
    for each in parts:
        yield f"COCO_{each}2014_{number}.jpg"
    yield f"{number}.jpg"
