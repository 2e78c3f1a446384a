"""Checks of tables of one's own: columns hold what `hannun.toml`, or the table's own features, say they do."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hannun.validate.finding import Finding, Place, finding
from hannun.validate.reader import ID_COLUMNS, Row
from hannun.validate.table_config import TableConfig

UNLABELLED = -1
"""What `datasets` takes for no label."""


class DeclaredChecks:
    """Checks the rows of one table.

    Parameters
    ----------
    classes
        Column -> names of its classes, as the table's own features have them; `config` adds to them.
    """

    def __init__(self, config: TableConfig, classes: Mapping[str, Sequence[str]]) -> None:
        self._config = config
        self._classes = {**classes, **config.classes}
        self._absent: set[str] = set()
        self._ids: dict[str, int] = {}
        self._labels: Counter[int] = Counter()

    @property
    def nullable(self) -> frozenset[str]:
        """Columns that may hold nothing: what is not labelled is told by itself."""
        return frozenset(self._classes)

    def named(self, row: Row) -> Row:
        """The row under the id that the configuration names."""
        value = row.values.get(self._config.id) if self._config.id else None
        return row if value is None else Row(replace(row.place, row_id=str(value)), row.values)

    def check(self, row: Row) -> Iterator[Finding]:
        """Findings about one row."""
        for column in self._config.columns:
            if column not in row.values and column not in self._absent:
                self._absent.add(column)
                place = Place(row.place.file, row.place.config, row.place.split, field=column)
                there = difflib.get_close_matches(column, row.values, n=1)
                near = f"{column}, perhaps {there[0]}" if there else column
                yield finding("declared-column", place, f"no column {column!r}", expected=near)
        yield from self._check_id(row)
        yield from self._check_filled(row)
        yield from self._check_choice(row)
        for column, names in self._classes.items():
            if column in row.values:
                yield from _check_class(row.at(column), row.values[column], names)

    def baselines(self) -> dict[str, float]:
        """Share of right answers of whoever always takes one place; empty without candidates."""
        total = self._labels.total()
        if not total:
            return {}
        place, count = self._labels.most_common(1)[0]
        return {"first candidate": self._labels[0] / total, f"always place {place}": count / total}

    def _check_id(self, row: Row) -> Iterator[Finding]:
        column = self._config.id
        # The usual names are looked at without being declared.
        if column is None or column in ID_COLUMNS or column not in row.values:
            return
        value = row.values[column]
        if value is None or value == "":
            yield finding("missing-required", row.at(column), f"{column} is {'null' if value is None else 'empty'}")
            return
        before = self._ids.setdefault(str(value), row.place.row or 0)
        if before != (row.place.row or 0):
            yield finding("duplicate-id", row.at(column), f"id used before, in row {before}")

    def _check_filled(self, row: Row) -> Iterator[Finding]:
        for column in self._config.text:
            value = row.values.get(column)
            if column in row.values and not (isinstance(value, str) and value.strip()):
                said = "null" if value is None else "blank" if isinstance(value, str) else type(value).__name__
                yield finding("declared-text", row.at(column), f"{column} holds no text", found=said)
        for column in self._config.images:
            if column in row.values and row.values[column] == []:
                yield finding("image-bytes", row.at(column), "no image")

    def _check_choice(self, row: Row) -> Iterator[Finding]:
        column, label = self._config.candidates, self._config.label
        if column is None or label is None or column not in row.values:
            return
        candidates = row.values[column]
        if not isinstance(candidates, list) or len(candidates) < 2:
            yield finding("declared-candidates", row.at(column), "nothing to choose from", found=_short(candidates))
            return
        copies = [each for number, each in enumerate(candidates) if each in candidates[:number]]
        if copies:
            yield finding(
                "duplicate-candidate", row.at(column), "a candidate stands there twice", found=_short(copies[0])
            )
        place = row.values.get(label)
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(candidates):
            yield finding(
                "label-range", row.at(label), "no place of a candidate", expected=f"0 to {len(candidates) - 1}",
                found=_short(place),
            )  # fmt: skip
        else:
            self._labels[place] += 1


def classes_of(features: Any) -> dict[str, tuple[str, ...]]:
    """Column -> names of its classes, of the columns that a table's features call a ClassLabel."""
    found = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        names = feature.get("names") if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" else None
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            found[column] = tuple(names)
    return found


def _check_class(place: Place, value: Any, names: Sequence[str]) -> Iterator[Finding]:
    if value is None or (value == UNLABELLED and not isinstance(value, bool)):
        yield finding("unlabelled", place, "no label", found="null" if value is None else str(value))
    elif isinstance(value, str):
        if value not in names:
            near = next(
                (name for name in names if name.casefold() == value.strip().casefold()),
                next(iter(difflib.get_close_matches(value, names, n=1)), None),
            )
            expected = f"{near!r}" if near else ", ".join(names[:10])
            yield finding("class-name", place, "no class of that name", expected=expected, found=repr(value))
    elif isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(names):
        expected = f"0 to {len(names) - 1}, or {UNLABELLED} for no label"
        yield finding("class-name", place, "no class of that number", expected=expected, found=_short(value))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 100 else text[:99] + "…"
