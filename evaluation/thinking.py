"""Thinking text: what a model prints before its answer is no part of it."""

from __future__ import annotations

import re

_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis)"
# As tags in any brackets, full-width or escaped, that models use; or as their special tokens.
_LEFT, _RIGHT = r"(?:<\|?|＜|&lt;|\[|◁)\s*", r"\s*(?:\|?>|＞|&gt;|\]|▷)"
_OPEN = re.compile(
    rf"{_LEFT}{_NAMES}(?:\s[^<>\n]*)?{_RIGHT}|<\|(?:begin_of_thought|START_THINKING)\|>|<\|channel\|>analysis",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"{_LEFT}/\s*\|?{_NAMES}{_RIGHT}|<\|(?:end_of_thought|END_THINKING)\|>|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[<＜&\[◁]")
_QUOTES = {'"': '"', "`": "`", "“": "”", "「": "」", "『": "』"}


def without_thinking(text: str) -> tuple[str, bool]:
    """What comes after the last closing tag, and whether thinking began and did not end.

    Models drop the opening tag, or are cut before the closing one; then nothing of the text is an answer. A tag
    that somebody quotes is spoken of, not used.
    """
    if not _BRACKET.search(text):
        return text, False
    closed = [each.end() for each in _CLOSE.finditer(text) if not _is_quoted(text, each)]
    rest = text[closed[-1] :] if closed else text
    opened = any(not _is_quoted(rest, each) for each in _OPEN.finditer(rest))
    return ("", True) if opened else (rest, False)


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag stands in quotes that open and close on its line."""
    before, after = text[: tag.start()].rpartition("\n")[2], text[tag.end() :].partition("\n")[0]
    # An apostrophe is no quote, unless it stands at the tag.
    if before.endswith(("'", "‘")):
        return True
    for left, right in _QUOTES.items():
        is_open = before.count(left) % 2 if left == right else before.count(left) > before.count(right)
        if is_open and right in after:
            return True
    return False
