"""Findings: one thing that a check has to say, under a code that stays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad. An error makes `validate` exit 1; with `--strict` a warning does too."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Rule:
    """A rule: its stable code, how bad a breach is, the rule in one line, and what to do."""

    code: str
    level: Level
    title: str
    todo: str


_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE

RULES: dict[str, Rule] = {
    name: Rule(code, level, title, todo)
    for name, code, level, title, todo in (
        ("broken-line", "HN-FILE-001", _E, "every line can be read", "mend or remove the line"),
        ("bom", "HN-FILE-002", _N, "no byte-order mark", "save the file without it"),
        (
            "no-rows",
            "HN-FILE-003",
            _E,
            "there is something to check",
            "an empty file is not a pass: is it the right one?",
        ),
        ("missing-file", "HN-FILE-004", _E, "every file that is named exists", "restore the file, or build again"),
        ("file-name-form", "HN-FILE-005", _N, "file names are written as on disk", "rename the file to its NFC name"),
        ("file-digest", "HN-FILE-006", _E, "files have the digests that are recorded", "restore the file"),
        (
            "reader-version",
            "HN-FILE-007",
            _N,
            "every datasets since 2.21 can load the file",
            "say which version readers need, or write lists in the older form",
        ),
        ("dialect", "HN-FILE-008", _E, "a table has one reading", "declare it: --dialect plain or --dialect quoted"),
        ("damaged-file", "HN-FILE-009", _E, "files can be read to their end", "restore the file, or build again"),
        ("schema", "HN-SCH-001", _E, "records fit their schema", "correct the record"),
        ("missing-field", "HN-SCH-002", _W, "every row has every field", "add the field, or null"),
        (
            "missing-required",
            "HN-SCH-003",
            _E,
            "questions, contexts and criteria are there",
            "fill it, or remove the row",
        ),
        ("empty-cell", "HN-SCH-004", _W, "cells hold something", "fill it if it should not be empty"),
        ("mixed-types", "HN-SCH-005", _E, "a column holds one type", "write the column in one type"),
        ("columns", "HN-SCH-006", _E, "tables have the columns of their record", "build again"),
        ("duplicate-id", "HN-ROW-001", _E, "every id once", "remove or rename the copy"),
        ("candidate-count", "HN-ROW-002", _E, "ten candidates", "restore the candidates"),
        ("duplicate-candidate", "HN-ROW-003", _E, "candidates differ", "replace the copy"),
        ("label-range", "HN-ROW-004", _E, "the gold's place is one of the candidates'", "correct the place"),
        ("gold-count", "HN-ROW-005", _E, "one candidate is marked gold", "mark exactly one"),
        ("wrong-label", "HN-ROW-006", _E, "the gold stands at its place", "correct the place or the candidates"),
        ("gold-absent", "HN-ROW-007", _E, "the gold is among the candidates", "restore it"),
        ("spare-in-use", "HN-ROW-008", _E, "spares are used nowhere else", "remove the spare"),
        ("spare-gold", "HN-ROW-009", _E, "no spare is gold", "remove the spare"),
        ("span-range", "HN-ROW-010", _E, "the target's span lies in the context", "correct the span"),
        ("span-target", "HN-ROW-011", _E, "the span holds the target", "correct the span"),
        ("text-not-nfc", "HN-ROW-012", _E, "what a model sees is NFC", "normalise the text"),
        ("duplicate-context", "HN-ROW-013", _E, "every context once in a config", "rewrite or remove one"),
        ("unshared", "HN-ROW-014", _E, "wordings of an item share pictures, order, gold and split", "build again"),
        ("rows-differ", "HN-ROW-015", _E, "the tables hold the rows of instances.jsonl", "build again"),
        (
            "gold-spread",
            "HN-SET-001",
            _E,
            "the gold stands at every place about equally often",
            "shuffle the candidates: a model that always picks one place would score",
        ),
        ("split-overlap", "HN-SET-002", _E, "splits share no group", "move it to one split"),
        (
            "image-bytes",
            "HN-IMG-001",
            _E,
            "image cells hold bytes",
            "embed the bytes: a path works on one machine only",
        ),
        ("image-decodes", "HN-IMG-002", _E, "images can be decoded in full", "get the image again"),
        ("image-lock", "HN-IMG-003", _E, "images equal the lock", "fetch the image again, then build"),
        ("image-unlocked", "HN-IMG-004", _E, "every image is in the lock", "build again"),
        (
            "image-path",
            "HN-IMG-005",
            _E,
            "an image's path is a bare file name",
            "write the name alone: a path gives away a folder",
        ),
        ("image-count", "HN-IMG-006", _E, "there is one image for each candidate", "build again"),
        ("image-absent", "HN-IMG-008", _E, "the pictures of all candidates are there", "build again"),
        ("image-cut", "HN-IMG-007", _W, "locked images can be decoded in full", "known upstream damage: nothing"),
        ("cut-images", "HN-IMG-009", _N, "images that are cut are counted", "read them with care: part is missing"),
        ("not-nfc", "HN-TXT-001", _W, "text is NFC", "normalise it (macOS writes NFD)"),
        ("zero-width", "HN-TXT-002", _W, "no zero-width characters", "remove it: it splits words unseen"),
        ("filler", "HN-TXT-003", _W, "no Hangul fillers", "remove it: it looks empty and is a letter"),
        (
            "full-width",
            "HN-TXT-004",
            _N,
            "no full-width letters or digits",
            "write the plain form if no form was meant",
        ),
        ("odd-space", "HN-TXT-005", _W, "spaces are U+0020", "write a plain space"),
        (
            "lone-jamo",
            "HN-TXT-006",
            _W,
            "no conjoining jamo outside syllables",
            "write the letter of the keyboard (U+3131...)",
        ),
        ("control", "HN-TXT-007", _E, "no control characters", "remove it"),
        ("replacement-character", "HN-TXT-008", _E, "no character was lost in decoding", "decode the original again"),
        ("outer-space", "HN-TXT-009", _W, "no white space around text", "trim it"),
        (
            "same-text",
            "HN-TXT-010",
            _W,
            "texts that look equal are equal",
            "write both in NFC, without zero-width characters",
        ),
        (
            "kona-target",
            "HN-KONA-001",
            _E,
            "the target is the noun, or the placeholder where it is masked",
            "build again",
        ),
        ("kona-noun", "HN-KONA-002", _E, "the target is read as a noun", "write the sentence so that it is one"),
        ("kona-noun-left", "HN-KONA-003", _E, "a neutralized wording does not hold the noun", "mask it"),
        (
            "kona-particle",
            "HN-KONA-004",
            _E,
            "particles follow the sound before them",
            "write the other form of the particle",
        ),
        ("kona-sense", "HN-KONA-005", _E, "the sense is one of the noun's", "correct the sense"),
        ("kona-picture", "HN-KONA-006", _E, "every picture is in the depictions table", "enter the picture"),
        ("kona-gold", "HN-KONA-007", _E, "the gold shows the sense", "choose a picture that does"),
        ("kona-also-fits", "HN-KONA-008", _E, "no other candidate can stand for the sense", "replace the candidate"),
        ("kona-confusable", "HN-KONA-009", _E, "no candidate can be taken for the gold", "replace the candidate"),
        (
            "kona-kind",
            "HN-KONA-010",
            _E,
            "hard ones show another sense, near ones are of the gold's kind, random ones neither",
            "correct the kind, or replace the candidate",
        ),
        ("kona-wordings", "HN-KONA-011", _E, "every item stands in all three wordings", "restore the wording"),
        ("kona-balance", "HN-KONA-012", _W, "every sense has two queries or more", "write another query"),
        ("sage-verb-left", "HN-SAGE-001", _E, "a neutralized context holds no form of its verb", "build again"),
        (
            "sage-placeholder",
            "HN-SAGE-002",
            _E,
            "the target of a neutralized context is the placeholder",
            "build again",
        ),
        (
            "koffvqa-sum",
            "HN-KOFF-001",
            _W,
            "additive criteria add up to 10",
            "compare with criteria_raw; where upstream has it so: nothing",
        ),
        (
            "koffvqa-range",
            "HN-KOFF-002",
            _W,
            "exclusive criteria go from 0 to 10",
            "compare with criteria_raw; where upstream has it so: nothing",
        ),
        (
            "koffvqa-mixed",
            "HN-KOFF-003",
            _W,
            "criteria of a question are all additive or all exclusive",
            "compare with criteria_raw; where upstream has it so: nothing",
        ),
        (
            "koffvqa-unread",
            "HN-KOFF-004",
            _W,
            "every criterion says its points",
            "compare with criteria_raw: where it has points there, report it to hannun",
        ),
        (
            "koffvqa-category",
            "HN-KOFF-005",
            _W,
            "categories are those of the paper",
            "where upstream spells it so: report it to hannun",
        ),
        ("koffvqa-count", "HN-KOFF-006", _N, "there are 275 questions", "look at what was dropped, in recipe.json"),
        (
            "hv-unshared",
            "HN-HV-001",
            _E,
            "the configs share pictures, checklist, category, source and answer",
            "build again",
        ),
        ("hv-config", "HN-HV-002", _E, "every question stands in all three configs", "build again"),
        ("hv-verbatim", "HN-HV-003", _E, "the checklist is that of its verbatim form", "build again"),
        ("hv-criteria", "HN-HV-004", _W, "a checklist has 1 to 5 criteria (the paper)", "look at checklist_raw"),
        ("hv-criterion", "HN-HV-005", _W, "criteria are there, and each once", "look at checklist_raw"),
        ("hv-form", "HN-HV-006", _N, "checklists are published in an expected form", "look at checklist_raw"),
        (
            "hv-category",
            "HN-HV-007",
            _W,
            "categories are among the ten known ones (a third party)",
            "three of thirteen are not known: look whether it is one of them",
        ),
        ("hv-rows", "HN-HV-008", _N, "which published table this is", "nothing"),
        (
            "hv-other-rows",
            "HN-HV-009",
            _W,
            "the published table has 653 rows or 165",
            "is a file missing, or has upstream changed?",
        ),
        ("no-card", "HN-CARD-001", _E, "the folder has a README.md with its configs", "build again"),
        ("card-counts", "HN-CARD-002", _E, "the card's counts are the files'", "build again"),
    )
}


@dataclass(frozen=True)
class Place:
    """Where: file, config and split, row counted from 0, the row's id, and the field."""

    file: str
    config: str | None = None
    split: str | None = None
    row: int | None = None
    row_id: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.row is not None:
            parts.append(f"row {self.row}")
        if self.row_id is not None:
            parts.append(f"id {self.row_id}")
        if self.field is not None:
            parts.append(self.field)
        return ", ".join(parts)


@dataclass(frozen=True)
class Finding:
    """A breach of a rule at a place."""

    rule: Rule
    place: Place
    message: str
    expected: str | None = None
    found: str | None = None


@dataclass(frozen=True)
class Unchecked:
    """Something that could not be checked: never a pass."""

    what: str
    why: str


def finding(name: str, place: Place, message: str, *, expected: str | None = None, found: str | None = None) -> Finding:
    """A finding under the rule of that name."""
    return Finding(RULES[name], place, message, expected, found)
