"""Downloads of sources: by the same careful fetch as images, into a folder of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.home import home
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.settings import Settings
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


def download(entry: SourceEntry, reach: Reach) -> Path:
    """The file of a source with an address; got once, and hashed whenever it is used where its digest is known.

    Without a known digest, what came first counts.

    Raises
    ------
    Failed
        The address does not give the file, or not now.
    """
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
    return found


def downloaded(entry: SourceEntry, reach: Reach) -> Path:
    """As `download`, for whom nothing goes on without the file.

    Raises
    ------
    SourceError
        The address does not give the pinned file.
    IncompleteError
        It may later: the host is busy or cannot be reached.
    """
    try:
        return download(entry, reach)
    except Failed as failure:
        problem = IncompleteError if failure.outcome.again in (Again.YES, Again.LATER) else SourceError
        give = f"give it with --source {entry.name}=PATH"
        raise problem(
            f"source {entry.name} could not be downloaded: {failure.outcome.value}",
            where=entry.address,
            expected=entry.digest or entry.description,
            got=failure.note,
            todo=f"run the same command again later, or {entry.by_hand or 'get the file yourself'}, and {give}",
        ) from None
