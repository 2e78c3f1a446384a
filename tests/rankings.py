"""Small data sets of instances and predictions of them, made for tests."""

from __future__ import annotations

from pathlib import Path

from hannun.reconstruct.plan_folder import write_plan
from hannun.schemas.instance import Candidate, Instance
from hannun.schemas.plan import Planned, Recipe
from hannun.schemas.strict_json import dump_lines


def instance(
    row_id: str, label: int = 0, *, hard: int = 3, lemma: str = "fly", offset: int = 0, split: str = "test",
    context: str = "a bird can fly",
) -> Instance:  # fmt: skip
    """Ten candidates `img:N.jpg`, N from `offset` on; the first negatives are hard, the others random."""
    kinds = iter(["hard"] * hard + ["random"] * (9 - hard))
    candidates = tuple(
        Candidate(f"img:{offset + place}.jpg", "gold" if place == label else next(kinds)) for place in range(10)
    )
    source = {"row": 0, "lemma": lemma, "sense": "1", "gloss": None}
    return Instance(row_id, split, context, "fly", (11, 14), candidates, label, (), source)


def plan_folder(folder: Path, benchmark: str, recipe: str, rows: list[Instance]) -> Path:
    """A plan that holds just these rows."""
    write_plan(folder, Recipe(benchmark, recipe, 1, {}, 1, {}), Planned(tuple(rows), (), ()), "instances.jsonl")
    return folder


def by_id(*rows: Instance) -> dict[str, Instance]:
    return {row.id: row for row in rows}


def lines(path: Path, *rows: object) -> Path:
    path.write_text(dump_lines(rows), "utf-8")
    return path
