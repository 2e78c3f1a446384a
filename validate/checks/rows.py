"""Checks of rows: fields, types, ids, and the invariants of instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hannun.schemas.baselines import form_baselines
from hannun.schemas.invariants import Violation, set_violations, violations
from hannun.validate.finding import Finding, Place, finding
from hannun.validate.reader import ID_COLUMNS, Row

REQUIRED = frozenset(
    {"question", "question_original", "question_explicit", "context", "target", "criteria", "candidates"}
)
"""Fields without which a row of such a benchmark cannot be used; elsewhere an empty cell only warns."""

_LABELS = ("label", "gold_index")


class RowChecks:
    """Checks rows one by one, and at the end what they break together; `nullable` fields may hold nothing."""

    def __init__(
        self, *, split_by: str | None = None, share_by: str | None = None, nullable: frozenset[str] = frozenset()
    ) -> None:
        self._split_by = split_by
        self._nullable = nullable
        self._share_by = share_by
        self._fields: dict[str, type] = {}
        self._columns: dict[str, tuple[str, ...]] = {}
        self._instances: list[dict[str, Any]] = []
        self._places: dict[str, Place] = {}
        self._files: list[Place] = []
        self.count = 0

    def check(self, row: Row, as_written: Mapping[str, Any] | None = None) -> Iterator[Finding]:
        """Findings about one row by itself.

        Parameters
        ----------
        as_written
            The row as the plan's file of rows has it, where its table says less.
        """
        self.count += 1
        if not self._files or self._files[-1].file != row.place.file:
            self._files.append(Place(row.place.file, row.place.config, row.place.split))
        yield from self._check_fields(row)
        view = instance_view(row.values if as_written is None else as_written)
        self._places.setdefault(str(view.get("id")), row.place)
        for each in violations(view):
            yield _finding(each, row.place)
        self._instances.append(_slim(view))

    def finish(self) -> Iterator[Finding]:
        """Findings about all rows together."""
        for each in set_violations(self._instances, split_by=self._split_by, share_by=self._share_by):
            place = self._places.get(each.row_id or "", self._files[0] if self._files else Place("."))
            yield _finding(each, place)

    def baselines(self) -> dict[str, float]:
        """Hits@1 of answers that need no picture; empty without instances."""
        return form_baselines(self._instances)

    def _check_fields(self, row: Row) -> Iterator[Finding]:
        columns = self._columns.setdefault(row.place.file, tuple(row.values))
        for name in columns:
            if name not in row.values:
                rule = "missing-required" if name in REQUIRED else "missing-field"
                yield finding(rule, row.at(name), f"no field {name!r}", expected="as in the first row", found="absent")
        for name, value in row.values.items():
            if value is None and name in self._nullable:
                continue
            if value is None or value == "":
                rule = "missing-required" if name in REQUIRED else "empty-cell"
                yield finding(rule, row.at(name), f"{name} is {'null' if value is None else 'empty'}")
                continue
            known = self._fields.setdefault(name, type(value))
            if known is not type(value) and {known, type(value)} != {int, float}:
                yield finding(
                    "mixed-types",
                    row.at(name),
                    f"{name} holds more than one type",
                    expected=known.__name__,
                    found=type(value).__name__,
                )


def instance_view(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the invariants see it: `index` and the like are ids, `gold_index` is a label."""
    view = dict(values)
    for key in ID_COLUMNS:
        if values.get(key) is not None:
            view["id"] = values[key]
            break
    if "candidates" not in values:
        view.pop("label", None)
        return view
    if not isinstance(values["candidates"], list):
        view["candidates"] = []
    for key in _LABELS:
        if key in values:
            view["label"] = values[key]
            break
    return view


def same_rows(
    file: Place, expected: Iterable[Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    """Findings where the tables do not hold the rows of the file of rows.

    Parameters
    ----------
    rows
        Id -> row of the tables, without images.
    """
    seen: dict[str, tuple[str, Any]] = {}
    for row in expected:
        row_id = str(row["id"])
        seen[row_id] = row_id.rpartition("/")[0], row.get("split")
        place = Place(file.file, row_id=row_id)
        if row_id not in rows:
            yield finding("rows-differ", place, "row is missing from the tables")
            continue
        for name, value in row.items():
            if rows[row_id].get(name) != value:
                yield finding(
                    "rows-differ",
                    Place(file.file, row_id=row_id, field=name),
                    f"{name} differs between {file.file} and the table",
                    expected=_short(value),
                    found=_short(rows[row_id].get(name)),
                )
    for row_id in sorted(set(rows) - set(seen)):
        yield finding("rows-differ", Place(file.file, row_id=row_id), "row stands in the tables only")
    yield from _same_order(file, seen, rows)


def _same_order(file: Place, expected: Mapping[str, tuple[str, Any]], rows: Iterable[str]) -> Iterator[Finding]:
    """A finding for each config and split whose table has its rows in another order; the first row that differs."""
    wanted: dict[tuple[str, Any], list[str]] = {}
    got: dict[tuple[str, Any], list[str]] = {}
    there = dict.fromkeys(rows)
    for row_id, where in expected.items():
        if row_id in there:
            wanted.setdefault(where, []).append(row_id)
    for row_id in there:
        if row_id in expected:
            got.setdefault(expected[row_id], []).append(row_id)
    for where, ids in wanted.items():
        if ids != got[where]:
            first, found = next((a, b) for a, b in zip(ids, got[where], strict=True) if a != b)
            place = Place(file.file, row_id=first)
            yield finding("row-order", place, "the table has its rows in another order", expected=first, found=found)


def _slim(view: Mapping[str, Any]) -> dict[str, Any]:
    wanted = ("id", "split", "context", "target_span", "candidates", "label", "spares", "source", "record")
    slim = {name: view[name] for name in wanted if name in view}
    images = view.get("images")
    # Ids only: in a table the column may hold the pictures themselves.
    named = isinstance(images, list) and all(isinstance(each, str) for each in images)
    return {**slim, "images": images} if named else slim


def _finding(violation: Violation, place: Place) -> Finding:
    at = Place(place.file, place.config, place.split, place.row, violation.row_id or place.row_id, violation.field)
    return finding(violation.rule, at, violation.message, expected=violation.expected, found=violation.found)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:199] + "…"
