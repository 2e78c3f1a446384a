"""Text as data: normal form, what is odd about a text, and when two texts are the same.

Korean text from macOS is NFD; zero-width characters split words unseen. Text is compared after NFC and
without zero-width characters; NFKC is never applied to content, so what only NFKC would make equal is
flagged, not merged.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\u180e\u00ad\ufeff")
"""Characters that take no room on the page and are dropped before comparing."""

_ZWJ = "\u200d"
_ZWNJ = "\u200c"
# Scripts in which joiners carry meaning; elsewhere they are debris of copying.
_JOINING_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA")
_FILLERS = frozenset("\u3164\u115f\u1160\uffa0")
_ODD_SPACES = frozenset(
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)


# Letters, marks and blanks that no form changes and nobody mistakes: most texts are made of nothing else.
_ORDINARY = re.compile(r"[\t\n\r -~가-힣ㄱ-ㅎㅏ-ㅣ‘’“”–—·「」『』、。]*")


class Oddity(StrEnum):
    """A property of a text that makes equal-looking texts compare unequal."""

    NOT_NFC = "not-nfc"
    ZERO_WIDTH = "zero-width"
    FILLER = "filler"
    FULL_WIDTH = "full-width"
    ODD_SPACE = "odd-space"
    LONE_JAMO = "lone-jamo"
    CONTROL = "control"
    REPLACEMENT = "replacement-character"
    OUTER_SPACE = "outer-space"


ODDITY_MEANINGS: dict[Oddity, str] = {
    Oddity.NOT_NFC: "not in NFC (decomposed, as macOS writes file names)",
    Oddity.ZERO_WIDTH: "zero-width character",
    Oddity.FILLER: "Hangul filler (U+3164 and the like): looks empty, is a letter",
    Oddity.FULL_WIDTH: "full-width or half-width form; equal to the plain one only under NFKC",
    Oddity.ODD_SPACE: "space that is not U+0020",
    Oddity.LONE_JAMO: "conjoining jamo outside a syllable (U+1100...), not the letter of the keyboard (U+3131...)",
    Oddity.CONTROL: "control character",
    Oddity.REPLACEMENT: "U+FFFD: a character was lost in decoding",
    Oddity.OUTER_SPACE: "white space at the beginning or end",
}


@dataclass(frozen=True)
class Comparison:
    """Whether two texts are the same, by which rule, and whether they look alike to a reader."""

    same: bool
    why: str
    look_alike: bool = True


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def is_ordinary(text: str) -> bool:
    """Whether nothing but its outer white space can be odd about a text; at once, and no for some that are not odd."""
    return _ORDINARY.fullmatch(text) is not None


def comparison_key(text: str) -> str:
    r"""The form under which texts are compared: NFC, zero-width characters dropped.

    The joiner inside an emoji sequence or a joining script carries meaning and stays.

    Examples
    --------
    >>> comparison_key("\u1112\u1161\u11ab") == "한"
    True
    """
    text = nfc(text)
    if ZERO_WIDTH.isdisjoint(text):
        return text
    kept = [c for i, c in enumerate(text) if c not in ZERO_WIDTH or _joins(text, i)]
    return nfc("".join(kept))


def compare_texts(a: str, b: str) -> Comparison:
    """Compare two texts as identity is meant: equal after NFC and without zero-width characters."""
    if a == b:
        return Comparison(True, "identical")
    if nfc(a) == nfc(b):
        return Comparison(True, "NFC")
    if comparison_key(a) == comparison_key(b):
        return Comparison(True, "zero-width")
    left, right = unicodedata.normalize("NFKC", a), unicodedata.normalize("NFKC", b)
    stripped = ["".join(c for c in comparison_key(t) if c not in _FILLERS).strip() for t in (a, b)]
    suspects = dict.fromkeys(kind for kind, _ in (*oddities(a), *oddities(b)))
    named = ", ".join(ODDITY_MEANINGS[kind] for kind in suspects)
    if comparison_key(left) == comparison_key(right):
        return Comparison(False, f"equal only under NFKC: {named or 'compatibility characters'}")
    if stripped[0] == stripped[1]:
        return Comparison(False, f"differ by characters that cannot be seen: {named}")
    return Comparison(False, "different text" + (f"; also: {named}" if named else ""), look_alike=False)


def oddities(text: str) -> list[tuple[Oddity, int]]:
    """Every kind of oddity in a text, with the index of its first character."""
    found: dict[Oddity, int] = {}
    if is_ordinary(text):
        return [(Oddity.OUTER_SPACE, 0 if text[:1].isspace() else len(text.rstrip()))] if text != text.strip() else []
    normal = nfc(text)
    if normal != text:
        first = next((i for i, (a, b) in enumerate(zip(text, normal, strict=False)) if a != b), 0)
        found[Oddity.NOT_NFC] = first
    if text != text.strip():
        found[Oddity.OUTER_SPACE] = 0 if text[:1].isspace() else len(text.rstrip())
    for place, char in enumerate(text):
        kind = _oddity_of(text, place, char)
        if kind is not None:
            found.setdefault(kind, place)
    # Decomposed text is made of conjoining jamo; only those that NFC leaves behind stand alone.
    lone = next((place for place, char in enumerate(normal) if _is_conjoining_jamo(char)), None)
    if lone is not None:
        found[Oddity.LONE_JAMO] = lone
    return list(found.items())


def _oddity_of(text: str, place: int, char: str) -> Oddity | None:
    if char in ZERO_WIDTH:
        return None if _joins(text, place) else Oddity.ZERO_WIDTH
    if char in _FILLERS:
        return Oddity.FILLER
    if char in _ODD_SPACES:
        return Oddity.ODD_SPACE
    if char == "\ufffd":
        return Oddity.REPLACEMENT
    if "\uff01" <= char <= "\uffdc":
        # Korean and Chinese typography uses some of these marks on purpose; letters and digits are accidents.
        return Oddity.FULL_WIDTH if unicodedata.category(char)[0] in "LN" else None
    if unicodedata.category(char) == "Cc" and char not in "\t\n\r":
        return Oddity.CONTROL
    return None


def _is_conjoining_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97c" or "\ud7b0" <= char <= "\ud7fb"


def _joins(text: str, place: int) -> bool:
    """Whether the joiner at `place` carries meaning: inside an emoji sequence or a joining script."""
    if text[place] not in (_ZWJ, _ZWNJ):
        return False
    before = text[:place].rstrip("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")[-1:]
    after = text[place + 1 : place + 2]
    if not before or not after:
        return False
    if unicodedata.category(before) == "So" and unicodedata.category(after) == "So":
        return True
    names = (unicodedata.name(before, ""), unicodedata.name(after, ""))
    return all(name.startswith(_JOINING_SCRIPTS) for name in names)


def printable(text: str, keep: str = " \n") -> str:
    """The text with what steers a terminal, or what XML cannot hold, written out as an escape."""
    return "".join(each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)
