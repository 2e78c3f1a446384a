"""Jobs: one image on its way, what is left to try and where it stands."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from hannun.reconstruct import commons
from hannun.reconstruct.address import Unusable, check_address, literal_resolver
from hannun.reconstruct.canonical import canonical
from hannun.reconstruct.local import LocalImages
from hannun.reconstruct.location import Location, Web, read
from hannun.reconstruct.store import Incoming
from hannun.reconstruct.transfer import Reach
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome


@dataclass(eq=False)
class Job:
    """An image, its locations yet to be tried, and the one that is tried now.

    `asked` is the address that is asked for it at present, after `hops` redirects; `ends_at` is when the
    deadline ends, on `time.monotonic`.
    """

    entry: LockEntry
    locations: deque[Location]
    location: Location | None = None
    asked: Web | None = None
    ends_at: float = 0.0
    hops: int = 0
    tries: int = 1
    incoming: Incoming | None = None
    validator: str | None = None

    @classmethod
    def of(cls, entry: LockEntry, local: LocalImages) -> Job:
        """A job that tries the user's own folder first, then the locations of the lock."""
        own = local.find(entry)
        return cls(entry, deque([*([] if own is None else [own]), *map(read, entry.locations)]))

    @property
    def host(self) -> str:
        """The host whose turn it is."""
        here = self.location if self.location is not None else self.locations[0] if self.locations else None
        return here.host if here is not None else ""

    def next_location(self) -> bool:
        """Turn to the next location; False when there is none."""
        self.location = self.locations.popleft() if self.locations else None
        self.asked, self.hops, self.tries, self.validator = None, 0, 1, None
        return self.location is not None

    def ask(self, reach: Reach) -> tuple[str, bool]:
        """Make ready to ask: the host to be polite to, and whether its address may be a private one.

        Raises
        ------
        Unusable
            The address cannot or must not be asked; after a redirect the reason says where it led.
        """
        location = self.location
        assert isinstance(location, Web)
        try:
            if self.asked is None:
                self.asked = Web(canonical(reach.mirrored(location.address, location.host)))
                self.ends_at = time.monotonic() + reach.limits.deadline
            mirrored = location.host in reach.mirrors and self.hops == 0
            # What the user allows holds for the hosts of the plan and for mirrors, not for where these redirect to.
            own_host = self.hops == 0 or self.asked.host == location.host
            allow_private = own_host and (reach.allow_private or mirrored)
            check_address(self.asked.address, allow_private=allow_private, resolve=literal_resolver)
        except Unusable as error:
            if not self.hops:
                raise
            raise Unusable(error.outcome, f"redirected to {str(self.asked)[:120]}: {error.note}") from None
        if self.asked.host == commons.HOST:
            _check_width(self.asked.address)
        return location.host if mirrored else self.asked.host, allow_private

    def follow(self, address: str) -> None:
        """Ask this address instead, where a redirect led."""
        self.hops += 1
        self.asked = Web(address)
        try:
            self.asked = Web(canonical(address))
        except Unusable:
            # `ask` says what is wrong with it.
            return


def _check_width(address: str) -> None:
    """Refuse to ask for a thumbnail of a width that Wikimedia does not serve any more."""
    try:
        file = commons.read(address)
    except Unusable:
        return
    if file.width is not None and not commons.width_allowed(file.width):
        raise Unusable(
            Outcome.VARIANT_UNAVAILABLE, f"{file.width} pixels wide is not served; the original is {file.original}"
        )
