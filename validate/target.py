"""What is validated: a built folder, a plan folder, any folder of tables, or one file."""

from __future__ import annotations

from hannun.reconstruct.home import path_of
from hannun.reconstruct.plan_folder import RECIPE
from hannun.validate.known import KnownFolder
from hannun.validate.reader import GivenDialect
from hannun.validate.result import Result, Scope
from hannun.validate.tables import validate_file, validate_folder


def validate(target: str, *, scope: Scope | None = None, dialect: GivenDialect = None) -> Result:
    """Check a path or a benchmark's name.

    Raises
    ------
    InputError
        There is nothing at the path, or it is of no kind that is read.
    """
    path = path_of(target)
    result = Result(target, scope or Scope())
    if path.is_file():
        validate_file(result, path, dialect)
    elif (path / RECIPE).is_file():
        KnownFolder(result, path).validate()
    else:
        validate_folder(result, path, dialect)
    return result
