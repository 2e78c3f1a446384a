"""Rankings of candidates, read from files: own JSON lines, rows that carry their images, or SemEval's VWSD form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hannun.evaluation.gold_rank import gold_rank
from hannun.evaluation.row_names import RowNames
from hannun.schemas.errors import InputError
from hannun.schemas.instance import CANDIDATES, Instance, config_of
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.text import comparison_key, nfc
from hannun.schemas.text_file import lines_of, read_text

CandidateScores = tuple[float, ...]
"""Ten numbers in the order of a row's candidates, higher is better; a ranking is 10 for the best to 1.

Whole numbers stay whole: as floats, large ones would tie or overflow.
"""

_SINGLE = 1e-6
"""What a stored reciprocal rank of single precision may be off by."""


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
        name = unused_name(path.stem, rankings.models)
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
    if not text.lstrip().startswith(("{", "[")):
        yield from _official(text, path, rows)
        return
    names, images = RowNames(rows), _ByImages(rows)
    different: Counter[str] = Counter()
    refused = 0
    for number, value in numbered_lines(text, str(path)):
        where = f"{path}, line {number}"
        wrong = problems("ranking", value)
        if wrong:
            at, message = wrong[0]
            raise InputError(
                f"not a ranking of {CANDIDATES} candidates", where=f"{where}, {at}", got=message,
                todo="correct the line; hannun eval score --help tells the forms",
            )  # fmt: skip
        if "images" in value:
            value["images"] = [nfc(each) for each in value["images"]]
        if "id" in value:
            row_id = names.row_id(value["id"], where, value.get("config"))
        else:
            row_id = images.row_id(value["images"], value.get("positive_txt"), where)
        if "error" in value:
            refused += 1
            continue
        scores = _in_row_order(value, rows[row_id], where)
        different.update(_said_otherwise(value, rows[row_id], scores))
        yield where, value.get("model"), row_id, scores
    for what, count in different.items():
        notes.append(f"{path}: {what} of {count:,} lines is not that of the data set, which counts")
    if refused:
        notes.append(f"{path}: the model refused {refused:,} rows, which count as nothing")


def _said_otherwise(value: Mapping[str, Any], row: Instance, scores: CandidateScores) -> Iterator[str]:
    """What a line says of its row and of its score that is not so."""
    if "gold" in value and nfc(value["gold"]) != file_name(row.gold):
        yield "the gold"
    if "positive_txt" in value and not _same_phrase(value["positive_txt"], row):
        yield "the phrase"
    if "hit@1" in value or "mrr" in value:
        rank = gold_rank(scores, row.label)
        for field_name, (low, high) in (("hit@1", rank.hit_bounds), ("mrr", rank.reciprocal_bounds)):
            said = value.get(field_name)
            if isinstance(said, int | float) and not low - _SINGLE <= said <= high + _SINGLE:
                yield field_name


def _same_phrase(phrase: str, row: Instance) -> bool:
    return comparison_key(phrase).strip() == comparison_key(row.context).strip()


def _in_row_order(value: Mapping[str, Any], row: Instance, where: str) -> CandidateScores:
    given = value["scores"] if "scores" in value else _as_scores(value["ranking"])
    if "images" not in value:
        return tuple(given)
    by_name = dict(zip(value["images"], given, strict=True))
    names = [file_name(each) for each in row.shown]
    if by_name.keys() != set(names):
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
    for (number, line), row in zip(lines, _parallel(len(lines), rows, path), strict=True):
        where = f"{path}, line {number}"
        best_first = [nfc(each.strip()) for each in line.split("\t")]
        names = [file_name(each) for each in row.shown]
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


def _parallel(count: int, rows: Mapping[str, Instance], path: Path) -> Sequence[Instance]:
    """The rows that so many lines are of: all, or those of the one config that has so many."""
    if count == len(rows):
        return list(rows.values())
    by_config: dict[str, list[Instance]] = {}
    for row in rows.values():
        by_config.setdefault(config_of(row.id), []).append(row)
    fitting = [config for config, of_config in by_config.items() if len(of_config) == count]
    if len(fitting) == 1:
        return by_config[fitting[0]]
    each_config = "".join(f", {len(of_config):,} of {config}" for config, of_config in by_config.items())
    raise InputError(
        "several configs have as many rows as the file has lines" if fitting else "not as many lines as rows",
        where=str(path),
        expected=f"{len(rows):,} lines{each_config if len(by_config) > 1 else ''},"
        " each with ten image names between tabs, best first",
        got=f"{count:,}",
        todo="give JSON lines with ids" if fitting else "give a line for each row, or JSON lines with ids",
    )


def _as_scores(ranking: Sequence[int]) -> list[float]:
    """Places from best to worst, as scores by place: 10 for the best, 1 for the worst."""
    scores = [0.0] * CANDIDATES
    for place, candidate in enumerate(ranking):
        scores[int(candidate)] = float(CANDIDATES - place)
    return scores


class _ByImages:
    """Rows by the names of their images, and by their phrase where that takes more."""

    def __init__(self, rows: Mapping[str, Instance]) -> None:
        self._rows = rows

    @cached_property
    def _by_images(self) -> dict[frozenset[str], list[Instance]]:
        by_images: dict[frozenset[str], list[Instance]] = {}
        for row in self._rows.values():
            by_images.setdefault(frozenset(map(file_name, row.shown)), []).append(row)
        return by_images

    def row_id(self, images: Sequence[str], phrase: str | None, where: str) -> str:
        rows = self._by_images.get(frozenset(images), [])
        if len(rows) > 1 and phrase is not None:
            rows = [row for row in rows if _same_phrase(phrase, row)] or rows
        found = [row.id for row in rows]
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
    """The name of an image without its source, in NFC: `image.12.jpg` of `vwsd:image.12.jpg`."""
    name = image_id.partition(":")[2]
    return name if name.isascii() else nfc(name)


def unused_name(name: str, used: Mapping[str, object]) -> str:
    """The name, or the name with a number where there is such a model already."""
    number = 2
    while name in used:
        name, number = f"{name.removesuffix(f' ({number - 1})')} ({number})", number + 1
    return name
