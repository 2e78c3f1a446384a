"""Scores of ten candidate pictures by the three interfaces of SAGE (arXiv 2610.31838).

Similarity of embeddings; likelihood of YES and NO as the first token; an integer from 0 to 100. With constraint
questions the score is the mean P(YES) over the axes that apply (GAR).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from hannun.evaluation.integer_score import UNREADABLE, integer_score
from hannun.evaluation.prompt import Prompt, SelectionPrompts
from hannun.evaluation.reply import Answerer, Done, Key, Refused, Turn, Unreached
from hannun.evaluation.sampling import ONE_INTEGER
from hannun.evaluation.shown_picture import PictureError
from hannun.evaluation.side_file import AXES
from hannun.evaluation.yes_no import YesNo
from hannun.evaluation.yes_no_tokens import YesNoTokens
from hannun.schemas.instance import CANDIDATES, Instance
from hannun.schemas.text import comparison_key

CONTEXT, DEFINITION, ORACLE, CONSTRAINTS = "context", "definition", "oracle", "constraints"


@dataclass(frozen=True)
class Query:
    """What candidates are compared with: a row's context, a definition, or questions by axis.

    `kind` is `oracle` for a definition that is the annotation's own gloss: no system would have it.
    """

    kind: str
    text: str = ""
    axes: Mapping[str, str] | None = None


@dataclass(frozen=True)
class ShownInstance:
    """A row, its query, and image id and bytes of each of its candidates in order."""

    row: Instance
    query: Query
    pictures: Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Ranked:
    """Scores of ten candidates; the other fields are those of `prediction.schema.json`."""

    query: str
    scores: Sequence[float]
    mass: Sequence[float] | None = None
    axes: Mapping[str, Sequence[float | None]] | None = None
    replies: Sequence[str] | None = None
    unreadable: Sequence[int] | None = None
    server: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


AnyRanked = Ranked | Refused | Unreached


class _YesNoModel(Protocol):
    def yes_or_no(
        self, turns: Iterable[tuple[Key, Turn]], tokens: YesNoTokens
    ) -> Iterator[Done[Key, YesNo | Refused]]: ...


class _Encoder(Protocol):
    def similarities(self, text: str, pictures: Sequence[tuple[str, bytes]]) -> list[float]: ...


def definition_query(row: Instance, definition: str) -> Query:
    """A definition as the query; the annotation's own gloss is labelled."""
    gloss = row.source.get("gloss")
    is_gloss = isinstance(gloss, str) and comparison_key(gloss).strip() == comparison_key(definition).strip()
    return Query(ORACLE if is_gloss else DEFINITION, definition)


def constraint_query(line: Mapping[str, Any]) -> Query:
    """The questions of those axes that apply."""
    return Query(CONSTRAINTS, axes={axis: line[axis] for axis in AXES if (line.get(axis) or "").strip()})


def by_similarity(encoder: _Encoder, rows: Iterable[ShownInstance]) -> Iterator[Done[str, AnyRanked]]:
    """Cosine similarity of the query and each candidate."""
    for each in rows:
        begun = time.monotonic()
        try:
            ranked: AnyRanked = Ranked(each.query.kind, encoder.similarities(each.query.text, each.pictures))
        except PictureError as error:
            ranked = Refused(error.what)
        yield Done(each.row.id, ranked, time.monotonic() - begun)


def by_yes_no(
    model: _YesNoModel, tokens: YesNoTokens, prompts: SelectionPrompts, rows: Iterable[ShownInstance]
) -> Iterator[Done[str, AnyRanked]]:
    """P(YES) over both sides; the mass of both says whether the model answered so at all."""

    def questions(each: ShownInstance) -> list[str]:
        if each.query.axes is not None:
            return [prompts.constraint.filled({"question": text}) for text in each.query.axes.values()]
        return [_asked(each, prompts.context, prompts.definition)]

    def ranked(each: ShownInstance, found: Sequence[YesNo]) -> Ranked:
        axes = list(each.query.axes or (each.query.kind,))
        by_axis = {axis: found[place * CANDIDATES :][:CANDIDATES] for place, axis in enumerate(axes)}
        scores = [_mean(p_yes) for p_yes in zip(*([yn.p_yes for yn in ten] for ten in by_axis.values()), strict=True)]
        return Ranked(
            each.query.kind,
            scores,
            mass=[min(axis) for axis in zip(*([yn.mass for yn in ten] for ten in by_axis.values()), strict=True)],
            axes=None if each.query.axes is None else {axis: [yn.p_yes for yn in ten] for axis, ten in by_axis.items()},
        )

    return _gathered(rows, questions, lambda turns: model.yes_or_no(turns, tokens), ranked)


def by_integer(
    model: Answerer, prompts: SelectionPrompts, rows: Iterable[ShownInstance]
) -> Iterator[Done[str, AnyRanked]]:
    """The integer that the model states of each candidate; where it states none, below all others."""

    def questions(each: ShownInstance) -> list[str]:
        return [_asked(each, prompts.rate_context, prompts.rate_definition)]

    def ranked(each: ShownInstance, found: Sequence[Any]) -> Ranked:
        read = [integer_score(reply.text) for reply in found]
        return Ranked(
            each.query.kind,
            [UNREADABLE if score is None else score for score in read],
            replies=[reply.text for reply in found],
            unreadable=[place for place, score in enumerate(read) if score is None],
            server=found[0].server,
        )

    return _gathered(rows, questions, lambda turns: model.answers(turns, ONE_INTEGER), ranked)


def _asked(each: ShownInstance, of_context: Prompt, of_definition: Prompt) -> str:
    if each.query.kind == CONTEXT:
        return of_context.filled({"target": each.row.target, "context": each.query.text})
    return of_definition.filled({"definition": each.query.text})


def _mean(values: Sequence[float | None]) -> float:
    """The mean of what is known; 0 where neither yes nor no has any likelihood."""
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else 0.0


_Part = tuple[str, int]


def _gathered(
    rows: Iterable[ShownInstance],
    questions: Callable[[ShownInstance], Sequence[str]],
    ask: Callable[[Iterator[tuple[_Part, Turn]]], Iterator[Done[_Part, Any]]],
    ranked: Callable[[ShownInstance, Sequence[Any]], Ranked],
) -> Iterator[Done[str, AnyRanked]]:
    """Ask each question of each of a row's candidates, and rank the row when the last has come."""
    open_rows: dict[str, tuple[ShownInstance, int, dict[int, Done[_Part, Any]]]] = {}

    def turns() -> Iterator[tuple[_Part, Turn]]:
        for each in rows:
            texts = questions(each)
            open_rows[each.row.id] = each, len(texts) * len(each.pictures), {}
            asked = ((text, data) for text in texts for _, data in each.pictures)
            for place, (text, data) in enumerate(asked):
                yield (each.row.id, place), Turn(text, (data,))

    for done in ask(turns()):
        row_id, place = done.key
        each, size, parts = open_rows[row_id]
        parts[place] = done
        if len(parts) == size:
            del open_rows[row_id]
            values = [parts[number].value for number in range(size)]
            failed: Refused | Unreached | None = next((value for value in values if isinstance(value, Unreached)), None)
            failed = failed or next((value for value in values if isinstance(value, Refused)), None)
            seconds = sum(part.seconds for part in parts.values())
            yield Done(row_id, failed if failed is not None else ranked(each, values), seconds)
