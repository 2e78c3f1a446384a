"""Thinking text: what a model prints before its answer is no part of it."""

from __future__ import annotations

import re

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection"
# A tag that somebody quotes is spoken of, not used.
_NOT_QUOTED = r"(?<![\"'`“‘「『])"
_OPEN = re.compile(rf"{_NOT_QUOTED}<\s*(?:{_NAMES})\s*>|<\|begin_of_thought\|>|<\|channel\|>analysis", re.IGNORECASE)
_CLOSE = re.compile(
    rf"{_NOT_QUOTED}<\s*/\s*(?:{_NAMES})\s*>|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>", re.IGNORECASE
)


def without_thinking(text: str) -> tuple[str, bool]:
    """What comes after the last closing tag, and whether thinking began and did not end.

    Models drop the opening tag, or are cut before the closing one; then nothing of the text is an answer.
    """
    closed = list(_CLOSE.finditer(text))
    rest = text[closed[-1].end() :] if closed else text
    return ("", True) if _OPEN.search(rest) else (rest, False)
