"""Google Drive pages that were saved in place of a file, and what to do about each."""

from __future__ import annotations

import html
import re

from hannun.reconstruct.archives.damage import Explained

_HTML = re.compile(
    r"\ufeff?\s*(?:<\?xml.*?\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|title|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_DRIVE = "Google (?:Drive|드라이브|ドライブ|云端硬盘|雲端硬碟)"
_DRIVE_TITLE = re.compile(
    rf"(?:Meet )?{_DRIVE}(?: [-–] |: |$)|.* [-–] (?:{_DRIVE}|Google Accounts|Google 계정)$",
    re.IGNORECASE | re.DOTALL,
)
_DRIVE_MARK = re.compile(
    r"\buc-(?:download-link|warning-caption|error-caption)\b"
    r"|action=[\"']?https://(?:drive|docs)(?:\.usercontent)?\.google\.com/(?:uc|download)\b"
    r"|saved from url=\(\d+\)https://(?:drive|docs|accounts)(?:\.usercontent)?\.google\.com/"
    r"|<base href=[\"']?https://accounts\.google\.com/"
    r"|https://accounts\.google\.com/[^\s\"'<>]*continue=https(?::|%3A)(?://|%2F%2F)(?:drive|docs)\.",
    re.IGNORECASE,
)
"""What stands on Drive's pages in every language, and not on pages that only link to a file there."""

_DRIVE_KINDS = (
    (
        re.compile(r"quota exceeded|too many users|view or download this file at this time|할당량", re.IGNORECASE),
        "its download quota is exceeded",
        "wait a day, or copy the file into a Drive of your own; open the address in a browser, confirm the download",
    ),
    (
        re.compile(r"virus scan|file for viruses|바이러스|\buc-(?:download-link|warning-caption)\b", re.IGNORECASE),
        "it warns that there was no virus scan",
        'open the address in a browser, confirm the download ("Download anyway")',
    ),
    (
        re.compile(r"sign[ -]?in\b|로그인|need access|request access|액세스|accounts\.google\.com", re.IGNORECASE),
        "it asks to sign in",
        "open the address in a browser, sign in with an account that has access, confirm the download",
    ),
    (re.compile(""), "it shows something else", "open the address in a browser, confirm the download"),
)


def is_html(head: bytes) -> bool:
    """Whether a file that begins so is an HTML page."""
    return _HTML.match(head.decode("utf-8", "replace")) is not None


def drive_page(head: bytes) -> Explained | None:
    """What to do about a Google Drive page that was saved in place of the file; None for anything else.

    Parameters
    ----------
    head
        The beginning of a file; some ten kilobytes are enough.
    """
    if not is_html(head):
        return None
    text = head.decode("utf-8", "replace")
    title = _TITLE.search(text)
    named = title is not None and _DRIVE_TITLE.match(html.unescape(title[1]).strip())
    if not named and not _DRIVE_MARK.search(text):
        return None
    said, todo = next((said, todo) for pattern, said, todo in _DRIVE_KINDS if pattern.search(text))
    return Explained(f"a Google Drive page and not the file ({said})", f"{todo}, and give the downloaded file")
