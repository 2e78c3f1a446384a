"""Settings of a fetch: what may be reached, what the user has, and how long a wait is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hannun.reconstruct.source import Got
from hannun.reconstruct.transfer import Reach


@dataclass(frozen=True)
class Settings:
    """How to fetch.

    `local` maps an image id's namespace to a folder of the user. `fast` trusts stored files without
    hashing them again. `any_file` takes whatever comes whole where no digest decides: sources are no pictures.
    `downloads` get the sources that hold images and that the user has not given, by name; they raise `Failed`.
    `pause` gives the seconds that a wait really takes; tests shorten it.
    """

    reach: Reach = field(default_factory=Reach)
    local: Mapping[str, Path] = field(default_factory=dict)
    fast: bool = False
    any_file: bool = False
    downloads: Mapping[str, Callable[[], Got]] = field(default_factory=dict)
    pause: Callable[[float], float] = float
