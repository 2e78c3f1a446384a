"""A folder that the user gives for an archive."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hannun.reconstruct.archives.index import Index
from hannun.reconstruct.archives.members import few_enough
from hannun.reconstruct.archives.pieces import counted, pieces_of
from hannun.reconstruct.archives.stored_name import StoredName, refuse_fork, shown
from hannun.reconstruct.transfer import Failed, Transfer
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.text_file import find_file


class Folder:
    """Files of a folder, and of what it links to: links are the user's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, member: str, max_bytes: int) -> Transfer:
        refuse_fork(member)
        try:
            found = find_file(self._folder, member)
        except InputError as error:
            raise Failed(Outcome.REFUSED, f"{error.what}: {error.got}") from None
        except OSError as error:
            outcome = Outcome.GONE if error.errno == errno.ENAMETOOLONG else Outcome.NEEDS_PERSON
            raise Failed(outcome, f"{shown(member)}: {error.strerror}") from None
        path, note = found or self._index.find(member)
        return Transfer(counted(_pieces(path), max_bytes), note=note)

    @cached_property
    def _index(self) -> Index[Path]:
        paths = (Path(folder, name) for folder, _, files in os.walk(self._folder) for name in files)
        return Index(
            (StoredName.escaped(path.relative_to(self._folder).as_posix()), path) for path in few_enough(paths)
        )


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            yield from pieces_of(stream)
    except FileNotFoundError:
        raise Failed(Outcome.GONE, "the file is not there any more") from None
    except OSError as error:
        raise Failed(Outcome.NEEDS_PERSON, f"cannot be read: {error.strerror}") from None
