"""VerSe's tables: which sense of a verb an image shows, and what the senses mean."""

from __future__ import annotations

from dataclasses import dataclass

from hannun.reconstruct.recipes.verse_coco import image_of
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.table import parse_table
from hannun.schemas.text import nfc

NO_SENSE = "-1"
"""What the annotators chose where no sense of the verb applies."""

COCO, TUHOI = "COCO", "TUHOI"

_ANNOTATION_COLUMNS = ("lemma", "image", "sense_chosen", "COCO/TUHOI")
_SENSE_COLUMNS = ("lemma", "sense_num", "definition")
_MEND = "mend the row, or get the file again"


@dataclass(frozen=True, order=True)
class Annotation:
    """One row: an image of a collection shows a verb in a sense. A sense is text: 7.2 is not 7.20."""

    lemma: str
    image: str
    sense: str
    collection: str


def read_annotations(source: Source) -> list[Annotation]:
    """The rows of the annotations, sorted: the order of the file's lines does not matter.

    Raises
    ------
    InputError
        Not the table, an empty cell, a collection that is neither COCO nor TUHOI, or an image that is none of COCO's.
    """
    table = parse_table(source.data, source.where, columns=_ANNOTATION_COLUMNS, dialect="quoted", delimiter=",")
    rows = []
    for row in table.rows:
        cells = [row[column].strip() for column in _ANNOTATION_COLUMNS]
        where = f"{source.where}, line {row.line}"
        if not all(cells):
            raise InputError(
                "an empty cell", where=where, expected=", ".join(_ANNOTATION_COLUMNS), got=str(cells), todo=_MEND
            )
        if cells[3] not in (COCO, TUHOI):
            raise InputError(
                "an unknown collection", where=where, expected=f"{COCO} or {TUHOI}", got=cells[3], todo=_MEND
            )
        if cells[3] == COCO and image_of(cells[1]) is None:
            raise InputError(
                "not the name of a COCO image",
                where=where,
                expected="COCO_val2014_000000000000.jpg, or train2014",
                got=cells[1],
                todo=_MEND,
            )
        rows.append(Annotation(*cells))
    return sorted(rows)


def read_glosses(source: Source) -> dict[tuple[str, str], str]:
    """Definitions by lemma and sense, each on one line.

    Raises
    ------
    InputError
        Not the table, one without definitions, or a sense with two.
    """
    table = parse_table(source.data, source.where, columns=_SENSE_COLUMNS, dialect="quoted")
    glosses: dict[tuple[str, str], str] = {}
    for row in table.rows:
        lemma, sense, definition = (nfc(" ".join(row[column].split())) for column in _SENSE_COLUMNS)
        known = glosses.setdefault((lemma, sense), definition)
        if known != definition:
            raise InputError(
                f"two definitions of {lemma} {sense}",
                where=f"{source.where}, line {row.line}",
                expected=known,
                got=definition,
                todo="remove one of the two rows",
            )
    if not any(glosses.values()):
        raise InputError(
            "a table without definitions",
            where=source.where,
            expected=", ".join(_SENSE_COLUMNS),
            todo="get the file again",
        )
    return {key: definition for key, definition in glosses.items() if definition}
