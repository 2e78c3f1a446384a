"""Checklists of HAERAE-Vision: in which form the published column holds them is not known, so each is read.

The expected forms are a list of strings, a JSON array in a string, and a plain string with one criterion a
line. Others that tables and their converters make of such lists are read where nothing is guessed, and
refused where something would be.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import dumps
from hannun.schemas.text import nfc

NOTHING = "null"
"""The verbatim form of a checklist that is null."""

_TEXT_FIELD = "item"
"""The field that holds the criterion where criteria are objects."""
_MARKER = re.compile(r"\s*(?:\(?\d{1,2}[.)](?!\d)|[-*](?=\s)|[•·‣▪]|[①-⑳])\s*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_TODO = "give the table as published"


class Form(StrEnum):
    """How a cell holds its checklist."""

    LIST = "a list of strings"
    JSON = "a JSON array in a string"
    LINES = "a string with one criterion a line"
    PYTHON = "a Python list in a string"
    OBJECTS = "a list of objects"
    TRANSPOSED = "an object of lists"
    EMPTY = "empty"
    NULL = "null"


EXPECTED = frozenset({Form.LIST, Form.JSON, Form.LINES})


@dataclass(frozen=True)
class Checklist:
    """A checklist: its criteria, the cell verbatim, the form it had, and how many of its criteria were blank."""

    items: tuple[str, ...]
    raw: str
    form: Form
    blank: int = 0


def read_checklist(cell: Any) -> Checklist:
    """The criteria in a cell, in NFC and without number, bullet or blanks around them; blank ones are left out.

    Text stays as it is in `raw`; anything else is its JSON there, so that null, [] and "" stay apart. Reading
    `raw` gives the same criteria; only a list and its JSON in a string are not told apart any more.

    Raises
    ------
    InputError
        Neither a form that is expected nor one that can be read without guessing: an object of lists of
        unequal lengths, objects without an `item`, other values.
    """
    if cell is None or (isinstance(cell, str) and cell.strip() == NOTHING):
        return Checklist((), cell or NOTHING, Form.NULL)
    texts, form = _of_text(cell) if isinstance(cell, str) else _of_value(cell)
    items = tuple(filter(None, map(without_marker, texts)))
    return Checklist(items, _verbatim(cell), form if texts else Form.EMPTY, len(texts) - len(items))


def without_marker(text: str) -> str:
    """A criterion in NFC without a leading "1.", "2)" or bullet; a number with decimals is no marker.

    Examples
    --------
    >>> without_marker("2) 색을 말한다"), without_marker("1.5배라고 답한다")
    ('색을 말한다', '1.5배라고 답한다')
    """
    text = nfc(text).strip()
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def _of_text(text: str) -> tuple[list[str], Form]:
    value = _structure_in(text)
    if value is None:
        return [line for line in _LINE_END.split(text) if line.strip()], Form.LINES
    decoded, form = value
    texts, inner = _of_value(decoded)
    return texts, form if inner is Form.LIST else inner


def _structure_in(text: str) -> tuple[Any, Form] | None:
    """A list or object that a string spells; None where it is plain text, which may begin with a bracket too."""
    stripped = text.strip()
    if (stripped[:1], stripped[-1:]) not in (("[", "]"), ("{", "}")):
        return None
    try:
        value, form = json.loads(stripped), Form.JSON
    except (ValueError, RecursionError):
        try:
            value, form = ast.literal_eval(stripped), Form.PYTHON
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    # Numbers in brackets, as in [1], are text: a reference, not a list.
    whole = isinstance(value, Mapping) or (isinstance(value, list) and not any(map(_is_number, value)))
    return (value, form) if whole else None


def _of_value(value: Any) -> tuple[list[str], Form]:
    if isinstance(value, Mapping):
        return _of_columns(value), Form.TRANSPOSED
    if isinstance(value, list):
        texts = ["" if each is None else each for each in value]
        if all(isinstance(each, str) for each in texts):
            return texts, Form.LIST
        if all(isinstance(each, Mapping) for each in value):
            return _texts(each.get(_TEXT_FIELD) for each in value), Form.OBJECTS
    raise _refused("a checklist that cannot be read", value)


def _of_columns(value: Mapping[str, Any]) -> list[str]:
    """An object of lists is a list of objects turned by a converter; its lists are equally long, or one was lost."""
    columns = [each for each in value.values() if isinstance(each, list)]
    if len(columns) != len(value) or len({len(each) for each in columns}) > 1:
        raise _refused("lists of unequal length; transposed shape", value)
    return _texts(value.get(_TEXT_FIELD, [None]))


def _texts(values: Iterable[Any]) -> list[str]:
    texts = list(values)
    if not all(isinstance(each, str) for each in texts):
        raise _refused(f"a criterion without a text under {_TEXT_FIELD!r}", texts)
    return texts


def _verbatim(cell: Any) -> str:
    try:
        return cell if isinstance(cell, str) else dumps(cell)
    except (ValueError, TypeError):
        raise _refused("a checklist that holds more than JSON can", cell) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _refused(what: str, value: Any) -> InputError:
    return InputError(
        what, expected="strings: a list, a JSON array, or one criterion a line", got=repr(value)[:200], todo=_TODO
    )
