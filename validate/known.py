"""Validation of a plan folder or a built folder of a benchmark that the catalogue knows."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from hannun.builders.layout import IMAGES, Layout, layout_of, table_features
from hannun.reconstruct.plan_folder import LOCK, RECIPE
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.row import SCHEMAS
from hannun.schemas.strict_json import load
from hannun.validate.checks.card import card_of, check_counts, check_head, data_files
from hannun.validate.checks.images import ImageChecks, check_locked
from hannun.validate.checks.questions import Questions, check_asked, is_question
from hannun.validate.checks.records import check_columns, check_record, nullable_fields
from hannun.validate.checks.rows import RowChecks, same_rows
from hannun.validate.checks.texts import check_texts
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import Row, rows_of
from hannun.validate.result import Part, Result


class OwnChecks(Protocol):
    """What a benchmark's own module of checks offers as `Checks(recipe)`."""

    def check(self, row: Row) -> Iterator[Finding]: ...
    def finish(self) -> Iterator[Finding]: ...
    @property
    def unchecked(self) -> Iterator[Unchecked]: ...


def own_checks(benchmark: catalogue.Benchmark, recipe: Mapping[str, Any]) -> list[OwnChecks]:
    """The checks that only this benchmark has: those of its recipes, where they have any."""
    modules = [f"hannun.validate.checks.{each}" for each in benchmark.recipes]
    return [
        cast("OwnChecks", importlib.import_module(name).Checks(recipe))
        for name in modules
        if importlib.util.find_spec(name) is not None
    ]


