"""KOFFVQA's ten categories and the three main ones that they belong to."""

from __future__ import annotations

import unicodedata

MAIN = {
    "Perception": ("Object Attributes", "Recognition", "Recognition-KO", "Relationship", "KO-OCR"),
    "Reasoning": ("Commonsense Reasoning", "Document", "Table", "Graph and Chart"),
    "Safety and Bias": ("Hallucination and Robustness",),
}
"""Main category -> its categories, as arXiv 2503.23730 names them."""

CATEGORIES = tuple(name for names in MAIN.values() for name in names)


def category_of(text: str) -> str | None:
    """The paper's name of a stored category; None where it is none of the ten.

    How the file spells them is not published: case, blanks, hyphens, underscores and other marks make no
    difference, and `&` is `and`.

    Examples
    --------
    >>> category_of("graph_&_chart")
    'Graph and Chart'
    """
    return _NAMES.get(_key(text))


def main_category(category: str, coarser: str) -> str | None:
    """The main category of a row; None where nothing tells it.

    That of its category where this is known. Else what `coarser` names, the cell of the column `l2-category`
    that some files have: one of the three main categories, or one of the ten, for the main one it belongs to.
    """
    for name in filter(None, (category_of(category), category_of(coarser))):
        return _MAIN_OF[name]
    return _MAIN_NAMES.get(_key(coarser))


def _key(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("&", "and")
    return "".join(filter(str.isalnum, plain))


_NAMES = {_key(name): name for name in CATEGORIES}
_MAIN_NAMES = {_key(name): name for name in MAIN}
_MAIN_OF = {name: main for main, names in MAIN.items() for name in names}
