"""Licences: what is known of one, and whether a thing under it may be passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Right:
    """Whether a thing may be passed on, and why: a clause that stands after a colon."""

    redistribution: Redistribution
    why: str


_FREE_SPDX = re.compile(
    r"CC0-1\.0|CC-PDDC|CC-PDM-1\.0|Apache-2\.0|MIT|BSD-[23]-Clause|OFL-1\.1|ODbL-1\.0|PDDL-1\.0|FAL|LAL-1\.[23]"
    r"|GFDL-1\.[123](-.+)?|OGL-UK-[123]\.0"
)
"""Other licences that let anyone pass copies on, by SPDX identifier."""

_CREATIVE_COMMONS = re.compile(r"CC[- ]BY([- ]NC)?([- ](SA|ND))?([- ]\d\.\d)?([- ][A-Z-]+)?", re.IGNORECASE)
"""Every licence of Creative Commons that asks for credit, as SPDX or Wikimedia writes it, ported ones too."""

_FREE_NAMES = re.compile(
    r"public domain( mark.*)?|pd(-.*)?|cc0.*|no known (copyright )?restrictions"
    r"|united states government work|copyrighted free use|gfdl.*|fal|attribution",
    re.IGNORECASE,
)
"""Names of licences without an SPDX identifier, as COCO and Wikimedia write them, that let anyone pass copies on."""

_FORBIDDING = re.compile(
    r"all rights reserved|fair use|non-?free|no redistribution|not be redistributed"
    r"|redistribution (is )?(forbidden|prohibited)",
    re.IGNORECASE,
)


def right_to_pass_on(licence: Mapping[str, Any] | None, attribution: str | None) -> Right:
    """Whether a picture may be passed on as it is, by the `licence` and `attribution` of its lock entry.

    Verbatim copies are what is asked about: NoDerivatives allows them, NonCommercial where nobody is charged. A
    licence that demands credit is of no use where nobody knows whom to name.

    Notes
    -----
    Creative Commons 2.0 to 4.0, section 3 (grant) and section 4 or 3(a) (credit); what is not in a list above is
    unknown, never guessed.
    """
    named = licence or {}
    texts = [text for text in (named.get("spdx"), named.get("name")) if text]
    if any(_FORBIDDING.search(text) for text in texts):
        return Right(Redistribution.FORBIDDEN, f"{texts[-1]} forbids it")
    for text in texts:
        if _CREATIVE_COMMONS.fullmatch(text):
            if attribution is None:
                return Right(Redistribution.UNKNOWN, f"{text} demands credit, and whom to name is not known")
            return Right(Redistribution.ALLOWED, f"{text} allows it with credit")
        if _FREE_SPDX.fullmatch(text) or _FREE_NAMES.fullmatch(text):
            return Right(Redistribution.ALLOWED, f"{text} allows it")
    return Right(Redistribution.UNKNOWN, f"its licence is not known ({texts[-1]})" if texts else "no licence is known")


def allows_changes(licence: Mapping[str, Any] | None) -> bool:
    """Whether pictures under a licence that allows copies may be shown smaller: NoDerivatives leaves that open."""
    return "ND" not in re.split(r"[- ]", ((licence or {}).get("spdx") or "").upper())
