"""What hosts publish of a file's bytes, and what that says of an image of a lock.

Wikimedia's API gives the sha1 of every revision of a file; S3 gives the md5 of an object as its ETag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hannun.reconstruct import commons
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.commons import CommonsFile
from hannun.schemas.digest import STRENGTH, agree
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.outcome import Outcome

_ETAG = re.compile(r'"([0-9a-fA-F]{32})"')
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Published:
    """What a host publishes of one file's bytes; unknown is None, sizes are in bytes and pixels.

    `timestamp` is when the revision was uploaded (ISO 8601), `archive_name` the name of an old revision;
    `licence` and `attribution` are as a lock entry holds them.
    """

    address: str
    digests: Mapping[str, str] = field(default_factory=dict)
    bytes: int | None = None
    width: int | None = None
    height: int | None = None
    mime: str | None = None
    timestamp: str | None = None
    archive_name: str | None = None
    licence: Mapping[str, str | None] | None = None
    attribution: str | None = None


@dataclass(frozen=True)
class RemoteVerdict:
    """What a host says of one image of a lock; the outcome is None where nobody can be asked.

    `published` is what the host has at the image's address.
    """

    image_id: str
    outcome: Outcome | None
    note: str | None = None
    address: str | None = None
    expected: str | None = None
    got: str | None = None
    published: Published | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "outcome": self.outcome and self.outcome.value}


def revisions(page: Mapping[str, Any]) -> tuple[Published, ...]:
    """The revisions of a file in a page of a MediaWiki answer (`formatversion=2`), the present one first.

    Hidden revisions are left out: nobody can get them.
    """
    return tuple(_revision(row) for row in page.get("imageinfo", ()) if "url" in row)


def stored_object(address: str, headers: Mapping[str, str]) -> Published:
    """What S3's headers say of an object: the ETag is its md5, unless it came in parts or is encrypted with a key."""
    etag = _ETAG.fullmatch(headers.get("ETag", ""))
    encrypted = "x-amz-server-side-encryption-customer-algorithm" in headers or headers.get(
        "x-amz-server-side-encryption", ""
    ).startswith("aws:kms")
    length = headers.get("Content-Length", "")
    return Published(
        address=address,
        digests={"md5": etag[1].lower()} if etag and not encrypted else {},
        bytes=int(length) if length.isdecimal() and length.isascii() else None,
        mime=headers.get("Content-Type"),
    )


def judge(entry: LockEntry, address: str, published: Sequence[Published]) -> RemoteVerdict:
    """One image of a lock against what a host publishes of its file.

    Parameters
    ----------
    address
        Where the lock says the bytes are, as the host writes it.
    published
        The file's revisions, the present one first; empty when the host has no such file.
    """
    there = _at(address, published)
    same = next((each for each in published if agree(entry.digests, each.digests)), None)
    if there is None:
        return _gone(entry.image_id, address, published, same)
    agreed = agree(entry.digests, there.digests)
    if agreed:
        return RemoteVerdict(entry.image_id, Outcome.EXACT, None, address, published=there)
    if agreed is None and (entry.bytes is None or there.bytes in (None, entry.bytes)):
        return RemoteVerdict(entry.image_id, Outcome.UNVERIFIED, _untold(entry, there), address, published=there)
    expected, got = _both_sides(entry, there)
    note = f"overwritten; the old bytes are at {same.address}" if same else None
    return RemoteVerdict(entry.image_id, Outcome.CHANGED, note, address, expected, got, there)


def judge_thumbnail(image_id: str, file: CommonsFile, published: Sequence[Published]) -> RemoteVerdict:
    """A thumbnail against what Wikimedia publishes of its original: whether it can still be had at all."""
    if _at(file.original, published) is None:
        return _gone(image_id, file.original, published)
    if file.width is not None and not commons.width_allowed(file.width):
        note = f"thumbnails {file.width} pixels wide are not served any more; the original is at {file.original}"
        return RemoteVerdict(image_id, Outcome.VARIANT_UNAVAILABLE, note, file.original)
    note = "a thumbnail: the host publishes digests of originals only"
    return RemoteVerdict(image_id, Outcome.UNVERIFIED, note, file.original)


def with_licence(entry: LockEntry, facts: Published) -> LockEntry:
    """The entry with licence and attribution filled in where it has none.

    Not where the host has other bytes than the lock: they may be somebody else's work.
    """
    if agree(entry.digests, facts.digests) is False:
        return entry
    return filled(entry, {"licence": facts.licence, "attribution": facts.attribution})


def _at(address: str, published: Sequence[Published]) -> Published | None:
    return next((each for each in published if each.address == address), None)


def _gone(image_id: str, address: str, published: Sequence[Published], same: Published | None = None) -> RemoteVerdict:
    """Nothing at the address; a file that was renamed or moved is said to be elsewhere."""
    note = None
    if same is not None:
        note = f"the same bytes are at {same.address}"
    elif published:
        note = f"the present file is at {published[0].address}"
    return RemoteVerdict(image_id, Outcome.GONE, note, address)


def _revision(row: Mapping[str, Any]) -> Published:
    sha1, metadata = row.get("sha1"), row.get("extmetadata")
    # PHP writes an empty map as a list.
    metadata = metadata if isinstance(metadata, dict) else {}
    try:
        address = commons.read(row["url"]).original
    except Unusable:
        address = row["url"]
    return Published(
        address=address,
        digests={"sha1": sha1} if isinstance(sha1, str) and _SHA1.fullmatch(sha1) else {},
        bytes=row.get("size"),
        width=row.get("width") or None,
        height=row.get("height") or None,
        mime=row.get("mime"),
        timestamp=row.get("timestamp"),
        archive_name=row.get("archivename"),
        licence=commons.licence_of(metadata),
        attribution=commons.attribution_of(metadata),
    )


def _untold(entry: LockEntry, there: Published) -> str:
    published, locked = " and ".join(there.digests) or "no digest", " and ".join(entry.digests) or "no digest"
    size = "; the size agrees" if entry.bytes is not None and entry.bytes == there.bytes else ""
    return f"the host publishes {published}, the lock holds {locked}{size}"


def _both_sides(entry: LockEntry, there: Published) -> tuple[str, str]:
    for algorithm in STRENGTH:
        if algorithm in entry.digests and algorithm in there.digests:
            return f"{algorithm}:{entry.digests[algorithm]}", f"{algorithm}:{there.digests[algorithm]}"
    return f"{entry.bytes} bytes", f"{there.bytes} bytes"
