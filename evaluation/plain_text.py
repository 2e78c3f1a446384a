"""Judges' texts made plain: compatibility forms, markup and invisible characters gone, digits as 0 to 9."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

ODD = "\ue000"
"""Stands for a number that is neither a decimal digit nor a word, such as ², ⑧ and ½."""

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_MARKUP = re.compile(
    r"</?[a-z][a-z0-9]*\s*>|\\(?:boxed|text(?:bf)?|mathbf)|[*`#_$\\{}\[\]\"“”'‘’「」『』<>]", re.IGNORECASE
)


class _Plain(dict[int, str]):
    """Character -> what it is in plain text, found out once."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain_character(chr(code))
        return plain


_PLAIN = _Plain()
_LONGEST = 40
_SIGNS = {"−": "-", "∼": "~", "〜": "~", "⁄": "/", "∕": "/"}


def plain(text: str) -> str:
    """Full-width and other compatibility forms as plain ones; digits of every script as 0 to 9; odd ones marked."""
    return unicodedata.normalize("NFC", text).translate(_PLAIN)


def without_markup(text: str) -> str:
    """The text without Markdown, HTML, LaTeX, quotes and brackets."""
    return _MARKUP.sub("", _FRACTION.sub(r"\1/\2", _BREAK.sub("\n", text)))


def number_of(text: str) -> Fraction | None:
    """The number that digits write: 15/2 of `7.5` and of `7,5`, 1000 of `1,000`; None of `7.5.1`."""
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", "")
    try:
        # Python refuses to read thousands of digits; whatever is so long is too much.
        return Fraction(text.replace(",", ".")[:_LONGEST])
    except ValueError:
        return None


def _plain_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character == "🔟" or (character.isnumeric() and "CJK" not in unicodedata.name(character, "")):
        return ODD
    if unicodedata.category(character) == "Cf":
        return ""
    return _SIGNS.get(character) or unicodedata.normalize("NFKC", character)
