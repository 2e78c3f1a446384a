"""Archives: members of a folder, a zip or a tar, streamed one by one and never unpacked under their own names.

An archive is somebody else's input: its names decide nothing on disk, its declared sizes are not believed,
and one unsafe member is reason enough to read none of it.
"""

from __future__ import annotations

import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from hannun.reconstruct.archives.compressed_tar import COMPRESSED_FILES, unpacked_tar
from hannun.reconstruct.archives.damage import GET_AGAIN, Explained
from hannun.reconstruct.archives.folder import Folder
from hannun.reconstruct.archives.stand_in import stand_in
from hannun.reconstruct.archives.tar_archive import TarArchive, is_tar
from hannun.reconstruct.archives.zip_archive import ZIP_MAGICS, ZipArchive
from hannun.reconstruct.transfer import Failed, Limits, Transfer
from hannun.schemas.outcome import Outcome

_HEAD_BYTES = 1 << 16
"""Enough to tell a Google Drive page, too."""

_Source = Folder | ZipArchive | TarArchive


class Archives:
    """Opens members of archives; keeps the archives open between calls, and remembers the unusable ones."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._stack = ExitStack()
        self._opened: dict[Path, _Source | Failed] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._opened.clear()

    def open(self, source_name: str, path: Path, member: str) -> Transfer:
        """The bytes of a member, found by its name or by another form of it, which the note then gives.

        Parameters
        ----------
        source_name
            What the user calls the archive; for messages.
        path
            A folder, a zip or a tar, told by content.
        member
            Name of the member, with `/` between its parts.

        Raises
        ------
        Failed
            `needs-person`: not a whole archive, or encrypted; `refused`: unsafe, or several members answer;
            `gone`: no such member. While reading also `too-large` and `damaged`.
        IncompleteError
            No room to unpack a compressed tar.
        """
        try:
            return self._source(path).open(member, self._limits.max_bytes)
        except Failed as failure:
            raise Failed(failure.outcome, f"source {source_name}: {failure.note}") from None

    def _source(self, path: Path) -> _Source:
        source = self._opened.get(path)
        if source is None:
            # What an archive that turns out unusable holds open, a temporary file above all, is let go at once.
            with ExitStack() as opening:
                try:
                    source = _open_source(path, opening)
                    self._stack.enter_context(opening.pop_all())
                except Failed as failure:
                    source = failure
            self._opened[path] = source
        if isinstance(source, Failed):
            raise Failed(source.outcome, source.note)
        return source


def _open_source(path: Path, stack: ExitStack) -> _Source:
    try:
        if path.is_dir():
            return Folder(path)
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        if head.startswith(ZIP_MAGICS):
            return ZipArchive(stack.enter_context(path.open("rb")), stack)
        for magic, compressed_file in COMPRESSED_FILES.items():
            if head.startswith(magic):
                return TarArchive(unpacked_tar(path, compressed_file, stack), stack)
        if is_tar(head):
            return TarArchive(stack.enter_context(path.open("rb")), stack)
        if zipfile.is_zipfile(path):  # with something before it: self-extracting
            return ZipArchive(stack.enter_context(path.open("rb")), stack)
    except OSError as error:
        raise Failed(Outcome.NEEDS_PERSON, f"cannot be read: {error.strerror}") from None
    what, todo = stand_in(head) or Explained(f"not a zip, a tar or a folder: begins with {head[:8]!a}", GET_AGAIN)
    raise Failed(Outcome.NEEDS_PERSON, what, todo=todo)
