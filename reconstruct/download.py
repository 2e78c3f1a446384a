"""Downloads of sources: by the same careful fetch as images, into a folder of their own."""

from __future__ import annotations

from dataclasses import replace

from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.home import home
from hannun.reconstruct.hub import hub_files
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.source import Got
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Failed, Reach
from hannun.schemas.catalogue import SourceEntry
from hannun.schemas.digest import parse
from hannun.schemas.errors import IncompleteError, SourceError
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Again, Outcome

MOST_BYTES = 16 << 30
"""Of a source."""
SECONDS = 6 * 3600.0
"""For a source, at least: large ones come slowly."""


def download(entry: SourceEntry, reach: Reach, revision: str | None = None) -> Got:
    """A source of the Hub, at that revision, or with an address.

    A file is got once, and hashed whenever it is used where its digest is known; without, what came first
    counts.

    Raises
    ------
    Failed
        The address does not give the file, or not now.
    """
    if entry.kind == "hub":
        return hub_files(entry, revision)
    assert entry.address is not None
    digests = dict([parse(entry.digest)]) if entry.digest is not None else {}
    wanted = LockEntry(f"source:{entry.name}", (entry.address,), digests=digests, bytes=entry.bytes)
    store = Store(home() / "sources")
    limits = replace(reach.limits, max_bytes=MOST_BYTES, deadline=max(reach.limits.deadline, SECONDS))
    settings = Settings(replace(reach, limits=limits), any_file=True)
    last = list(fetch(by_host([wanted]), store, Ledger(store.folder / "ledger"), settings))[-1]
    if last.outcome not in (Outcome.EXACT, Outcome.UNVERIFIED):
        got = f"; got sha256:{last.digests['sha256']}" if last.digests else ""
        raise Failed(
            last.outcome, f"source {entry.name} from {entry.address}: {last.note or last.outcome.meaning}{got}"
        )
    store.flush()
    found = store.find(last.digests["sha256"])
    assert found is not None  # it was kept just now
    return Got(found)


def downloaded(entry: SourceEntry, reach: Reach, revision: str | None = None) -> Got:
    """As `download`, for whom nothing goes on without the file.

    Raises
    ------
    SourceError
        The address does not give the pinned file.
    IncompleteError
        It may later: the host is busy or cannot be reached.
    """
    try:
        return download(entry, reach, revision)
    except Failed as failure:
        problem = IncompleteError if failure.outcome.again in (Again.YES, Again.LATER) else SourceError
        again = failure.todo or "run the same command again later"
        give = f"{entry.by_hand or 'get it yourself'}, and give it with --source {entry.name}=PATH"
        raise problem(
            f"source {entry.name} could not be downloaded: {failure.outcome.value}",
            where=entry.address or f"dataset {entry.repo} on the Hub",
            expected=entry.digest or entry.description,
            got=failure.what,
            todo=f"{again}; or {give}",
        ) from None
