"""Predicting: rows with their pictures to a model, what comes of them to a file, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from hannun.builders.built import row_cells
from hannun.data_rows import folder_of, rows_of, with_pictures
from hannun.evaluation.candidate_scores import (
    CONTEXT,
    ORACLE,
    Query,
    Ranked,
    ShownInstance,
    by_integer,
    by_similarity,
    by_yes_no,
    constraint_query,
    definition_query,
)  # fmt: skip
from hannun.evaluation.prediction import Making, continuing, data_digests, read_lines
from hannun.evaluation.prompt import QUESTION, selection_prompts
from hannun.evaluation.reply import Done, Refused, Reply, Turn
from hannun.evaluation.sampling import DEFAULT_PRESET, ONE_INTEGER, PRESETS, Sampling
from hannun.evaluation.settled import Progress, settled
from hannun.evaluation.side_file import SideFile, read_side_file
from hannun.evaluation.yes_no_tokens import YesNoTokens
from hannun.model_choice import ModelChoice, ready_model
from hannun.pages import Held, by_config
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance
from hannun.schemas.question import Question
from hannun.schemas.row import Row


@dataclass(frozen=True)
class PredictRequest:
    """What is to be predicted.

    `configs` are all of the benchmark's that ask one thing a row, where none is named; `limit` rows of each.
    """

    benchmark: str
    model: ModelChoice
    data: Path | None = None
    configs: Sequence[str] = ()
    split: str = "test"
    preset: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int = 1
    definitions: Path | None = None
    constraints: Path | None = None
    limit: int | None = None


class Prediction:
    """A run over rows: `total` of them, and the lines that come.

    Raises
    ------
    InputError
        What is asked for does not fit the data, the model, or the lines that are there.
    """

    def __init__(self, request: PredictRequest, out: Path) -> None:
        self._request, self._out = request, out
        benchmark = catalogue.benchmark(request.benchmark)
        self._benchmark = benchmark
        self._folder = with_pictures(folder_of(benchmark, request.data))
        rows = self._wanted(rows_of(self._folder, benchmark))
        self._side = self._side_file(rows)
        self._model = ready_model(request.model)
        self._sampling = _sampling(request, benchmark.name)
        self._oracle = self._oracles(rows)
        self._is_selection = all(isinstance(row, Instance) for rows_ in rows.values() for row in rows_)
        making = self._how()
        self._made = making.to_json()
        there = {line["id"] for line in read_lines(out, "prediction", making)}
        self._open = {
            config: [row.id for row in of_config if row.id not in there] for config, of_config in rows.items()
        }
        wanted = {row.id for of_config in rows.values() for row in of_config}
        self.progress = Progress(total=sum(map(len, self._open.values())), lines=len(there & wanted))

    @property
    def interface(self) -> str:
        """How rows are asked, as `prediction.schema.json` names it."""
        interface: str = self._made["interface"]
        return interface

    @cached_property
    def _name(self) -> str:
        """The model as its lines call it: its rankings by definitions or constraints are those of another system."""
        kinds = {"constraints": self._request.constraints, "definitions": self._request.definitions}
        kind = next((kind for kind, path in kinds.items() if path is not None), None)
        oracle = "oracle " if self._oracle else ""
        return self._request.model.name if kind is None else f"{self._request.model.name} ({oracle}{kind})"

    @property
    def notes(self) -> list[str]:
        """What is to be known of how rows are asked."""
        notes = []
        if partial := self._made["settings"].get("tokens", {}).get("partial", ()):
            sides = " and ".join(partial)
            notes.append(f"the vocabulary has no token that is a word of {sides}: its first piece stands for it")
        if self._oracle:
            notes.append(f"{self._oracle:,} definitions are the annotation's own gloss: labelled oracle")
        return notes

    def run(self) -> Iterator[None]:
        """Predict row by row, each line written before the next step; one step for each row that is settled.

        Raises
        ------
        InputError
            The model refuses every row, as it does where the settings are wrong.
        """
        model = self._request.model
        came = self._done() if self.progress.total else ()
        with continuing(self._out) as journal:
            for done in settled(came, self.progress, model=model.name, batch_size=model.batch_size):
                line = {"id": done.key, "model": self._name, **_fields(done.value), "seconds": round(done.seconds, 4)}
                journal.append({**line, "made": self._made})
                yield

    def _done(self) -> Iterator[Done[str, Any]]:
        if not self._is_selection:
            turns = (
                (row.id, Turn(QUESTION.filled({"question": row.record["question"]}), tuple(pictures)))
                for row, pictures in self._shown()
                if isinstance(row, Question)
            )
            return self._model.answerer.answers(turns, self._sampling)
        rows = (
            ShownInstance(row, self._query(row), list(zip(row.shown, pictures, strict=True)))
            for row, pictures in self._shown()
            if isinstance(row, Instance)
        )
        prompts = selection_prompts(self._language)
        if self._interface == "integer":
            return by_integer(self._model.answerer, prompts, rows)
        if self._interface == "similarity":
            from hannun.evaluation.models.dual_encoder import DualEncoder

            choice = self._request.model
            encoder = DualEncoder(self._model.loaded, batch_size=choice.batch_size, side=choice.max_side)
            return by_similarity(encoder, rows)
        model: Any = self._model.answerer
        return by_yes_no(model, self._tokens, prompts, rows)

    def _shown(self) -> Iterator[tuple[Row, list[bytes]]]:
        """Rows that are still to be done, with the bytes of their pictures."""
        for config, row_ids in self._open.items():
            left = set(row_ids)
            for row, cells in row_cells(self._folder, config, {self._request.split}) if left else ():
                if row.id in left:
                    left.remove(row.id)
                    yield row, [_bytes(cell, row.id, self._folder) for cell in cells]
                if not left:
                    break

    def _query(self, row: Instance) -> Query:
        if self._side is None:
            return Query(CONTEXT, row.context)
        line = self._side.lines[row.id]
        return constraint_query(line) if self._request.constraints else definition_query(row, line["definition"])

    def _wanted(self, rows: Mapping[str, Row]) -> dict[str, list[Row]]:
        """Config -> its rows of the split, those of `limit`, in order."""
        there = by_config(rows.values())
        for name in self._request.configs:
            if name not in there:
                raise InputError(
                    f"no config {name!r}", where=str(self._folder), expected=", ".join(there), got=name,
                    todo="choose another --config, or give another --data",
                )  # fmt: skip
            if not _asks_one_thing(there[name][0]):
                raise InputError(
                    f"config {name!r} asks two things a row", where=str(self._folder),
                    expected=", ".join(each for each, of in there.items() if _asks_one_thing(of[0])), got=name,
                    todo="choose another --config",
                )  # fmt: skip
        chosen = self._request.configs or [name for name, of_config in there.items() if _asks_one_thing(of_config[0])]
        wanted = {
            name: list(islice((row for row in there[name] if row.split == self._request.split), self._request.limit))
            for name in dict.fromkeys(chosen)
        }
        if not any(wanted.values()):
            splits = dict.fromkeys(row.split for name in wanted for row in there[name])
            raise InputError(
                f"no split {self._request.split!r}", where=str(self._folder), expected=", ".join(splits),
                got=self._request.split, todo="choose another --split",
            )  # fmt: skip
        return wanted

    def _side_file(self, wanted: Mapping[str, Sequence[Row]]) -> SideFile | None:
        """The side file, which must have a line for every row."""
        request = self._request
        if request.definitions and request.constraints:
            raise InputError(
                "definitions and constraints are two runs", where="--definitions, --constraints",
                todo="make each into a file of its own, then: hannun eval score NAME A B --fuse",
            )  # fmt: skip
        path = request.definitions or request.constraints
        if path is None:
            return None
        row_ids = [row.id for of_config in wanted.values() for row in of_config if isinstance(row, Instance)]
        if not row_ids:
            raise InputError("side files are for rankings", where=str(path), got=self._benchmark.name)
        every = rows_of(self._folder, self._benchmark)
        side = read_side_file(path, "constraints" if request.constraints else "definition", every)
        lacking = [row_id for row_id in row_ids if row_id not in side.lines]
        if lacking:
            raise InputError(
                f"the file has no line for {len(lacking):,} of {len(row_ids):,} rows", where=str(path), got=lacking[0],
                todo="add the lines, or choose rows with --config, --split and --limit",
            )  # fmt: skip
        return side

    def _oracles(self, wanted: Mapping[str, Sequence[Row]]) -> int:
        """How many rows' definitions are the annotation's own gloss."""
        if not self._request.definitions:
            return 0
        rows = (row for of_config in wanted.values() for row in of_config if isinstance(row, Instance))
        return sum(self._query(row).kind == ORACLE for row in rows)

    @property
    def _language(self) -> str:
        return self._benchmark.languages[0]

    @cached_property
    def _interface(self) -> str:
        if not self._is_selection:
            return "answer"
        if self._request.model.endpoint is not None:
            if self._request.constraints:
                raise InputError(
                    "constraint questions are answered by YES and NO, which an endpoint's integers are not",
                    where="--constraints", todo="use a model of this machine",
                )  # fmt: skip
            return "integer"
        from hannun.evaluation.models.loading import Kind

        kind = self._model.loaded.kind
        if kind is Kind.TEXT:
            raise InputError("the model reads texts only", where=self._request.model.name, expected="one for pictures")
        if kind is Kind.DUAL_ENCODER and self._request.constraints:
            raise InputError(
                "constraint questions need a model that answers", where=self._request.model.name,
                expected="a vision-language model", got="one that embeds", todo="give its --definitions instead",
            )  # fmt: skip
        return "similarity" if kind is Kind.DUAL_ENCODER else "yes-no"

    @cached_property
    def _tokens(self) -> YesNoTokens:
        model: Any = self._model.answerer
        tokens: YesNoTokens = model.yes_no_tokens(self._language)
        return tokens

    def _how(self) -> Making:
        plan = Held.at(self._folder).plan
        prompts = selection_prompts(self._language)
        asked = {
            "answer": QUESTION,
            "yes-no": prompts.constraint
            if self._request.constraints
            else prompts.definition
            if self._request.definitions
            else prompts.context,
            "integer": prompts.rate_definition if self._request.definitions else prompts.rate_context,
        }.get(self._interface)
        settings = dict(self._model.settings)
        if self._interface == "answer":
            settings["sampling"] = self._sampling.to_json()
        elif self._interface == "integer":
            settings["sampling"] = ONE_INTEGER.to_json()
        elif self._interface == "yes-no":
            settings["tokens"] = {side: list(ids) for side, ids in asdict(self._tokens).items()}
        return Making(
            self._benchmark.name, self._interface, self._model.described, None if asked is None else asked.digest,
            data_digests(plan.rows_path, plan.lock_path), settings, self._model.versions,
            None if self._side is None else self._side.digest,
        )  # fmt: skip


def _sampling(request: PredictRequest, benchmark: str) -> Sampling:
    preset = PRESETS[request.preset or DEFAULT_PRESET.get(benchmark, "greedy")]
    return preset.changed(temperature=request.temperature, max_tokens=request.max_tokens, seed=request.seed)


def _asks_one_thing(row: Row) -> bool:
    return isinstance(row, Instance) or "question" in row.record


def _bytes(cell: Mapping[str, Any], row_id: str, folder: Path) -> bytes:
    data: bytes | None = cell["bytes"]
    if data is None:
        raise InputError(
            "the folder does not hold its pictures", where=f"{folder}, {row_id}", todo="rebuild it: its card tells how"
        )
    return data


def _fields(value: Reply | Refused | Ranked) -> dict[str, Any]:
    """What a line says of its row, as `prediction.schema.json` names it."""
    if isinstance(value, Refused):
        return {"error": value.why}
    if isinstance(value, Ranked):
        return value.to_json()
    return {"answer": value.text, "cut": value.cut, **({} if value.server is None else {"server": value.server})}
