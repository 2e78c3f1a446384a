"""What is validated: a built folder, a plan folder, any folder of tables, or one file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from hannun.reconstruct.home import path_of
from hannun.reconstruct.hub import snapshot
from hannun.reconstruct.plan_folder import RECIPE
from hannun.reconstruct.transfer import Failed
from hannun.schemas.errors import InputError
from hannun.validate.known import KnownFolder
from hannun.validate.reader import GivenDialect
from hannun.validate.result import Result, Scope
from hannun.validate.table_config import NAME, read_table_config
from hannun.validate.tables import Given, validate_file, validate_folder

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_PATTERNS = ("README.md", "*.parquet", "*.jsonl", "*.tsv", "*.json", NAME)
"""What of a dataset of the Hub is looked at."""


def validate(
    target: str,
    *,
    scope: Scope | None = None,
    dialect: GivenDialect = None,
    config: Path | None = None,
    revision: str | None = None,
    on_row: Callable[[], object] | None = None,
) -> Result:
    """Check a path, a benchmark's name, or a dataset of the Hub (`owner/name`).

    Parameters
    ----------
    dialect
        Of .tsv files.
    config
        A `hannun.toml` that says what columns mean; by default the one beside the tables.
    revision
        Of a dataset of the Hub: branch, tag or commit; the newest when None.
    on_row
        Called for every row of a table that is looked at.

    Raises
    ------
    InputError
        There is nothing at the path, or it is of no kind that is read.
    """
    path = _on_disk(target, revision)
    result = Result(target, scope or Scope(), folder=_folder(target, path), on_row=on_row)
    given = Given(dialect, None if config is None else read_table_config(config))
    if path.is_file():
        validate_file(result, path, given)
    elif (path / RECIPE).is_file():
        KnownFolder(result, path).validate()
    else:
        validate_folder(result, path, given)
    return result


def _folder(target: str, path: Path) -> str | None:
    """The folder below which findings name files, as the user wrote it; None of what is not the user's."""
    if Path(target) != path:
        return None
    return path.parent.as_posix() if path.is_file() else path.as_posix()


def _on_disk(target: str, revision: str | None) -> Path:
    if Path(target).exists() or not _REPO.fullmatch(target):
        return path_of(target)
    try:
        return snapshot(target, _PATTERNS, revision)
    except Failed as failed:
        raise InputError(
            failed.what, where=target, expected="a path, or a dataset of the Hub",
            todo=failed.todo or "run the same command again later",
        ) from None  # fmt: skip
