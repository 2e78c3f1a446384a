"""What a card is made from: the catalogue's entry, and what a built folder really holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.builders.built import built_pictures
from hannun.builders.folder import SUBSTITUTIONS
from hannun.builders.layout import IMAGES
from hannun.builders.tables import Tables, read_tables, table_files
from hannun.cards.frame import in_config_order
from hannun.cards.sample import Sample, choose, draw
from hannun.reconstruct.plan_folder import LOCK, RECIPE, PlanFolder
from hannun.schemas import catalogue
from hannun.schemas.errors import InputError
from hannun.schemas.instance import config_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.row import Row
from hannun.schemas.strict_json import numbered_lines
from hannun.schemas.text_file import read_text


@dataclass(frozen=True)
class CardFacts:
    """`substitutions` counts the differences from the plan by what they are; `picture` is the sample's, WebP."""

    benchmark: catalogue.Benchmark
    tables: Tables
    recipe: Mapping[str, Any]
    lock: Sequence[LockEntry]
    substitutions: Mapping[str, int]
    sample: Sample
    picture: bytes | None

    @property
    def rows(self) -> int:
        """Number of rows in all configs."""
        configs = (splits for config, splits in self.tables.sizes.items() if config != IMAGES)
        return sum(size.rows for splits in configs for size in splits.values())


def read_facts(folder: Path) -> CardFacts:
    """What a built folder holds.

    Raises
    ------
    InputError
        It is no built folder, or one of its files cannot be read.
    """
    if not (folder / RECIPE).is_file():
        raise InputError(
            "no build here" if folder.is_dir() else "no such folder",
            where=str(folder),
            expected=f"a folder with {RECIPE}, {LOCK} and tables",
            todo="make one with: hannun build NAME --out DIR",
        )
    plan = PlanFolder(folder)
    recipe = plan.recipe()
    benchmark = catalogue.benchmark(recipe["benchmark"])
    tables = read_tables(folder, benchmark)
    if not tables.sizes:
        raise InputError(
            "a plan, not a build: it has no tables",
            where=str(folder),
            todo="make one with: hannun build NAME --out DIR",
        )
    lock = plan.lock()
    # Of an upload whose texts were left out, the rows are too.
    rows = in_config_order(benchmark, plan.rows()) if plan.rows_path.is_file() else []
    sample = choose(benchmark, rows, lock, held_pictures(folder, tables, rows))
    pictures = _pictures(folder, {image_id for row in sample.rows for image_id in row.shown})
    return CardFacts(
        benchmark,
        tables,
        recipe,
        lock,
        _substitutions(folder / SUBSTITUTIONS),
        sample,
        draw(sample.rows, pictures) if sample.rows else None,
    )


def held_pictures(folder: Path, tables: Tables, rows: Sequence[Row]) -> set[str]:
    """Image ids of the pictures that a folder's tables hold; its rows name those that they embed."""
    if IMAGES in tables.features:
        import pyarrow.parquet as pq

        named = (
            pq.read_table(path, columns=["image_id"]) for config, _, path in table_files(folder) if config == IMAGES
        )
        return {image_id for table in named for image_id in table.column(0).to_pylist()}
    embedded = {config for config, features in tables.features.items() if features.keys() & {"image", IMAGES}}
    return {image_id for row in rows if config_of(row.id) in embedded for image_id in row.shown}


def _pictures(folder: Path, wanted: set[str]) -> dict[str, bytes]:
    """The bytes of pictures that the tables hold; reading ends with the last one."""
    found: dict[str, bytes] = {}
    if wanted:
        for image_id, cell in built_pictures(folder):
            if image_id in wanted:
                found[image_id] = cell["bytes"]
            if len(found) == len(wanted):
                break
    return found


def _substitutions(path: Path) -> dict[str, int]:
    if not path.is_file():
        return {}
    return dict(Counter(each["what"] for _, each in numbered_lines(read_text(path).text, str(path))))
