"""Validation of tables of which nothing is known but what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hannun.schemas.errors import InputError
from hannun.validate.checks.card import card_of, check_counts, data_files
from hannun.validate.checks.declared import DeclaredChecks, classes_of
from hannun.validate.checks.files import check_files
from hannun.validate.checks.images import ImageChecks
from hannun.validate.checks.rows import RowChecks
from hannun.validate.checks.texts import check_texts
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import SUFFIXES, GivenDialect, features_of, rows_of
from hannun.validate.result import Part, Result
from hannun.validate.rule import Level
from hannun.validate.table_config import NAME, TableConfig, read_table_config

Counts = dict[tuple[str, str], int]
"""Config and split -> rows."""


@dataclass(frozen=True)
class Given:
    """What the user says of tables: the dialect of .tsv files, and what columns mean."""

    dialect: GivenDialect = None
    config: TableConfig | None = None


def validate_file(result: Result, path: Path, tables_are: Given) -> None:
    """Check one file."""
    _check_tables(result, path.parent, [(Place(path.name), path)], tables_are)


def validate_folder(result: Result, folder: Path, tables_are: Given) -> None:
    """Check the files that the folder's card names, or all tables below it where it has none.

    Raises
    ------
    InputError
        There are no tables.
    """
    card = card_of(folder) if (folder / "README.md").is_file() else None
    tables: list[tuple[Place, Path]] = []
    if isinstance(card, dict):
        for entry in data_files(folder, card):
            if isinstance(entry, Finding):
                result.findings.append(entry)
            else:
                config, split, path = entry
                tables.append((Place(path.relative_to(folder).as_posix(), config, split), path))
    else:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
        tables = [(Place(path.relative_to(folder).as_posix()), path) for path in paths]
    if not tables and not result.findings:
        raise InputError(
            "no tables in the folder", where=str(folder), expected="files ending in " + ", ".join(SUFFIXES)
        )
    counts = _check_tables(result, folder, tables, tables_are)
    if isinstance(card, dict):
        result.add(Part.SCHEMA, check_counts(card, counts))


def _check_tables(result: Result, folder: Path, tables: list[tuple[Place, Path]], tables_are: Given) -> Counts:
    config = tables_are.config or _config_beside(folder)
    images = ImageChecks(None, result.scope, columns=config.images)
    counts: Counts = {}
    for place, path in tables:
        pictures = result.scope.part.includes(Part.IMAGES)
        declared = DeclaredChecks(
            config if pictures else config.without_images(),
            classes_of(features_of(path)) if path.suffix == ".parquet" else {},
        )
        rows = RowChecks(nullable=declared.nullable)
        count, broken = 0, False
        read = rows_of(place, path, tables_are.dialect, pictures=pictures)
        for row in images.ahead(read) if pictures else read:
            if isinstance(row, Finding):
                result.findings.append(row)
                broken |= row.rule.level is Level.ERROR
                continue
            count += 1
            result.seen()
            named = declared.named(row)
            result.add(Part.ROWS, rows.check(named))
            result.add(Part.ROWS, declared.check(named))
            result.add(Part.ROWS, check_texts(named))
            result.add(Part.ROWS, check_files(named, folder))
            result.add(Part.IMAGES, images.check(row))
        result.rows += count
        if place.config is not None and place.split is not None:
            counts[place.config, place.split] = counts.get((place.config, place.split), 0) + count
        if count == 0 and not broken:
            result.findings.append(finding("no-rows", place, "no rows"))
        result.add(Part.ROWS, rows.finish())
        result.baselines |= rows.baselines() | declared.baselines()
    result.unchecked += images.unchecked
    result.unchecked.append(Unchecked("records against a schema", "the benchmark is not known"))
    return counts


def _config_beside(folder: Path) -> TableConfig:
    path = folder / NAME
    return read_table_config(path) if path.is_file() else TableConfig()
