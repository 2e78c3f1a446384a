"""The rows that predictions are of."""

from __future__ import annotations

from pathlib import Path

from hannun.pages import Held
from hannun.reconstruct.home import built_folder
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.schemas.row import Row


def built_here(benchmark: catalogue.Benchmark) -> Path | None:
    """The folder of a benchmark that is built here; None where it is not."""
    folder = built_folder(benchmark.name)
    return folder if folder.is_dir() else None


def rows_of(folder: Path, benchmark: catalogue.Benchmark) -> dict[str, Row]:
    """Row id -> row of the benchmark's configs that a built folder or a plan holds.

    Raises
    ------
    InputError
        It holds none.
    """
    held = Held.at(folder)
    wanted = {config.name for config in benchmark.configs}
    rows = {row.id: row for row in held.plan.rows() if config_of(row.id) in wanted}
    family = {member.name for member in benchmark.members} | {benchmark.name}
    of_other = held.benchmark.name not in family and not {c.name for c in held.benchmark.configs} & wanted
    if not rows or of_other or held.benchmark.rows_file != benchmark.rows_file:
        raise InputError(
            f"the folder holds no rows of {benchmark.name}",
            where=str(folder),
            expected=", ".join(sorted(wanted)),
            got=held.benchmark.name,
            todo="give the --data that the predictions are of",
        )
    return rows


def folder_of(benchmark: catalogue.Benchmark, data: Path | None) -> Path:
    """The folder that is given, or the one that is built here.

    Raises
    ------
    InputError
        There is neither.
    """
    folder = data or built_here(benchmark)
    if folder is None:
        raise InputError(
            f"{benchmark.name} is not built here",
            where=str(built_folder(benchmark.name)),
            todo=f"hannun build {benchmark.name}, or give --data DIR",
        )
    return folder


def with_pictures(folder: Path) -> Path:
    """The folder, which holds its pictures.

    Raises
    ------
    InputError
        It is a plan, whose pictures are in the store or nowhere.
    """
    held = Held.at(folder)
    if not held.is_build:
        raise InputError(
            "a plan holds no pictures",
            where=str(folder),
            expected="a built folder",
            todo=f"sage-reconstruct run {held.benchmark.name} --out DIR, and give --data DIR",
        )
    return folder
