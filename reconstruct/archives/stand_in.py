"""Stand-ins: what lies in place of a file when a download went wrong, or it is packed in a way that is not read."""

from __future__ import annotations

from hannun.reconstruct.archives.damage import GET_AGAIN, UNPACK, Explained
from hannun.reconstruct.archives.drive_page import drive_page, is_html
from hannun.schemas.packed import FOREIGN

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_BLANK = b"\0 \t\r\n\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16


def stand_in(data: bytes) -> Explained | None:
    """What lies in place of a file, and what to do; None where it may be the file itself.

    Parameters
    ----------
    data
        The file, or some ten kilobytes of its beginning.
    """
    head = data[:_HEAD_BYTES]
    page = drive_page(head)
    if page is not None:
        return page
    if is_html(head):
        return Explained("an HTML page and not the file", "get the file itself; on GitHub, the raw one")
    if head.startswith(_LFS_POINTER):
        return Explained("a Git LFS pointer and not the file", "get the file itself: git lfs pull, or download it")
    if not head.strip(_BLANK) and (data == head or data.isspace() or data.count(0) == len(data)):
        return Explained(_blank(data), GET_AGAIN)
    for magic, name in FOREIGN.items():
        if head.startswith(magic):
            return Explained(f"{name}, which is not read", UNPACK)
    return None


def _blank(data: bytes) -> str:
    if not data:
        return "an empty file"
    return "nothing but zeros" if data.startswith(b"\0") else "nothing but white space"
