"""Downloads of sources: by the same careful fetch as images, into a folder of their own."""

from __future__ import annotations

from pathlib import Path

from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.home import home
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Reach
from hannun.schemas.catalogue import SourceEntry
from hannun.schemas.digest import parse
from hannun.schemas.errors import IncompleteError, SourceError
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Again, Outcome


def downloaded(entry: SourceEntry, reach: Reach) -> Path:
    """The file of a source with an address and a digest; got once, and hashed whenever it is used.

    Raises
    ------
    SourceError
        The address does not give the pinned file.
    IncompleteError
        It may later: the host is busy or cannot be reached.
    """
    assert entry.address is not None
    assert entry.digest is not None
    algorithm, value = parse(entry.digest)
    wanted = LockEntry(f"source:{entry.name}", (entry.address,), digests={algorithm: value}, bytes=entry.bytes)
    store = Store(home() / "sources")
    attempts = fetch(by_host([wanted]), store, Ledger(store.folder / "ledger"), Settings(reach))
    last = list(attempts)[-1]
    if last.outcome is Outcome.EXACT:
        store.flush()
        return store.path(last.digests["sha256"], last.format)
    problem = IncompleteError if last.outcome.again in (Again.YES, Again.LATER) else SourceError
    raise problem(
        f"source {entry.name} could not be downloaded: {last.outcome.value}" + (f", {last.note}" if last.note else ""),
        where=entry.address,
        expected=entry.digest,
        got=f"sha256:{last.digests['sha256']}" if last.digests else None,
        todo=f"run the same command again later, or get the file yourself and give it with --source {entry.name}=PATH",
    )
