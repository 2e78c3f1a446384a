"""Judges' texts made plain: compatibility forms, markup and invisible characters gone, digits as 0 to 9."""

from __future__ import annotations

import re
import unicodedata

ODD = "\ue000"
"""Stands for a number that is neither a decimal digit nor a word, such as ², ⑧ and ½."""

_MARKUP = re.compile(r"\\(?:boxed|text(?:bf)?|mathbf)|[*`#_$\\{}\[\]\"“”'‘’「」『』<>]")


class _Plain(dict[int, str]):
    """Character -> what it is in plain text, found out once."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain_character(chr(code))
        return plain


_PLAIN = _Plain()
_DASHES = {"−": "-", "∼": "~", "〜": "~"}


def plain(text: str) -> str:
    """Full-width and other compatibility forms as plain ones; digits of every script as 0 to 9; odd ones marked."""
    return unicodedata.normalize("NFC", text).translate(_PLAIN)


def without_markup(text: str) -> str:
    """The text without Markdown, LaTeX, quotes and brackets."""
    return _MARKUP.sub("", text)


def _plain_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character.isnumeric() and "CJK" not in unicodedata.name(character, ""):
        return ODD
    if unicodedata.category(character) == "Cf":
        return ""
    return _DASHES.get(character) or unicodedata.normalize("NFKC", character)
