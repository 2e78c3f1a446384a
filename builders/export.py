"""Export: a built benchmark as the one table that its publisher gives, or as JSON lines.

Columns are those of the publishers' own files (github.com/HAE-RAE/HAERAE-VISION; maum-ai's KOFFVQA.tsv), so that
their scripts run on an export, and a recipe that reads one gives the same records again.
"""

from __future__ import annotations

import base64
import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hannun.builders.built import row_cells
from hannun.builders.features import arrow_schema
from hannun.builders.folder import README, row_groups
from hannun.builders.layout import IMAGES
from hannun.reconstruct.plan_folder import RECIPE, PlanFolder
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance, config_of
from hannun.schemas.question import Question
from hannun.schemas.row import Row
from hannun.schemas.strict_json import dumps

Format = Literal["jsonl", "tsv", "parquet"]
FORMATS: tuple[Format, ...] = ("jsonl", "tsv", "parquet")

Values = dict[str, Any]


@dataclass(frozen=True)
class Published:
    """How a benchmark's publisher lays its table out.

    `config` is the config that holds it, `columns` maps a column to the field of our record. A field that a
    config does not have, or that no row fills, is left out.
    """

    config: str
    columns: Mapping[str, str]


PUBLISHED = {
    "haerae-vision": Published(
        config="paired",
        columns={
            "question_idx": "question_idx",
            "question": "question",
            "question_original": "question_original",
            "question_explicit": "question_explicit",
            "category": "category",
            "source": "source",
            "images": IMAGES,
            "checklist": "checklist",
            "answer": "answer",
        },
    ),
    "koffvqa": Published(
        config="default",
        columns={
            "index": "index",
            "image": "image",
            "question": "question",
            # The publisher's column of this name holds the grading criteria.
            "answer": "criteria_raw",
            "category": "category",
        },
    ),
}

_CHECKLIST = "checklist"
_NEEDS_QUOTES = re.compile(r'[\t\r\n"]')

_FEATURES = {"image": {"_type": "Image"}, IMAGES: [{"_type": "Image"}]}


def export(folder: Path, form: Format, out: Path | None = None, config: str | None = None) -> Path:
    """Write a built benchmark as one file; the file's path.

    Instances are written without their pictures, which they name by image id.

    Parameters
    ----------
    folder
        A built folder, in either layout.
    out
        A file, or a folder for one named `BENCHMARK-CONFIG.FORMAT`; the working directory when None.
    config
        By default the one that the publisher's table is of; of instances, all of them.

    Raises
    ------
    InputError
        No build there, no such config, a form in which this benchmark is not written, or a file that is there
        already.
    """
    if not ((folder / README).is_file() and (folder / RECIPE).is_file()):
        raise InputError(
            "no build here" if folder.is_dir() else "no such folder",
            where=str(folder),
            expected="a built folder, or the name of a benchmark that is built here",
            todo="make one with: hannun build NAME --out DIR",
        )
    plan = PlanFolder(folder)
    benchmark = plan.recipe()["benchmark"]
    rows = plan.rows()
    if any(isinstance(row, Instance) for row in rows):
        _refuse_other_than_lines(form, folder)
        chosen = _of_config(rows, config, folder)
        path = _place(out, benchmark, config, form)
        _write_lines(path, (row.to_json() for row in chosen))
        return path
    published = _published(benchmark)
    config = config or published.config
    chosen = _of_config(rows, config, folder)
    fields = _fields(published, [row.record for row in chosen if isinstance(row, Question)])
    path = _place(out, benchmark, config, form)
    values = _values(folder, config, fields, form)
    if form == "parquet":
        _write_parquet(path, values, _features(folder / config, fields))
    elif form == "tsv":
        _write_table(path, list(fields), values)
    else:
        _write_lines(path, map(_as_json, values))
    return path


def _refuse_other_than_lines(form: Format, folder: Path) -> None:
    if form == "parquet":
        raise InputError(
            "the built folder is parquet already, with the pictures in it",
            where=str(folder),
            todo=f'load it as it is: datasets.load_dataset("{folder}", CONFIG)',
        )
    if form == "tsv":
        raise InputError("instances do not fit into a plain table", where=str(folder), todo="choose --format jsonl")


def _published(benchmark: str) -> Published:
    if benchmark not in PUBLISHED:
        raise InputError(f"how {benchmark} is published is not known", expected=", ".join(PUBLISHED), got=benchmark)
    return PUBLISHED[benchmark]


