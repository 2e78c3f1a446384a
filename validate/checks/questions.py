"""Checks of questions: their records in rows.jsonl, and those of a build's tables, which bear no id of a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hannun.builders.layout import IMAGE_IDS
from hannun.schemas.instance import config_of
from hannun.validate.checks.records import check_record
from hannun.validate.finding import Finding
from hannun.validate.reader import Row


class Questions:
    """The questions of rows.jsonl by config and split: a table holds their records in the same order.

    Rows without an id, a split, images or a record are passed over: they have findings already.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._asked: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            config = _config_of(row)
            if config is not None and isinstance(row.values.get("split"), str):
                self._asked[config, row.values["split"]].append(row.values)

    def image_ids(self, config: str, split: str, number: int) -> list[str] | None:
        """Image ids of the question whose record stands at that row, from 0; None where there is none."""
        asked = self._at(config, split, number)
        return None if asked is None else asked["images"]

    def named(self, config: str, split: str, number: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """A table's row under the id of its question."""
        asked = self._at(config, split, number)
        return {**values, "id": asked["id"] if asked else f"{config}/{split}, row {number}"}

    def expected(self, *, by_id: bool) -> Iterator[dict[str, Any]]:
        """What the tables must hold, as `named` gives it; image ids where rows name their pictures by them."""
        for asked in self._asked.values():
            for each in asked:
                yield {**each["record"], "id": each["id"], **({IMAGE_IDS: each["images"]} if by_id else {})}

    def _at(self, config: str, split: str, number: int) -> dict[str, Any] | None:
        asked = self._asked.get((config, split), [])
        return asked[number] if number < len(asked) else None


def is_question(values: Mapping[str, Any]) -> bool:
    """Whether a row is that of a question, not an instance or a record."""
    return isinstance(values.get("record"), dict) and isinstance(values.get("images"), list)


def check_asked(row: Row, schemas: Mapping[str, str]) -> Iterator[Finding]:
    """Findings where the record of a question breaks the schema of its config; `schemas` are their names."""
    schema = schemas.get(_config_of(row) or "")
    if schema is None:
        return
    for each in check_record(Row(row.place, row.values["record"]), schema):
        field = f"record.{each.place.field}" if each.place.field else "record"
        yield replace(each, place=replace(each.place, field=field))


def _config_of(row: Row) -> str | None:
    row_id = row.values.get("id")
    return config_of(row_id) if isinstance(row_id, str) and row_id.count("/") == 2 and is_question(row.values) else None
