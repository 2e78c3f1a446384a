"""What both galleries share: what stands around their items (`frame.html`), and credits of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import config_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.row import Row
from hannun.schemas.version import version

AnyRow = TypeVar("AnyRow", bound=Row)


def frame(benchmark: Benchmark, rows: Sequence[Row], lock: Iterable[LockEntry]) -> dict[str, Any]:
    """The values that `frame.html` takes, but for the page's own items and filters."""
    return {
        "title": benchmark.title,
        "language": benchmark.languages[0],
        "summary": benchmark.summary,
        "splits": sorted({row.split for row in rows}),
        "attributions": sorted({entry.attribution for entry in lock if entry.attribution}),
        "rows": f"{len(rows):,}",
        "tool": f"hannun {version()}",
    }


def in_config_order(benchmark: Benchmark, rows: Sequence[AnyRow]) -> list[AnyRow]:
    """Rows in the order of the benchmark's configs, those of a config as they come."""
    order = {config.name: place for place, config in enumerate(benchmark.configs)}
    return sorted(rows, key=lambda row: order.get(config_of(row.id), len(order)))


def anchor(key: str) -> str:
    """The place of an item on its page."""
    return key.replace("/", "-")


def credit(entry: LockEntry | None) -> str:
    """Author and licence of one picture, as far as they are known."""
    if entry is None:
        return ""
    licence = entry.licence or {}
    return " · ".join(filter(None, (entry.attribution, licence.get("spdx") or licence.get("name"))))
