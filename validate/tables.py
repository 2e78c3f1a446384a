"""Validation of tables of which nothing is known but what they hold."""

from __future__ import annotations

from pathlib import Path

from hannun.schemas.errors import InputError
from hannun.validate.checks.card import card_of, data_files
from hannun.validate.checks.files import check_files
from hannun.validate.checks.images import ImageChecks
from hannun.validate.checks.rows import RowChecks
from hannun.validate.checks.texts import check_texts
from hannun.validate.finding import Finding, Place, Unchecked, finding
from hannun.validate.reader import SUFFIXES, GivenDialect, rows_of
from hannun.validate.result import Part, Result
from hannun.validate.rule import Level


def validate_file(result: Result, path: Path, dialect: GivenDialect) -> None:
    """Check one file."""
    _check_tables(result, path.parent, [(Place(path.name), path)], dialect)


def validate_folder(result: Result, folder: Path, dialect: GivenDialect) -> None:
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
    _check_tables(result, folder, tables, dialect)


def _check_tables(result: Result, folder: Path, tables: list[tuple[Place, Path]], dialect: GivenDialect) -> None:
    images = ImageChecks(None, result.scope)
    for place, path in tables:
        rows = RowChecks()
        count, broken = 0, False
        read = rows_of(place, path, dialect)
        for row in images.ahead(read) if result.scope.part.includes(Part.IMAGES) else read:
            if isinstance(row, Finding):
                result.findings.append(row)
                broken |= row.rule.level is Level.ERROR
                continue
            count += 1
            result.add(Part.ROWS, rows.check(row))
            result.add(Part.ROWS, check_texts(row))
            result.add(Part.ROWS, check_files(row, folder))
            result.add(Part.IMAGES, images.check(row))
        result.rows += count
        if count == 0 and not broken:
            result.findings.append(finding("no-rows", place, "no rows"))
        result.add(Part.ROWS, rows.finish())
        result.baselines |= rows.baselines()
    result.unchecked += images.unchecked
    result.unchecked.append(Unchecked("records against a schema", "the benchmark is not known"))
