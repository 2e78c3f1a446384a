"""Error annotations: what people found wrong in models' answers, one schema for every benchmark's taxonomy.

A file is JSON lines, or a table (CSV or TSV, quoted) whose `errors` are separated by semicolons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from hannun.evaluation.form import utf8_bytes
from hannun.schemas.error_taxonomy import Taxonomy, taxonomy
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.table import parse_table
from hannun.schemas.text import nfc
from hannun.schemas.text_file import read_text

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_COLUMNS = ("item", "benchmark", "config", "model", "errors")
_ERRORS_BETWEEN = ";"


class Vocabulary(StrEnum):
    """Where the words of an annotation are from.

    published: the taxonomy of the benchmark's paper. given: one that the user gave. unknown: taken as they are,
    since the benchmark's taxonomy is not known here (KOFFVQA's and SAGE's are not).
    """

    PUBLISHED = "published"
    GIVEN = "given"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ErrorAnnotation:
    """One annotator's judgement of one model's answer to one item, the last part of an id benchmark/config/item."""

    item: str
    benchmark: str
    config: str
    model: str
    errors: tuple[str, ...]
    root_cause: str | None = None
    severity: str | None = None
    annotator: str | None = None
    note: str | None = None
    vocabulary: Vocabulary = Vocabulary.UNKNOWN

    @property
    def judged(self) -> tuple[str, str, str, str, str | None]:
        """What was judged, and by whom."""
        return self.benchmark, self.config, self.item, self.model, self.annotator


def read_error_annotations(*paths: Path, given: Taxonomy | None = None) -> list[ErrorAnnotation]:
    """The annotations of .jsonl, .csv or .tsv files, in their order.

    Parameters
    ----------
    given
        A taxonomy that takes the place of the published one of its benchmark.

    Raises
    ------
    InputError
        With the line: no annotation as `error_annotation.schema.json` describes it, a word that the benchmark's
        taxonomy does not have, or an answer judged twice by one annotator.
    """
    annotations: list[ErrorAnnotation] = []
    first: dict[tuple[str | None, ...], str] = {}
    for path in paths:
        for line, value in _records(path):
            where = f"{path}, line {line}"
            annotation = _annotation(value, where, given)
            before = first.get(annotation.judged)
            if before is not None:
                raise InputError(
                    "an answer is judged twice by one annotator",
                    where=where,
                    got=f"{annotation.item}, {annotation.model}, as in {before}",
                    todo="remove one, or name the annotators",
                )
            first[annotation.judged] = where
            annotations.append(annotation)
    return annotations


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    """Line and record as JSON."""
    if path.suffix == ".jsonl":
        yield from numbered_lines(read_text(path).text, str(path))
    elif path.suffix in _DELIMITERS:
        table = parse_table(
            utf8_bytes(path), str(path), columns=_COLUMNS, dialect="quoted", delimiter=_DELIMITERS[path.suffix]
        )
        for row in table.rows:
            yield row.line, _from_cells(row.cells)
    else:
        raise InputError(
            "a kind of file that is not read", where=str(path), expected=", ".join((".jsonl", *_DELIMITERS))
        )


def _from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    """A row as JSON: empty cells are nothing, errors a list."""
    values: dict[str, Any] = {name: text.strip() or None for name, text in cells.items()}
    values["errors"] = [each.strip() for each in cells["errors"].split(_ERRORS_BETWEEN) if each.strip()]
    return values


def _annotation(value: Any, where: str, given: Taxonomy | None) -> ErrorAnnotation:
    wrong = problems("error_annotation", value)
    if wrong:
        at, message = wrong[0]
        raise InputError("not an error annotation", where=f"{where}, {at}", got=message, todo="correct the line")
    words = {name: _normal(each) for name, each in value.items()}
    known = given if given is not None and given.benchmark == words["benchmark"] else taxonomy(words["benchmark"])
    if known is None:
        return ErrorAnnotation(**words)
    for field, vocabulary in known.vocabulary().items():
        _check_words(field, words.get(field), vocabulary, known, where)
    return ErrorAnnotation(**words, vocabulary=Vocabulary.GIVEN if known is given else Vocabulary.PUBLISHED)


def _normal(value: Any) -> Any:
    """Texts in NFC, lists as tuples."""
    if isinstance(value, list):
        return tuple(map(nfc, value))
    return None if value is None else nfc(value)


def _check_words(
    field: str, said: str | Sequence[str] | None, vocabulary: Sequence[str], known: Taxonomy, where: str
) -> None:
    words = [said] if isinstance(said, str) else said or []
    unknown = next((word for word in words if word not in vocabulary), None)
    if unknown is None and (words or not vocabulary):
        return
    raise InputError(
        f"no {field}" if unknown is None else f"not a word of the taxonomy for {field}",
        where=where,
        expected=", ".join(vocabulary) or "nothing: the taxonomy has none",
        got=unknown,
        todo=f"correct the line; the taxonomy is that of {known.source}",
    )
