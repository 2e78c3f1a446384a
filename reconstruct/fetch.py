"""Fetch: the images of a plan into the store, each compared with the lock as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hannun.reconstruct.hosts import check_contact
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.location import read
from hannun.reconstruct.run import Run
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Store
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation


def fetch(
    work: Mapping[str, Iterable[LockEntry]], store: Store, ledger: Ledger, settings: Settings
) -> Iterator[Observation]:
    """Get images, many at a time; yields every attempt as it ends.

    An image's locations are tried in order, the user's own folders first, until one gives the locked
    bytes, or an acceptable picture where the lock holds no digest.

    Parameters
    ----------
    work
        Host -> its images (`by_host`); each host's are taken one by one as there is room.

    Raises
    ------
    InputError
        A host demands a contact, and there is none.
    IncompleteError
        The disk does not take what comes.
    """
    check_contact(work, settings.reach)
    store.sweep()
    with Run(store, ledger, settings) as run:
        yield from run.attempts(work)


def by_host(entries: Iterable[LockEntry]) -> dict[str, list[LockEntry]]:
    """Images grouped by the host that is asked first."""
    grouped: dict[str, list[LockEntry]] = {}
    for entry in entries:
        grouped.setdefault(host_of(entry), []).append(entry)
    return grouped


def host_of(entry: LockEntry) -> str:
    """The host of an image's first location."""
    return read(entry.locations[0]).host if entry.locations else ""
