"""KoNA's tables: senses, queries, depictions and confusable pictures, each checked against the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.table import Table, TableRow, parse_table
from hannun.schemas.text import nfc

PLACEHOLDER = "[명사]"
"""Stands for the noun in neutralized wordings; it is read 명사, so particles follow a vowel."""

WORDINGS = ("original", "explicit", "neutralized")

_MARKED = re.compile(r"\{([^{}]*)\}")
_POINT = re.compile(r"(?<![a-z])[0-9a-f]{2,6}|(?<=emoji_u)[0-9a-f]{4,6}")
_WORD = re.compile(r"[가-힣]{2,}")


@dataclass(frozen=True)
class Sense:
    key: str
    noun: str
    split: str
    gloss: str


@dataclass(frozen=True)
class Query:
    item: str
    sense: Sense
    wordings: Mapping[str, str]
    exclude: frozenset[str]


@dataclass(frozen=True)
class Picture:
    """`shows`: senses it may be the gold of. `fits`: these and every sense that one may read into it."""

    key: str
    kind: str
    shows: frozenset[str]
    fits: frozenset[str]


@dataclass(frozen=True)
class Tables:
    senses: Mapping[str, Sense]
    queries: tuple[Query, ...]
    pictures: Mapping[str, Picture]
    confusable: Mapping[str, frozenset[str]]

    def senses_of(self, noun: str) -> frozenset[str]:
        return frozenset(key for key, sense in self.senses.items() if sense.noun == noun)


def read_tables(sources: Mapping[str, Source]) -> Tables:
    """The four tables, checked against each other; their lines' order does not matter."""
    senses = _read_senses(_table(sources["kona-senses"], ("sense", "noun", "split", "gloss", "english")))
    pictures = _read_pictures(
        _table(sources["kona-depictions"], ("picture", "emoji", "kind", "shows", "may_show")),
        senses,
        sources["kona-depictions"].where,
    )
    confusable = _read_confusables(
        _table(sources["kona-confusables"], ("picture", "other", "reason")),
        pictures,
        sources["kona-confusables"].where,
    )
    queries = _read_queries(
        _table(sources["kona-queries"], ("item", "sense", *WORDINGS, "exclude")),
        senses,
        pictures,
        sources["kona-queries"].where,
    )
    return Tables(senses, queries, pictures, confusable)


def picture_files(index: Source) -> dict[str, tuple[str, str, int]]:
    """Picture key -> path, sha256 and size.

    A file's name holds its code points in hexadecimal, as 1f350.png or emoji_u0031_20e3.png; some names
    keep U+FE0F, keys never do.
    """
    files: dict[str, tuple[str, str, int]] = {}
    for row in _table(index, ("path", "sha256", "bytes")).rows:
        points = _POINT.findall(row["path"].rpartition("/")[2].removesuffix(".png"))
        key = "-".join(f"{int(point, 16):x}" for point in points if point != "fe0f")
        if key in files:
            raise _error(index.where, row, f"two files for picture {key}", "one file", row["path"])
        if not row["bytes"].isdecimal():
            raise _error(index.where, row, "a size that is no number", "bytes", row["bytes"])
        files[key] = (row["path"], row["sha256"], int(row["bytes"]))
    return files


def unmarked(text: str) -> tuple[str, int, int]:
    """A wording without its marker, and the span [start, end) of the target.

    The target stands in braces; in a neutralized wording it is the first placeholder.
    """
    marked = _MARKED.search(text)
    if marked is None:
        start = text.index(PLACEHOLDER)
        return text, start, start + len(PLACEHOLDER)
    target = marked.group(1)
    return text[: marked.start()] + target + text[marked.end() :], marked.start(), marked.start() + len(target)


def overlap(text: str, other: str) -> int:
    """Number of words that two texts share, by their first two syllables, where particles do not reach."""
    return len({word[:2] for word in _WORD.findall(text)} & {word[:2] for word in _WORD.findall(other)})


def _read_senses(table: Table) -> dict[str, Sense]:
    senses: dict[str, Sense] = {}
    splits: dict[str, str] = {}
    for row in table.rows:
        sense = Sense(row["sense"], nfc(row["noun"]), row["split"], nfc(row["gloss"]))
        if sense.key in senses:
            raise _error("kona-senses", row, f"sense {sense.key} twice", "every sense once", sense.key)
        if sense.split not in ("validation", "test"):
            raise _error("kona-senses", row, "unknown split", "validation or test", sense.split)
        first = splits.setdefault(sense.noun, sense.split)
        if first != sense.split:
            raise _error("kona-senses", row, f"{sense.noun} stands in two splits", first, sense.split)
        senses[sense.key] = sense
    return senses


def _read_pictures(table: Table, senses: Mapping[str, Sense], where: str) -> dict[str, Picture]:
    pictures: dict[str, Picture] = {}
    for row in table.rows:
        key = row["picture"]
        if key in pictures:
            raise _error(where, row, f"picture {key} twice", "every picture once", key)
        points = "-".join(f"{ord(c):x}" for c in row["emoji"] if c != "\ufe0f")
        if points != key:
            raise _error(where, row, "key and emoji disagree", points, key)
        shows, may_show = _keys(row["shows"]), _keys(row["may_show"])
        _known(where, row, "sense", shows | may_show, senses)
        pictures[key] = Picture(key, row["kind"], shows, shows | may_show)
    return pictures


def _read_confusables(table: Table, pictures: Mapping[str, Picture], where: str) -> dict[str, frozenset[str]]:
    confusable: dict[str, frozenset[str]] = {}
    for row in table.rows:
        pair = frozenset((row["picture"], row["other"]))
        _known(where, row, "picture", pair, pictures)
        for key in pair:
            confusable[key] = confusable.get(key, frozenset()) | pair - {key}
    return confusable


def _read_queries(
    table: Table, senses: Mapping[str, Sense], pictures: Mapping[str, Picture], where: str
) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    for row in table.rows:
        item = row["item"]
        if item in queries:
            raise _error(where, row, f"item {item} twice", "every item once", item)
        _known(where, row, "sense", {row["sense"]}, senses)
        exclude = _keys(row["exclude"])
        _known(where, row, "picture", exclude, pictures)
        sense = senses[row["sense"]]
        wordings = {name: nfc(row[name]) for name in WORDINGS}
        for name, text in wordings.items():
            _check_marker(where, row, name, text, sense.noun)
        queries[item] = Query(item, sense, wordings, exclude)
    return tuple(queries[item] for item in sorted(queries))


def _check_marker(where: str, row: TableRow, wording: str, text: str, noun: str) -> None:
    marked = _MARKED.findall(text)
    if wording == "neutralized":
        if PLACEHOLDER not in text or "{" in text or "}" in text:
            raise _error(where, row, "neutralized wording without its placeholder", PLACEHOLDER, text)
    elif marked != [noun] or text.count("{") != 1 or text.count("}") != 1:
        raise _error(where, row, f"{wording}: the noun is not marked once", "{" + noun + "}", text)


def _table(source: Source, columns: Iterable[str]) -> Table:
    return parse_table(source.data, source.where, columns=tuple(columns))


def _keys(cell: str) -> frozenset[str]:
    return frozenset() if cell == "-" else frozenset(cell.split())


def _known(where: str, row: TableRow, what: str, keys: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(keys) - set(known))
    if unknown:
        raise _error(where, row, f"unknown {what}", f"a {what} of the {what} table", ", ".join(unknown))


def _error(where: str, row: TableRow, what: str, expected: str, got: str) -> InputError:
    return InputError(what, where=f"{where}, line {row.line}", expected=expected, got=got)
