"""Pictures of a build: the stored bytes of each image, re-checked as they are read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from hannun.builders.layout import IMAGE_IDS, IMAGES
from hannun.reconstruct.store import Store
from hannun.schemas.digest import IDENTITY, digests_of
from hannun.schemas.errors import IncompleteError
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.question import Question
from hannun.schemas.row import Row

_HELD_BYTES = 32 << 20


class Pictures:
    """Image id -> the cell that `datasets` decodes: raw bytes and a bare file name."""

    def __init__(self, store: Store, observed: Mapping[str, Observation]) -> None:
        self._store = store
        self._observed = observed
        self._held: OrderedDict[str, dict[str, bytes | str]] = OrderedDict()
        self._held_bytes = 0

    def cell(self, image_id: str) -> Mapping[str, bytes | str]:
        """The cell of a picture; those used last are held, since rows that stand close together share them."""
        if image_id in self._held:
            self._held.move_to_end(image_id)
            return self._held[image_id]
        cell = self._held[image_id] = self._read(image_id)
        self._held_bytes += len(cell["bytes"])
        while self._held_bytes > _HELD_BYTES:
            _, dropped = self._held.popitem(last=False)
            self._held_bytes -= len(dropped["bytes"])
        return cell

    def _read(self, image_id: str) -> dict[str, bytes | str]:
        seen = self._observed[image_id]
        sha256 = seen.digests[IDENTITY]
        path = self._store.path(sha256, seen.format)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            data = b""
        if digests_of(data, [IDENTITY])[IDENTITY] != sha256:
            raise IncompleteError(
                f"the stored file of {image_id} is gone or changed",
                where=str(path),
                expected=f"{IDENTITY}:{sha256}",
                todo="run the same command again: it fetches this image once more",
            )
        # A bare name in every system's eyes; an image id never becomes a path.
        name = PurePosixPath(image_id.partition(":")[2].replace("\\", "/")).name
        suffix = path.suffix
        return {"bytes": data, "path": name if name.lower().endswith(suffix) else name + suffix}


def project(row: Row, pictures: Pictures, features: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resolved row as the record of its data set, its pictures in the columns that the features have for them."""
    values = dict(row.record) if isinstance(row, Question) else row.to_json()
    if "image" in features:
        values["image"] = pictures.cell(row.shown[0])
    if IMAGES in features:
        values[IMAGES] = [pictures.cell(image_id) for image_id in row.shown]
    if IMAGE_IDS in features:
        values[IMAGE_IDS] = list(row.shown)
    return values


def image_record(entry: LockEntry, cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """A picture of the built lock, with its cell, as a record of the config `images`."""
    licence = entry.licence or {}
    return {
        "image_id": entry.image_id,
        "image": cell,
        "licence": licence.get("spdx") or licence.get("name"),
        "attribution": entry.attribution,
    }
