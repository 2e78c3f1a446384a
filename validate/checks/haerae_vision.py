"""Checks of HAERAE-Vision's own rules: configs that share pictures and checklist, checklists, categories, row count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hannun.builders.layout import IMAGE_IDS, IMAGES
from hannun.reconstruct.plan_folder import RECIPE
from hannun.reconstruct.recipes.checklist import EXPECTED, Form, read_checklist
from hannun.reconstruct.recipes.haerae_vision import COUNTS, PAIRED, WORDINGS
from hannun.schemas.digest import IDENTITY, digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import Row

CATEGORIES = frozenset(
    {
        "게임",
        "엔터테인먼트/예술",
        "자연물(동식물/곤충)",
        "과학",
        "수학",
        "IT/컴퓨터",
        "코딩/개발",
        "경제/경영",
        "자동차/자전거/교통",
        "건강/의료",
    }
)
"""Ten of thirteen, as a third party saw them in the set of 2025-09; the paper has English names only."""
MOST_CRITERIA = 5
"""Of a checklist, and at least one (the paper)."""

_CONFIGS = frozenset({*WORDINGS, PAIRED})
_SHARED = (IMAGES, "checklist", "checklist_raw", "category", "source", "answer")


class Checks:
    """Checks questions one by one, and at the end what they break together.

    A question is looked at by itself once, in the config that comes first.
    """

    def __init__(self, recipe: Mapping[str, Any]) -> None:
        counts = recipe.get("counts", {})
        self._planned = counts.get("rows", 0) // len(_CONFIGS)
        self._published = self._planned + counts.get("dropped", 0)
        self._first: dict[str, tuple[Place, dict[str, Any]]] = {}
        self._configs: dict[str, set[str]] = {}
        self._forms: Counter[Form] = Counter()
        self._form_at: dict[Form, Place] = {}
        self._categories: Counter[str | None] = Counter()
        self._category_at: dict[str | None, Place] = {}

    @property
    def unchecked(self) -> Iterator[Unchecked]:
        """Nothing: all that these checks need is here."""
        yield from ()

    def check(self, row: Row) -> Iterator[Finding]:
        """Findings about one row of rows.jsonl or of a table; other types are the schema's task."""
        record = row.values.get("record", row.values)
        name = record.get("question_idx") if isinstance(record, Mapping) else None
        config = _config(row)
        if not isinstance(name, str) or config is None:
            return
        shared = {field: record.get(field) for field in _SHARED if field != IMAGES}
        shared[IMAGES] = _pictures(row.values)
        self._configs.setdefault(name, set()).add(config)
        if name not in self._first:
            self._first[name] = row.place, shared
            yield from self._check_alone(row, shared)
            return
        place, first = self._first[name]
        for field in _SHARED:
            if shared[field] != first[field]:
                message = f"{field} of question {name} is not that of the other configs"
                yield finding(
                    "hv-unshared", row.at(field), message, expected=f"as in {place}", found=f"another {field}"
                )

    def finish(self) -> Iterator[Finding]:
        """Findings about all rows together."""
        for name, configs in self._configs.items():
            missing = sorted(_CONFIGS - configs)
            if missing:
                yield finding("hv-config", self._first[name][0], f"question {name} is not in {', '.join(missing)}")
        for form, count in sorted(self._forms.items()):
            yield finding("hv-form", self._form_at[form], f"{count:,} checklists are {form.value}; this is the first")
        for category, count in self._categories.items():
            message = f"category {category!r} is not among those known; {count:,} questions have it"
            yield finding("hv-category", self._category_at[category], message, found=category)
        yield self._row_count()

    def _check_alone(self, row: Row, shared: Mapping[str, Any]) -> Iterator[Finding]:
        category = shared["category"]
        if category not in CATEGORIES and (category is None or isinstance(category, str)):
            self._categories[category] += 1
            self._category_at.setdefault(category, row.at("category"))
        items, raw = shared["checklist"], shared["checklist_raw"]
        if not isinstance(items, list) or not isinstance(raw, str):
            return
        if not 1 <= len(items) <= MOST_CRITERIA:
            expected = f"1 to {MOST_CRITERIA}"
            yield finding(
                "hv-criteria", row.at("checklist"), f"{len(items)} criteria", expected=expected, found=str(len(items))
            )
        twice = sorted(str(item) for item, count in Counter(map(str, items)).items() if count > 1)
        if twice:
            yield finding("hv-criterion", row.at("checklist"), "a criterion stands there twice", found=twice[0])
        yield from self._check_verbatim(row, items, raw)

    def _check_verbatim(self, row: Row, items: list[Any], raw: str) -> Iterator[Finding]:
        at = row.at("checklist_raw")
        try:
            read = read_checklist(raw)
        except InputError as error:
            yield finding("hv-verbatim", at, error.what, expected=error.expected, found=error.got)
            return
        if list(read.items) != items:
            yield finding("hv-verbatim", at, "another checklist", expected=str(list(read.items)), found=str(items))
        if read.blank:
            yield finding("hv-criterion", at, f"{read.blank} blank criteria, left out")
        if read.form not in EXPECTED:
            self._forms[read.form] += 1
            self._form_at.setdefault(read.form, at)

    def _row_count(self) -> Finding:
        here = len(self._configs)
        less = "" if here == self._planned else f"; {here:,} of them are here"
        place = Place(RECIPE, field="counts")
        found = f"{self._published:,} rows were published"
        if self._published in COUNTS:
            return finding("hv-rows", place, f"{found}: {COUNTS[self._published]}{less}")
        expected = " or ".join(map(str, COUNTS))
        return finding("hv-other-rows", place, found + less, expected=expected, found=str(self._published))


def _config(row: Row) -> str | None:
    """The config of a table's row by its file, of a row of rows.jsonl by its id."""
    row_id = row.values.get("id")
    if row.place.config is None and isinstance(row_id, str) and row_id.count("/") == 2:
        return config_of(row_id)
    return row.place.config


def _pictures(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a row's pictures from others: image ids, or digests where the row holds the pictures."""
    cells = values.get(IMAGE_IDS) or values.get(IMAGES)
    return tuple(map(_picture, cells)) if isinstance(cells, list) else ()


def _picture(cell: Any) -> str:
    data = cell.get("bytes") if isinstance(cell, Mapping) else cell
    return digests_of(data, [IDENTITY])[IDENTITY] if isinstance(data, bytes) else str(data)
