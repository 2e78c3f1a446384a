"""`hannun.load_dataset` and `hannun.path`: build on first use, then go by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hannun.reconstruct.home import built_folder, store_folder


def path(name: str, config: str | None = None) -> str:
    """The built folder of a benchmark, built on first use, as `datasets.load_dataset` takes it.

    Parameters
    ----------
    name
        A benchmark of the catalogue, such as `kona`.
    config
        A config that the folder shall hold; by default those that the recipe's default options give.

    Raises
    ------
    HannunError
        It cannot be built here: a source is missing, or images are.
    """
    from hannun.builders.folder import README
    from hannun.reconstruct.recipes import recipe_module, variant
    from hannun.schemas import catalogue

    benchmark = catalogue.benchmark(name)
    options = dict(benchmark.config(config).options) if config is not None else {}
    folder = built_folder(name, variant(recipe_module(benchmark.recipe), options))
    if not (folder / README).is_file() or not _is_whole(folder):
        _build(name, options, folder)
    return str(folder)


def load_dataset(name: str, config: str | None = None, **arguments: Any) -> Any:
    """A benchmark as `datasets` gives it, built on first use.

    Parameters
    ----------
    name
        A benchmark of the catalogue, such as `kona`.
    config
        One of its configs; the first when None.
    arguments
        Passed on to `datasets.load_dataset` (`split`, `streaming`, ...).
    """
    import datasets

    return datasets.load_dataset(path(name, config), config, **arguments)


def _is_whole(folder: Path) -> bool:
    """Whether the build holds every row of its plan; one made with --limit or with images missing does not."""
    from hannun.reconstruct.plan_folder import PlanFolder

    files = [PlanFolder(place).rows_path for place in (folder, folder / "plan")]
    counts = {path.read_bytes().count(b"\n") for path in files if path.is_file()}
    return all(path.is_file() for path in files) and len(counts) == 1


def _build(name: str, options: dict[str, str], folder: Path) -> None:
    from hannun import pipeline
    from hannun.build import build
    from hannun.reconstruct.plan_folder import PlanFolder
    from hannun.reconstruct.resolve import Policy
    from hannun.reconstruct.settings import Settings
    from hannun.reconstruct.store import Store

    plan = folder / pipeline.PLAN
    store = Store(store_folder())
    pipeline.make_plan(pipeline.PlanRequest(name, options=options), plan)
    for _ in pipeline.fetch_images(PlanFolder.at(folder), store, Settings()).attempts:
        pass
    # Whoever loads a benchmark by name expects all of it.
    state = pipeline.state_of(PlanFolder.at(folder), store, Policy(on_missing="fail"), fast=True)
    build(state, store, folder)