class KnownFolder:
    """One folder under validation; everything is said into `result`."""

    def __init__(self, result: Result, folder: Path) -> None:
        self._result = result
        self._folder = folder
        self._own: list[OwnChecks] = []

    def validate(self) -> None:
        """Check the folder: recipe, lock, rows, and where it is a build its tables, pictures and card."""
        recipe = self._recipe()
        if recipe is None or recipe["benchmark"] not in catalogue.names():
            if recipe is not None:
                place = Place(RECIPE, field="benchmark")
                known = ", ".join(catalogue.names())
                message = "no known benchmark"
                self._result.findings.append(
                    finding("schema", place, message, expected=known, found=recipe["benchmark"])
                )
            self._result.unchecked.append(Unchecked("everything else", f"{RECIPE} names no known benchmark"))
            return
        benchmark = catalogue.benchmark(recipe["benchmark"])
        lock = self._lock()
        rows_file = benchmark.rows_file
        written = list(self._rows(Place(rows_file), self._folder / rows_file))
        records = {config.name: config.record or benchmark.record for config in benchmark.configs}
        for row in written:
            self._result.add(Part.SCHEMA, check_record(row, SCHEMAS[rows_file]))
            self._result.add(Part.SCHEMA, check_asked(row, records))
        nullable = frozenset(field for record in set(records.values()) for field in nullable_fields(record))
        checks = RowChecks(split_by=benchmark.split_by, share_by=benchmark.share_by, nullable=nullable)
        self._own = own_checks(benchmark, recipe)
        if (self._folder / "README.md").exists() or any(self._folder.glob("*/*.parquet")):
            self._check_build(benchmark, lock, written, checks)
        else:
            why = "a plan holds none: sage-reconstruct verify checks them"
            self._result.unchecked.append(Unchecked("pictures", why))
            for row in written:
                self._check_row(row, checks)
                self._result.add(Part.ROWS, check_locked(row, lock))
        self._result.rows = checks.count or len(written)
        self._result.add(Part.ROWS, checks.finish())
        for own in self._own:
            self._result.add(Part.ROWS, own.finish())
            self._result.unchecked += own.unchecked
        self._result.baselines |= {**recipe.get("baselines", {}), **checks.baselines()}

    def _check_build(
        self, benchmark: catalogue.Benchmark, lock: dict[str, LockEntry], written: list[Row], checks: RowChecks
    ) -> None:
        card = card_of(self._folder)
        layout = layout_of(self._folder)
        features = table_features(benchmark, layout)
        images = ImageChecks(lock, self._result.scope)
        questions = Questions(written)
        records = {config.name: config.record or benchmark.record for config in benchmark.configs}
        counts: dict[tuple[str, str], int] = {}
        tables: dict[str, dict[str, Any]] = {}
        for config, split, path in self._tables(card):
            place = Place(path.relative_to(self._folder).as_posix(), config, split)
            self._result.add(Part.SCHEMA, check_columns(place, path, features.get(config, {})))
            holds_images = layout is Layout.BY_ID and config == IMAGES
            for row in self._looked_at(images, self._rows(place, path)):
                self._result.seen()
                counts[config, split] = counts.get((config, split), 0) + 1
                schema = "image" if holds_images else records.get(config, benchmark.record)
                self._result.add(Part.SCHEMA, check_record(row, schema))
                self._result.add(Part.IMAGES, images.check(row, questions.image_ids(row)))
                if not holds_images:
                    self._check_row(row, checks, questions.as_written(row) if questions else None)
                    values = questions.named(row) if questions else row.values
                    tables[str(values.get("id"))] = {k: v for k, v in values.items() if k not in ("image", IMAGES)}
        self._result.add(Part.IMAGES, images.finish(Place(LOCK)))
        self._result.unchecked += images.unchecked
        if layout is Layout.BY_ID:
            self._result.add(Part.IMAGES, images.missing(Place(benchmark.rows_file), tables))
        if isinstance(card, dict):
            self._result.add(Part.SCHEMA, check_counts(card, counts))
            self._result.add(Part.SCHEMA, check_head(self._folder, benchmark, card, lock.values()))
        instances = (row.values for row in written if "id" in row.values and not is_question(row.values))
        expected = [*instances, *questions.expected(by_id=layout is Layout.BY_ID)]
        self._result.add(Part.ROWS, same_rows(Place(benchmark.rows_file), expected, tables))

    def _looked_at(self, images: ImageChecks, rows: Iterator[Row]) -> Iterator[Row]:
        return images.ahead(rows) if self._result.scope.part.includes(Part.IMAGES) else rows

    def _check_row(self, row: Row, checks: RowChecks, as_written: Mapping[str, Any] | None = None) -> None:
        self._result.add(Part.ROWS, checks.check(row, as_written))
        self._result.add(Part.ROWS, check_texts(row))
        for own in self._own:
            self._result.add(Part.ROWS, own.check(row))

    def _tables(self, card: dict[str, Any] | Finding) -> Iterator[tuple[str, str, Path]]:
        if isinstance(card, Finding):
            self._result.findings.append(card)
            for path in sorted(self._folder.glob("*/*.parquet")):
                yield path.parent.name, path.name.partition("-")[0], path
            return
        for entry in data_files(self._folder, card):
            if isinstance(entry, Finding):
                self._result.findings.append(entry)
            else:
                yield entry

    def _rows(self, place: Place, path: Path) -> Iterator[Row]:
        """Rows of a file; what cannot be read becomes findings."""
        before = len(self._result.findings)
        count = 0
        try:
            for row in rows_of(place, path):
                if isinstance(row, Finding):
                    self._result.findings.append(row)
                else:
                    count += 1
                    yield row
        except InputError as error:
            rule = "damaged-file" if path.is_file() else "missing-file"
            self._result.findings.append(finding(rule, place, error.what, found=error.got))
            return
        if count == 0 and len(self._result.findings) == before:
            self._result.findings.append(finding("no-rows", place, "no rows"))

    def _recipe(self) -> dict[str, Any] | None:
        try:
            value = load(self._folder / RECIPE)
        except InputError as error:
            self._result.findings.append(finding("broken-line", Place(RECIPE), error.what, found=error.got))
            return None
        found = list(check_record(Row(Place(RECIPE), value), "recipe"))
        self._result.findings += found
        return None if found else value

    def _lock(self) -> dict[str, LockEntry]:
        lock: dict[str, LockEntry] = {}
        for row in self._rows(Place(LOCK), self._folder / LOCK):
            problems = list(check_record(row, "lock"))
            self._result.add(Part.SCHEMA, problems)
            if problems:
                continue
            entry = LockEntry.from_json(row.values)
            if entry.image_id in lock:
                place = Place(LOCK, row=row.place.row, field="image_id")
                self._result.findings.append(finding("duplicate-id", place, f"{entry.image_id} twice in the lock"))
            lock[entry.image_id] = entry
        return lock
