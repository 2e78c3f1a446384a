"""Checks of image cells: bytes there, decodable in full, equal to the lock; paths bare names."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import xxhash
from hannun.builders.layout import IMAGE_IDS
from hannun.reconstruct.compare import compare, needs_decoding
from hannun.reconstruct.picture import PictureProblem, examine, undecodable
from hannun.schemas.digest import IDENTITY, digests_of
from hannun.schemas.invariants import image_id_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import Row
from hannun.validate.result import Scope

_COLUMNS = ("image", "images")
_ALL = (IDENTITY, "sha1", "md5", "xxh3_128", "xxh64")
_NAMED = 20
_DECODERS = os.cpu_count() or 1
_MOST_AHEAD = 512
_MOST_BYTES_AHEAD = 64 << 20

_MAY_HOLD_CELLS = (bytes, dict, list)
AnyRow = TypeVar("AnyRow")


@dataclass(frozen=True)
class _Examined:
    """What is known of a cell's bytes; `sha256` is empty where nothing was looked at."""

    sha256: str
    is_decoded: bool
    problem: PictureProblem | None = None


_NOT_DECODED = _Examined("", is_decoded=False)


class ImageChecks:
    """Checks the image cells of rows; each different picture is decoded once.

    Parameters
    ----------
    lock
        The image lock by image id, or None where there is none to compare with.
    columns
        Columns of images beside `image` and `images`: nothing in one of them is a missing image.
    """

    def __init__(self, lock: Mapping[str, LockEntry] | None, scope: Scope, columns: Sequence[str] = ()) -> None:
        self._columns = frozenset([*_COLUMNS, *columns])
        self._lock = lock
        self._scope = scope
        self._trusted = {entry.digests.get(IDENTITY) for entry in (lock or {}).values()} if scope.fast else set()
        self._examined: dict[str, _Examined] = {}
        self._ahead: dict[int, list[Future[_Examined]]] = {}
        self._not_decoded = 0
        self._alone: set[str] = set()
        self._cut: dict[str, str] = {}
        self._plain: set[tuple[str, str]] = set()

    def ahead(self, rows: Iterator[AnyRow]) -> Iterator[AnyRow]:
        """The rows, while the pictures of those that come next are decoded beside the other checks."""
        waiting: deque[tuple[AnyRow, int]] = deque()
        held = 0
        # Pillow and hashlib work outside Python's lock, so threads do.
        with ThreadPoolExecutor(_DECODERS) as pool:
            try:
                for row in rows:
                    size = self._submit(pool, row) if isinstance(row, Row) and self._is_sampled(row) else 0
                    waiting.append((row, size))
                    held += size
                    while len(waiting) > _MOST_AHEAD or held > _MOST_BYTES_AHEAD:
                        first, size = waiting.popleft()
                        held -= size
                        yield first
                while waiting:
                    yield waiting.popleft()[0]
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _cells_of(self, row: Row) -> Iterator[tuple[str, Any]]:
        return _cells(row.values, self._columns)

    def _submit(self, pool: ThreadPoolExecutor, row: Row) -> int:
        """Start on the pictures of a row; their bytes."""
        cells = [_data(cell) for _, cell in self._cells_of(row)]
        self._ahead[id(row)] = [pool.submit(self._examine, data) for data in cells]
        return sum(len(data) for data in cells if isinstance(data, bytes))

    def _is_sampled(self, row: Row) -> bool:
        if self._scope.sample >= 1:
            return True
        named = row.place.row_id if row.place.row_id is not None else str(row.place.row)
        return xxhash.xxh3_64_intdigest(named.encode()) < self._scope.sample * 2**64

    def _examine(self, data: Any) -> _Examined:
        """Digest and decode, unless it is asked not to; a picture is decoded once."""
        if not isinstance(data, bytes) or not data:
            return _NOT_DECODED
        sha256 = digests_of(data, (IDENTITY,))[IDENTITY]
        if sha256 in self._trusted:
            return _Examined(sha256, is_decoded=False)
        found = self._examined.get(sha256)
        if found is None:
            found = self._examined[sha256] = _Examined(sha256, is_decoded=True, problem=undecodable(data))
        return found

    def check(self, row: Row, asked: Sequence[str] | None = None) -> Iterator[Finding]:
        """Findings about the pictures of one row; `asked` are the image ids of a question, in order."""
        cells = list(self._cells_of(row))
        examined = [each.result() for each in self._ahead.pop(id(row), ())]
        if not examined and cells:
            sampled = self._is_sampled(row)
            examined = [self._examine(_data(cell)) if sampled else _NOT_DECODED for _, cell in cells]
        candidates = row.values.get("candidates")
        images = row.values.get("images")
        alone = row.values.get("image_id")
        ids: list[Any] = [alone] * len(cells)
        if isinstance(alone, str):
            if alone in self._alone:
                yield finding("duplicate-id", row.at("image_id"), f"{alone} stands there twice")
            self._alone.add(alone)
        if isinstance(images, list) and isinstance(candidates, list):
            if len(images) != len(candidates):
                yield finding(
                    "image-count",
                    row.at("images"),
                    "not one image for each candidate",
                    expected=str(len(candidates)),
                    found=str(len(images)),
                )
            else:
                by_field = {f"images[{place}]": image_id_of(each) for place, each in enumerate(candidates)}
                ids = [by_field.get(field) for field, _ in cells]
        elif asked is not None and (cells or isinstance(images, list)):
            if len(cells) == len(asked):
                ids = list(asked)
            else:
                message, expected = "not one image for each that the question names", str(len(asked))
                yield finding("image-count", row.at("images"), message, expected=expected, found=str(len(cells)))
        for (field, cell), image_id, each in zip(cells, ids, examined, strict=True):
            yield from self._check_cell(row, field, cell, image_id, each)

    @property
    def unchecked(self) -> Iterator[Unchecked]:
        """Pictures that were not decoded, since it was asked so."""
        if self._not_decoded:
            share = f"--sample {self._scope.sample:g}" if self._scope.sample < 1 else ""
            asked = " and ".join(filter(None, (share, "--fast" if self._scope.fast else "")))
            yield Unchecked(f"whether {self._not_decoded:,} pictures can be decoded", asked)

    def finish(self, file: Place) -> Iterator[Finding]:
        """A note of how many pictures are cut and equal the lock all the same."""
        if self._cut:
            named = ", ".join(sorted(self._cut.values())[:_NAMED])
            message = f"{len(self._cut):,} pictures equal the lock and cannot be decoded in full"
            yield finding("cut-images", file, message, found=named)

    def missing(self, file: Place, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
        """Findings where a row names an image, as a candidate or not, whose picture no checked row of pictures holds.

        Parameters
        ----------
        rows
            Id -> row.
        """
        for row_id, row in rows.items():
            field = "candidates" if "candidates" in row else IMAGE_IDS
            named = row.get(field)
            for image_id in map(image_id_of, named if isinstance(named, list) else ()):
                if image_id not in self._alone:
                    place = Place(file.file, row_id=row_id, field=field)
                    yield finding("image-absent", place, f"the picture of {image_id} is not in the folder")

    def _check_cell(
        self, row: Row, field: str, cell: Any, image_id: str | None, examined: _Examined
    ) -> Iterator[Finding]:
        place = row.at(field)
        named = f" ({image_id})" if image_id else ""
        path = cell.get("path") if isinstance(cell, dict) else None
        if isinstance(path, str) and ("/" in path or "\\" in path):
            yield finding("image-path", place, f"a path, not a name{named}", expected="a bare file name", found=path)
        if isinstance(cell, bytes) and (row.place.file, field.partition("[")[0]) not in self._plain:
            self._plain.add((row.place.file, field.partition("[")[0]))
            file = Place(row.place.file, row.place.config, row.place.split, field=field.partition("[")[0])
            yield finding("image-plain", file, "plain bytes", expected="bytes and path")
        data = _data(cell)
        if data is not None and not isinstance(data, bytes):
            yield finding("image-bytes", place, "no bytes" + named, expected="bytes", found=type(data).__name__)
            return
        if not data:
            what = "no image" if cell is None else "empty bytes" if data == b"" else "no bytes, only a path"
            yield finding("image-bytes", place, what + named)
            return
        entry = None
        if self._lock is not None and image_id is not None:
            entry = self._lock.get(image_id)
            if entry is None:
                yield finding("image-unlocked", place, f"{image_id} is not in the lock")
        if not examined.is_decoded:
            self._not_decoded += 1
        if entry is None:
            yield from self._undecodable(place, "image-decodes", examined, None, named)
        else:
            yield from self._compare(place, data, entry, examined, named)

    def _compare(
        self, place: Place, data: bytes, entry: LockEntry, examined: _Examined, named: str
    ) -> Iterator[Finding]:
        """Findings about a picture beside its lock entry."""
        digests = {IDENTITY: examined.sha256} if examined.sha256 else digests_of(data, (IDENTITY,))
        if IDENTITY not in entry.digests:
            digests = digests_of(data, _ALL)
        if not needs_decoding(entry, digests):
            if examined.problem is not None:
                self._cut[digests[IDENTITY]] = entry.image_id
            yield from self._undecodable(place, "image-cut", examined, entry, named)
            return
        # What is not the locked picture byte for byte is looked at, whatever was asked.
        picture = examine(data, likeness=entry.likeness is not None)
        if isinstance(picture, PictureProblem):
            decoded = _Examined(digests[IDENTITY], is_decoded=True, problem=picture)
            yield from self._undecodable(place, "image-decodes", decoded, entry, named)
            return
        outcome, why = compare(entry, digests, picture)
        if outcome is not Outcome.UNVERIFIED:
            yield finding(
                "image-lock",
                place,
                f"{entry.image_id} is not the locked picture: {outcome.value}" + (f", {why}" if why else ""),
                expected=_named(entry.digests),
                found=_named(digests),
            )

    @staticmethod
    def _undecodable(
        place: Place, rule: str, examined: _Examined, entry: LockEntry | None, named: str
    ) -> Iterator[Finding]:
        if examined.problem is not None:
            expected = _named(entry.digests) if entry is not None else None
            message = f"{examined.problem.outcome.value}: {examined.problem.note}{named}"
            found = _named({IDENTITY: examined.sha256})
            yield finding(rule, place, message, expected=expected, found=found)


def check_locked(row: Row, lock: Mapping[str, LockEntry]) -> Iterator[Finding]:
    """Findings where a row names an image that is not in the lock."""
    source = row.values.get("source")
    described = source.get("image") if isinstance(source, Mapping) else None
    named = {field: row.values.get(field) for field in ("candidates", "spares", "images")}
    named["source.image"] = None if described is None else [described]
    for field, images in named.items():
        for image_id in map(image_id_of, images if isinstance(images, list) else ()):
            if image_id not in lock:
                yield finding("image-unlocked", row.at(field), f"{image_id} is not in the lock")


def _cells(values: Mapping[str, Any], columns: AbstractSet[str]) -> Iterator[tuple[str, Any]]:
    """Image cells of a row, by field: structs of bytes and path, plain bytes, nulls in image columns."""
    for name, value in values.items():
        if value is None or isinstance(value, _MAY_HOLD_CELLS):
            yield from _cells_in(value, str(name), is_column=name in columns)


def _cells_in(value: Any, path: str, *, is_column: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bytes) or (isinstance(value, dict) and set(value) == {"bytes", "path"}):
        yield path, value
    elif value is None and is_column:
        yield path, None
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _cells_in(inner, f"{path}.{name}", is_column=False)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _cells_in(inner, f"{path}[{place}]", is_column=is_column)


def _data(cell: Any) -> Any:
    """The bytes of an image cell, or what stands in their place."""
    return cell.get("bytes") if isinstance(cell, dict) else cell


def _named(digests: Mapping[str, str]) -> str:
    return next((f"{name}:{digests[name]}" for name in _ALL if name in digests), "no digest")
