"""SAGE's nouns: the English test set of SemEval-2023 Task 1, row by row as it is.

A row holds a target, a phrase and ten image names; another file holds the gold's name, line by line.
Nothing is chosen here, so nothing depends on the seed, and no image is ever replaced by another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hannun.reconstruct.location import Archive
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Planned
from hannun.schemas.text import nfc
from hannun.schemas.text_file import decode, lines_of

VERSION = 1
OPTIONS: Mapping[str, int | tuple[str, ...]] = {"seed": 1}

IMAGES = "vwsd-images"


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:  # noqa: ARG001
    """Rows and images of the test set.

    Raises
    ------
    InputError
        The files do not fit together, or a row is not one of the task's; the message names file and line.
    """
    data, gold = (lines_of(decode(sources[name].data, sources[name].where).text) for name in ("vwsd-data", "vwsd-gold"))
    if len(data) != len(gold):
        raise InputError(
            "the two files have not as many lines",
            where=sources["vwsd-gold"].where,
            expected=f"{len(data):,} lines, as {sources['vwsd-data'].where}",
            got=f"{len(gold):,} lines",
            todo="give both files of one language and version",
        )
    rows = [
        _instance(row, line.split("\t"), right, f"{sources['vwsd-data'].where}, line {row + 1}")
        for row, (line, right) in enumerate(zip(data, gold, strict=True))
    ]
    names = sorted({candidate.image_id for row in rows for candidate in row.candidates})
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(_lock_entry(benchmark, image_id) for image_id in names),
        dropped=(),
        baselines=form_baselines(row.to_json() for row in rows),
    )


def _instance(row: int, fields: Sequence[str], gold: str, where: str) -> Instance:
    if len(fields) != 2 + CANDIDATES:
        raise InputError(
            "not a row of the task",
            where=where,
            expected="target, phrase and ten image names, separated by tabs",
            got=f"{len(fields)} fields",
        )
    target, context, images = nfc(fields[0]), nfc(fields[1]), fields[2:]
    span = _span(target, context)
    if span is None:
        raise InputError("the target is no word of its phrase", where=where, expected=target, got=context)
    if images.count(gold) != 1:
        raise InputError("the gold is not one of the candidates", where=where, expected=gold, got=", ".join(images))
    return Instance(
        id=f"sage/vwsd/{row}",
        split="test",
        context=context,
        target=context[slice(*span)],
        target_span=span,
        candidates=tuple(Candidate(f"vwsd:{name}", "gold" if name == gold else "given") for name in images),
        label=images.index(gold),
        spares=(),
        source={
            "row": row,
            "lemma": target,
            **dict.fromkeys(("sense", "gloss", "caption_id", "image", "rule", "neutralization")),
        },
    )


def _span(target: str, context: str) -> tuple[int, int] | None:
    """The target's first place in the phrase as a whole word, whatever its case; else as letters."""
    for pattern in (rf"(?<!\w){re.escape(target)}(?!\w)", re.escape(target)):
        found = re.search(pattern, context, re.IGNORECASE)
        if found and target:
            return found.span()
    return None


def _lock_entry(benchmark: Benchmark, image_id: str) -> LockEntry:
    return LockEntry(
        image_id=image_id,
        locations=(str(Archive(IMAGES, image_id.partition(":")[2])),),
        licence=benchmark.image_licence.for_lock(),
    )
