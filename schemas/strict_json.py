"""Strict JSON: sorted keys, no blanks, UTF-8, LF; no NaN, no duplicate keys, no lone surrogates."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from hannun.schemas.errors import InputError
from hannun.schemas.text_file import lines_of, read_text

Json = Any


def dumps(value: Json) -> str:
    """One line of canonical JSON: equal values give equal text on every machine."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def dump_lines(rows: Iterable[Json]) -> str:
    """JSON lines, each ended by LF."""
    return "".join(dumps(row) + "\n" for row in rows)


def loads(text: str, where: str, todo: str = "get the file again, or mend it there") -> Json:
    """Parse strictly.

    Parameters
    ----------
    todo
        What to do about a text that is refused.

    Raises
    ------
    InputError
        Not JSON; NaN or an infinity; a key twice in one object; a lone surrogate; nested too deeply.
    """
    try:
        value = _DECODER.decode(text)
        text.encode("utf-8")
        if "\\u" in text:
            dumps(value).encode("utf-8")
    except json.JSONDecodeError as error:
        raise InputError(_fault(error), where=where, got=_place(error), todo=todo) from None
    except UnicodeEncodeError:
        raise InputError("a lone surrogate is not text", where=where, todo=todo) from None
    except RecursionError:
        raise InputError("nested too deeply", where=where, todo=todo) from None
    except ValueError as error:
        # Ours, and Python's own about numbers of thousands of digits.
        raise InputError(str(error).partition(";")[0], where=where, todo=todo) from None
    return value


def load(path: Path) -> Json:
    """Read one JSON document from a file, strictly."""
    return loads(read_text(path).text, str(path))


def numbered_lines(text: str, where: str) -> Iterator[tuple[int, Json]]:
    """Parse JSON lines; yields the line's number, from 1, and its value. Empty lines are skipped."""
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            yield number, loads(line, f"{where}, line {number}", todo="mend or remove the line")


def load_lines(path: Path) -> list[Json]:
    """Read a whole JSON lines file, strictly."""
    return [value for _, value in numbered_lines(read_text(path).text, str(path))]


def _fault(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON, where its kind can be told."""
    if error.msg == "Extra data" and error.doc.count("\n", 0, error.pos) and error.doc[error.pos] in "{[":
        return "not JSON but JSON lines: one document is due"
    if not error.doc.strip():
        return "not JSON but an empty text"
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated string"):
        return "not JSON: the text ends too early"
    return "not JSON"


def _place(error: json.JSONDecodeError) -> str:
    line = f"line {error.lineno}, " if "\n" in error.doc.rstrip("\n") else ""
    return f"{error.msg.removesuffix(' at')} at {line}column {error.colno}"


class _Unstrict(ValueError):
    pass


def _refuse_constant(name: str) -> NoReturn:
    raise _Unstrict(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _Unstrict(f"number out of range: {digits}")
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in result if keys.count(key) > 1)
        raise _Unstrict(f"key {twice!r} twice in one object")
    return result


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique)
