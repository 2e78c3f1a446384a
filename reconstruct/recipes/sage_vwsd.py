"""SAGE's nouns: the English test set of SemEval-2023 Task 1, row by row as it is.

A row holds a target, a phrase and ten image names; another file holds the gold's name, line by line.
Nothing is chosen here, so nothing depends on the seed, and no image is ever replaced by another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hannun.reconstruct.archives.packed_texts import Wanted, packed_text
from hannun.reconstruct.location import Archive
from hannun.reconstruct.source import Source
from hannun.schemas.baselines import form_baselines
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Candidate, Instance
from hannun.schemas.lock import LockEntry
from hannun.schemas.plan import Planned
from hannun.schemas.text import nfc
from hannun.schemas.text_file import lines_of

VERSION = 1
OPTIONS: Mapping[str, int | tuple[str, ...]] = {"seed": 1}

IMAGES = "vwsd-images"

_DATA = Wanted(re.compile(r"en\.test\.data[\w.]*\.txt"), "the English rows (en.test.data.v1.1.txt)")
_GOLD = Wanted(re.compile(r"en\.test\.gold[\w.]*\.txt"), "the English gold (en.test.gold.v1.1.txt)")
_GIVE = "give en.test.data.v1.1.txt as published"
_OF_ONE_KIND = "give both files of one language and version"


def plan(benchmark: Benchmark, sources: Mapping[str, Source], options: Mapping[str, Any]) -> Planned:  # noqa: ARG001
    """Rows and images of the test set.

    Raises
    ------
    InputError
        The files do not fit together, or a row is not one of the task's; the message names file and line.
    """
    data, data_where = _lines(sources["vwsd-data"], _DATA)
    gold, gold_where = _lines(sources["vwsd-gold"], _GOLD)
    _refuse_mixed_up(data, gold, gold_where)
    if len(data) != len(gold):
        raise InputError(
            "the two files have not as many lines",
            where=gold_where,
            expected=f"{len(data):,} lines, as {data_where}",
            got=f"{len(gold):,} lines",
            todo=_OF_ONE_KIND,
        )
    rows = [
        _instance(row, line.split("\t"), right.strip(), f"{data_where}, line {row + 1}")
        for row, (line, right) in enumerate(zip(data, gold, strict=True))
    ]
    names = sorted({candidate.image_id for row in rows for candidate in row.candidates})
    return Planned(
        rows=tuple(sorted(rows, key=lambda row: row.id)),
        images=tuple(_lock_entry(benchmark, image_id) for image_id in names),
        dropped=(),
        baselines=form_baselines(row.to_json() for row in rows),
    )


def _lines(source: Source, wanted: Wanted) -> tuple[list[str], str]:
    """The lines of a file, without empty ones at its end, and where they stand."""
    text, where = packed_text(source.data, source.where, wanted)
    lines = lines_of(text)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines, where


def _refuse_mixed_up(data: Sequence[str], gold: Sequence[str], where: str) -> None:
    """One file for both, or each for the other."""
    if data and data == gold:
        raise InputError(
            "vwsd-data and vwsd-gold are the same",
            where=where,
            expected="two files",
            todo="give the other file for one",
        )
    if data and gold and "\t" in gold[0] and "\t" not in data[0]:
        raise InputError(
            "vwsd-data and vwsd-gold are swapped",
            where=f"{where}, line 1",
            expected="the gold's image name a line",
            got=gold[0][:80],
            todo="give each file for the other source",
        )


def _instance(row: int, fields: Sequence[str], gold: str, where: str) -> Instance:
    if len(fields) != 2 + CANDIDATES:
        raise InputError(
            "not a row of the task",
            where=where,
            expected="target, phrase and ten image names, separated by tabs",
            got=f"{len(fields)} fields",
            todo=_GIVE,
        )
    target, context, images = nfc(fields[0]), nfc(fields[1]), [name.strip() for name in fields[2:]]
    if not all(images) or len(set(images)) != CANDIDATES:
        raise InputError(
            "not ten image names",
            where=where,
            expected="ten different names, none of them empty",
            got=", ".join(images),
            todo=_GIVE,
        )
    span = _span(target, context)
    if span is None:
        raise InputError("the target is no word of its phrase", where=where, expected=target, got=context, todo=_GIVE)
    if images.count(gold) != 1:
        raise InputError(
            "the gold is not one of the candidates",
            where=where,
            expected=gold,
            got=", ".join(images),
            todo=_OF_ONE_KIND,
        )
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
