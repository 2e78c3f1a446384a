"""TOML files of users, read against their schema."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.text_file import read_text


def read_toml(path: Path, schema: str, *, what: str, expected: str) -> dict[str, Any]:
    """A TOML file as the schema of that name describes it.

    Parameters
    ----------
    what, expected
        What it should be, and hold, as errors say it.

    Raises
    ------
    InputError
        It cannot be read, is no TOML, or is something else.
    """
    try:
        value = tomllib.loads(read_text(path).text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("not TOML", where=str(path), got=str(error), todo="correct the file") from None
    wrong = problems(schema, value)
    if wrong:
        at, message = wrong[0]
        raise InputError(f"not {what}", where=f"{path}, {at}", expected=expected, got=message, todo="correct the file")
    return value
