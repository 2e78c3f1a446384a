"""Licences: what is known of one, and whether a thing under it may be passed on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Redistribution(StrEnum):
    """Whether the bytes may be uploaded again."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Licence:
    """A licence as its publisher states it; unknown parts are None, never guessed."""

    name: str
    holder: str
    redistribution: Redistribution
    spdx: str | None = None
    url: str | None = None
    attribution: str | None = None

    def for_lock(self) -> dict[str, Any]:
        """The `licence` field of a lock entry."""
        return {"spdx": self.spdx, "name": self.name, "url": self.url}