def _of_config(rows: Sequence[Row], config: str | None, folder: Path) -> list[Row]:
    chosen = [row for row in rows if config is None or config_of(row.id) == config]
    if not chosen:
        there = ", ".join(dict.fromkeys(config_of(row.id) for row in rows))
        raise InputError(f"no config {config!r}", where=str(folder), expected=there, got=config)
    return chosen


def _fields(published: Published, records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Column -> field, for the fields that any of the records fills; the pictures stand beside them."""
    return {
        column: field
        for column, field in published.columns.items()
        if field in _FEATURES or any(record.get(field) is not None for record in records)
    }


def _values(folder: Path, config: str, fields: Mapping[str, str], form: Format) -> Iterator[Values]:
    """Rows of the table, cells of pictures as the build holds them."""
    for question, cells in row_cells(folder, config):
        assert isinstance(question, Question)
        held = {**question.record, "image": cells[0], IMAGES: cells, _CHECKLIST: _checklist(question.record, form)}
        yield {column: held.get(field) for column, field in fields.items()}


def _checklist(record: Mapping[str, Any], form: Format) -> Any:
    """The checklist as it was published, numbers and bullets with it: a list, in plain tables its text.

    Where it was published as text, a list cannot hold it as it was, and holds its criteria.
    """
    raw = record.get(f"{_CHECKLIST}_raw")
    if raw is None or form == "tsv":
        return record.get(_CHECKLIST) if raw is None else raw
    try:
        value = json.loads(raw)
    except ValueError:
        return record[_CHECKLIST]
    is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return value if is_list or value is None else record[_CHECKLIST]


def _features(folder: Path, fields: Mapping[str, str]) -> dict[str, Any]:
    """Features of the table, as the build describes them itself."""
    import pyarrow.parquet as pq

    first = min(folder.glob("*.parquet"))
    described = json.loads(pq.read_schema(first).metadata[b"huggingface"])["info"]["features"]
    return {column: _FEATURES.get(field) or described[field] for column, field in fields.items()}


def _place(out: Path | None, benchmark: str, config: str | None, form: Format) -> Path:
    """The file to write."""
    name = "-".join(filter(None, (benchmark, config))) + f".{form}"
    path = Path(name) if out is None else out / name if out.is_dir() else out
    if path.suffix.removeprefix(".") in {*FORMATS} - {form}:
        raise InputError("named as another format", where=str(path), expected=f".{form}", todo="choose another --out")
    if path.exists():
        raise InputError("there already, and not overwritten", where=str(path), todo="choose another --out")
    return path


def _as_json(values: Values) -> Values:
    return {column: _base64(value) for column, value in values.items()}


def _as_text(value: Any) -> str:
    """A cell of a plain table: lists as JSON, nothing as the empty text."""
    plain = _base64(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else dumps(plain)


def _quoted(cell: str) -> str:
    """A cell as `csv` writes it; a lone CR is quoted too, which `csv` leaves bare and then reads as a line's end."""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _base64(value: Any) -> Any:
    """Pictures as plain base64 of their bytes, everything else as it is."""
    if isinstance(value, Mapping) and set(value) == {"bytes", "path"}:
        return base64.b64encode(value["bytes"]).decode("ascii")
    return [_base64(each) for each in value] if isinstance(value, list) else value


def _write_lines(path: Path, rows: Iterable[Values]) -> None:
    with _whole(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        for row in rows:
            stream.write(dumps(row) + "\n")


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[Values]) -> None:
    with _whole(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        stream.write("\t".join(map(_quoted, columns)) + "\n")
        for row in rows:
            stream.write("\t".join(_quoted(_as_text(row[column])) for column in columns) + "\n")


def _write_parquet(path: Path, rows: Iterable[Values], features: Mapping[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(features)
    # Pictures are compressed already; a dictionary of them would only take memory.
    with _whole(path) as part, pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False) as writer:
        for group, _ in row_groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file beside the path that takes its place when the block ends well.

    Raises
    ------
    InputError
        It cannot be written there.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")
    try:
        part.touch()
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is None or Path(error.filename) != part:
            raise
        raise InputError(f"cannot be written: {error.strerror}", where=str(path), todo="choose another --out") from None
    finally:
        part.unlink(missing_ok=True)
