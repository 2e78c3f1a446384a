"""Licences and authors that hosts publish of a plan's images, asked for once and kept beside the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from hannun.reconstruct import commons
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.journal import Journal
from hannun.reconstruct.location import Web, read
from hannun.reconstruct.plan_folder import PUBLISHED, PlanFolder
from hannun.reconstruct.published import RemoteVerdict, with_licence
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Reach
from hannun.schemas.instant import now
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.outcome import Again, Outcome


def ask_licences(plan: PlanFolder, entries: Iterable[LockEntry], store: Store, reach: Reach) -> tuple[int, int]:
    """Ask the hosts of images for licence and author where neither the lock nor an earlier answer has them.

    Every answer goes into published.jsonl. Wikimedia's wikis are asked, 50 files at a time; not where a
    mirror stands for the files and none for the wiki: whoever mirrors a host does not ask it.

    Parameters
    ----------
    entries
        With the digests of the bytes at hand: where the host has others, it speaks of another picture.

    Returns
    -------
    asked, known
        Number of images asked about, and of those whose licence is known now.

    Raises
    ------
    InputError
        Wikimedia demands a contact, and `reach` has none.
    """
    from hannun.reconstruct.remote import comparable, verify_remote

    answered = {row["image_id"] for row in plan.published_rows() if _is_final(row)}
    open_entries = [
        comparable(entry, store) for entry in entries if entry.image_id not in answered and _may_ask(entry, reach)
    ]
    known = 0
    with Journal(plan.folder / PUBLISHED) as journal:
        by_id = {entry.image_id: entry for entry in open_entries}
        for verdict in verify_remote(open_entries, reach) if open_entries else ():
            row = _row(by_id[verdict.image_id], verdict)
            known += row["licence"] is not None
            journal.append(row)
    return len(open_entries), known


def with_published(lock: Iterable[LockEntry], plan: PlanFolder) -> Iterator[LockEntry]:
    """The entries with what published.jsonl says of licence and author where they have none."""
    published = {row["image_id"]: row for row in plan.published_rows()}
    for entry in lock:
        yield filled(entry, published[entry.image_id]) if entry.image_id in published else entry


def _row(entry: LockEntry, verdict: RemoteVerdict) -> dict[str, Any]:
    found = with_licence(entry, verdict.published) if verdict.published is not None else entry
    return {
        "image_id": entry.image_id,
        "outcome": None if verdict.outcome is None else verdict.outcome.value,
        "licence": found.licence,
        "attribution": found.attribution,
        "address": verdict.address,
        "note": verdict.note,
        "time": now(),
    }


def _is_final(row: dict[str, Any]) -> bool:
    return row["outcome"] is None or Outcome(row["outcome"]).again not in (Again.YES, Again.LATER)


def _may_ask(entry: LockEntry, reach: Reach) -> bool:
    if entry.licence is not None and entry.attribution is not None:
        return False
    for location in map(read, entry.locations):
        if isinstance(location, Web) and location.host == commons.HOST:
            try:
                wiki = urlsplit(commons.read(location.address).api).hostname or ""
            except Unusable:
                continue
            return wiki in reach.mirrors or commons.HOST not in reach.mirrors
    return False
