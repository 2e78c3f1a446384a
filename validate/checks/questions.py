"""Checks of questions: their records in rows.jsonl, and those of a build's tables, which bear no id of a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hannun.builders.layout import IMAGE_IDS, IMAGES
from hannun.schemas.instance import config_of
from hannun.validate.checks.records import check_record
from hannun.validate.finding import Finding
from hannun.validate.reader import Row, row_name

_PICTURES = ("image", IMAGES, IMAGE_IDS)


class Questions:
    """The questions of rows.jsonl by config, split and what their records call themselves.

    Rows without an id, a split, images or a record are passed over: they have findings already.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._asked: dict[tuple[str | None, str | None, str | None], dict[str, Any]] = {}
        for row in rows:
            config = _config_of(row)
            if config is not None and isinstance(row.values.get("split"), str):
                self._asked[config, row.values["split"], row_name(row.values["record"])] = row.values

    def __bool__(self) -> bool:
        return bool(self._asked)

    def image_ids(self, row: Row) -> list[str] | None:
        """Image ids of the question whose record a table's row is; None where there is none."""
        asked = self._of(row)
        return None if asked is None else asked["images"]

    def named(self, row: Row) -> dict[str, Any]:
        """A table's row under the id of its question."""
        asked = self._of(row)
        number = f"{row.place.config}/{row.place.split}, row {row.place.row}"
        return {**row.values, "id": asked["id"] if asked else number}

    def as_written(self, row: Row) -> dict[str, Any]:
        """A table's row as rows.jsonl would have it."""
        named = self.named(row)
        record = {name: value for name, value in row.values.items() if name not in _PICTURES}
        images = row.values.get(IMAGE_IDS) or self.image_ids(row)
        return {"id": named["id"], "split": row.place.split, "images": images, "record": record}

    def expected(self, *, by_id: bool) -> Iterator[dict[str, Any]]:
        """What the tables must hold, as `named` gives it; image ids where rows name their pictures by them."""
        for each in self._asked.values():
            yield {**each["record"], "id": each["id"], **({IMAGE_IDS: each["images"]} if by_id else {})}

    def _of(self, row: Row) -> dict[str, Any] | None:
        return self._asked.get((row.place.config, row.place.split, row.place.row_id))


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
