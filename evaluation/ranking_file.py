"""Rankings of candidates, read from files: own JSON lines, rows that carry their images, or SemEval's VWSD form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hannun.evaluation.row_names import RowNames
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Instance
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.text_file import lines_of, read_text

CandidateScores = tuple[float, ...]
"""Ten numbers in the order of a row's candidates, higher is better; a ranking is 10 for the best to 1."""


@dataclass
class Rankings:
    """Model -> row id -> its candidates' scores, and what files say otherwise than the data set."""

    models: dict[str, dict[str, CandidateScores]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_rankings(paths: Sequence[Path], rows: Mapping[str, Instance]) -> Rankings:
    """The rankings of all files; a model is called as its lines say, or as its file.

    Parameters
    ----------
    rows
        Row id -> row, in the data set's order.

    Raises
    ------
    InputError
        With file and line: no ranking of a row's ten candidates, an unknown row, or a row ranked twice by a model.
    """
    rankings = Rankings()
    for path in paths:
        text = read_text(path).text
        name = _unused(path.stem, rankings.models)
        places: dict[tuple[str, str], str] = {}
        for where, model, row_id, scores in _lines(text, path, rows, rankings.notes):
            key = model or name, row_id
            if row_id in rankings.models.get(key[0], ()):
                raise InputError(
                    "a row is ranked twice by one model",
                    where=where,
                    got=f"{row_id} of {key[0]}, as in {places.get(key, 'another file')}",
                    todo="remove one, or name the models in `model`",
                )
            places[key] = where
            rankings.models.setdefault(key[0], {})[row_id] = scores
        if not places:
            raise InputError("no ranking in the file", where=str(path), todo="give another file")
    return rankings


_Line = tuple[str, str | None, str, CandidateScores]


def _lines(text: str, path: Path, rows: Mapping[str, Instance], notes: list[str]) -> Iterator[_Line]:
    """Where, model, row id and scores of each line."""
    if not text.lstrip().startswith("{"):
        yield from _official(text, path, rows)
        return
    names, images = RowNames(rows), _ByImages(rows)
    different = 0
    for number, value in numbered_lines(text, str(path)):
        where = f"{path}, line {number}"
        wrong = problems("ranking", value)
        if wrong:
            at, message = wrong[0]
            raise InputError(
                f"not a ranking of {CANDIDATES} candidates", where=f"{where}, {at}", got=message,
                todo="correct the line; hannun eval score --help tells the forms",
            )  # fmt: skip
        if "id" in value:
            row_id = names.row_id(value["id"], where, value.get("config"))
        else:
            row_id = images.row_id(value["images"], where)
        row = rows[row_id]
        different += "gold" in value and value["gold"] != file_name(row.gold)
        yield where, value.get("model"), row_id, _in_row_order(value, row, where)
    if different:
        notes.append(f"{path}: the gold of {different:,} lines is not that of the data set, which counts")


def _in_row_order(value: Mapping[str, Any], row: Instance, where: str) -> CandidateScores:
    given = [float(each) for each in value["scores"]] if "scores" in value else _as_scores(value["ranking"])
    if "images" not in value:
        return tuple(given)
    by_name = dict(zip(value["images"], given, strict=True))
    names = [file_name(each.image_id) for each in row.candidates]
    if set(by_name) != set(names):
        raise InputError(
            "the images are not those of the row",
            where=where,
            expected=", ".join(names),
            got=", ".join(by_name),
            todo="check that predictions and data belong together",
        )
    return tuple(by_name[each] for each in names)


def _official(text: str, path: Path, rows: Mapping[str, Instance]) -> Iterator[_Line]:
    """SemEval-2023 Task 1: a line a row, in the data set's order, ten image names, best first."""
    lines = [(number, line) for number, line in enumerate(lines_of(text), 1) if line.strip()]
    if len(lines) != len(rows):
        raise InputError(
            "not as many lines as rows",
            where=str(path),
            expected=f"{len(rows):,} lines, each with ten image names between tabs, best first",
            got=f"{len(lines):,}",
            todo="give a line for each row, or JSON lines with ids",
        )
    for (number, line), row in zip(lines, rows.values(), strict=True):
        where = f"{path}, line {number}"
        best_first = [each.strip() for each in line.split("\t")]
        names = [file_name(each.image_id) for each in row.candidates]
        if sorted(best_first) != sorted(names):
            raise InputError(
                f"not a ranking of the ten images of {row.id}",
                where=where,
                expected=" ".join(names),
                got=line.strip(),
                todo="check that predictions and data belong together, and that none is missing or twice",
            )
        scores = {name: float(CANDIDATES - place) for place, name in enumerate(best_first)}
        yield where, None, row.id, tuple(scores[each] for each in names)


def _as_scores(ranking: Sequence[int]) -> list[float]:
    """Places from best to worst, as scores by place: 10 for the best, 1 for the worst."""
    scores = [0.0] * CANDIDATES
    for place, candidate in enumerate(ranking):
        scores[int(candidate)] = float(CANDIDATES - place)
    return scores


class _ByImages:
    """Rows by the names of their images."""

    def __init__(self, rows: Mapping[str, Instance]) -> None:
        self._rows: dict[frozenset[str], list[str]] = {}
        for row in rows.values():
            self._rows.setdefault(frozenset(file_name(each) for each in row.shown), []).append(row.id)

    def row_id(self, images: Sequence[str], where: str) -> str:
        found = self._rows.get(frozenset(images), [])
        if len(found) == 1:
            return found[0]
        raise InputError(
            "several rows have these images" if found else "no row has these images",
            where=where,
            expected="the images of one row, or its `id`",
            got=", ".join(found or images),
            todo="give the field `id`" if found else "check that predictions and data belong together",
        )


def file_name(image_id: str) -> str:
    """The name of an image without its source: `image.12.jpg` of `vwsd:image.12.jpg`."""
    return image_id.partition(":")[2]


def _unused(name: str, used: Mapping[str, object]) -> str:
    number = 2
    while name in used:
        name, number = f"{name.removesuffix(f' ({number - 1})')} ({number})", number + 1
    return name
