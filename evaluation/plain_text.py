"""Judges' texts made plain: compatibility forms, markup and invisible characters gone, digits as 0 to 9."""

from __future__ import annotations

import re
import unicodedata

ODD = "\ue000"
"""Stands for a number that is neither a decimal digit nor a word, such as ², ⑧ and ½."""

_MARKUP = re.compile(r"\\(?:boxed|text(?:bf)?|mathbf)|[*`#_$\\{}\[\]\"“”'‘’「」『』<>]")
_DASHES = str.maketrans({"−": "-", "∼": "~", "〜": "~"})


def plain(text: str) -> str:
    """Full-width and other compatibility forms as plain ones; digits of every script as 0 to 9; odd ones marked."""
    marked = "".join(ODD if _is_odd(each) else each for each in unicodedata.normalize("NFC", text))
    digits = "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else each for each in unicodedata.normalize("NFKC", marked)
    )
    return "".join(each for each in digits if unicodedata.category(each) != "Cf").translate(_DASHES)


def without_markup(text: str) -> str:
    """The text without Markdown, LaTeX, quotes and brackets."""
    return _MARKUP.sub("", text)


def _is_odd(character: str) -> bool:
    return character.isnumeric() and not character.isdecimal() and "CJK" not in unicodedata.name(character, "")
