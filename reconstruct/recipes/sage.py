"""SAGE as a whole: the recipes of its parts, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannun.reconstruct.recipes import sage_verse, sage_vwsd, sage_wikidiverse
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.plan import Planned

_PARTS = {"sage_verse": sage_verse, "sage_vwsd": sage_vwsd, "sage_wikidiverse": sage_wikidiverse}

# Changes whenever one of the parts does.
VERSION = sum(part.VERSION for part in _PARTS.values())
OPTIONS: Mapping[str, int | tuple[str, ...]] = {**sage_verse.OPTIONS, **sage_vwsd.OPTIONS, **sage_wikidiverse.OPTIONS}


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:
    """Rows, images and drops of all parts.

    Raises
    ------
    InputError
        A source is not what it should be; the message names file and line.
    """
    parts = [_PARTS[member.recipe].plan(member, sources, options) for member in benchmark.members]
    rows = sorted((row for part in parts for row in part.rows), key=lambda row: row.id)
    images = (entry for part in parts for entry in part.images)
    dropped = (drop for part in parts for drop in part.dropped)
    return Planned(
        rows=tuple(rows),
        images=tuple(sorted(images, key=lambda entry: entry.image_id)),
        dropped=tuple(sorted(dropped, key=lambda drop: (drop.reason, drop.item))),
        baselines=form_baselines(row.to_json() for row in rows),
    )
