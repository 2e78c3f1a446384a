"""Checks of files that rows name: there, under that name, with that digest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hannun.schemas.digest import HEX_LENGTH, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.text_file import find_file
from hannun.validate.finding import Finding, finding
from hannun.validate.reader import Row

_NAMES = ("file", "file_name", "filename")
_FOLDERS = ("", "files", "images")


def check_files(row: Row, folder: Path) -> Iterator[Finding]:
    """Findings about the file that a row names beside a digest; `folder` is where the table lies."""
    column = next((name for name in _NAMES if isinstance(row.values.get(name), str)), None)
    digests = {name: row.values[name] for name in HEX_LENGTH if isinstance(row.values.get(name), str)}
    if column is None or not digests:
        return
    place = row.at(column)
    name = row.values[column]
    try:
        found = next(filter(None, (find_file(folder / sub, name) for sub in _FOLDERS if (folder / sub).is_dir())), None)
    except InputError as error:
        yield finding("missing-file", place, error.what, found=error.got)
        return
    except OSError as error:
        yield finding("missing-file", place, f"cannot be looked up: {error.strerror}")
        return
    if found is None:
        yield finding("missing-file", place, f"no file {name!r}", expected=f"below {folder}")
        return
    path, note = found
    if note:
        yield finding("file-name-form", place, note)
    got = digests_of_file(path, digests)
    for algorithm, value in digests.items():
        if got[algorithm] != value.lower():
            yield finding(
                "file-digest", place, f"{name!r} has another {algorithm}", expected=value, found=got[algorithm]
            )
