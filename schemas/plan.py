"""Plans: what a recipe gives, before any image is touched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hannun.schemas.lock import LockEntry
from hannun.schemas.row import Row


@dataclass(frozen=True)
class Drop:
    """Something of the sources that gives no row, and why."""

    item: str
    reason: str


@dataclass(frozen=True)
class Planned:
    """Rows in order of id, images in order of id, drops in order of reason and item.

    Rows and images that stand in a table of records come in its order instead: fetch then reads it once.

    `baselines` are Hits@1 of answers that need no picture, by name; `notes` say what was found in sources of which
    not everything is known.
    """

    rows: tuple[Row, ...]
    images: tuple[LockEntry, ...]
    dropped: tuple[Drop, ...]
    baselines: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How a plan was made (`recipe.json`).

    `sources` maps name to `sha256:hex`, `revisions` the name of one from a repository to its commit.
    """

    benchmark: str
    recipe: str
    version: int
    options: dict[str, Any]
    seed: int
    sources: dict[str, str]
    revisions: dict[str, str] = field(default_factory=dict)

    def to_json(self, planned: Planned) -> dict[str, Any]:
        by_reason: dict[str, list[str]] = defaultdict(list)
        for drop in planned.dropped:
            by_reason[drop.reason].append(drop.item)
        return {
            "benchmark": self.benchmark,
            "recipe": self.recipe,
            "version": self.version,
            "options": self.options,
            "seed": self.seed,
            "sources": [
                {"name": name, "digest": digest, **({"revision": revision} if revision else {})}
                for name, digest in sorted(self.sources.items())
                for revision in [self.revisions.get(name)]
            ],
            "counts": {
                "rows": len(planned.rows),
                "images": len(planned.images),
                "dropped": len(planned.dropped),
            },
            "dropped": [
                {"reason": reason, "count": len(items), "items": sorted(items)}
                for reason, items in sorted(by_reason.items())
            ],
            "baselines": {name: round(value, 6) for name, value in planned.baselines.items()},
            **({"notes": list(planned.notes)} if planned.notes else {}),
        }
