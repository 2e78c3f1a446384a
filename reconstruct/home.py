"""Where things live: `$HANNUN_HOME/{store,built/<name>}`, by default below the platform's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

from hannun.schemas import catalogue
from hannun.schemas.errors import InputError

ENVIRONMENT = "HANNUN_HOME"


def home() -> Path:
    """The folder of everything that hannun keeps."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        # Path.expanduser raises for an unknown user; the name then stays as it is.
        return Path(os.path.expanduser(named))  # noqa: PTH111
    from platformdirs import user_cache_path

    return user_cache_path("hannun", appauthor=False)


def store_folder() -> Path:
    return home() / "store"


def built_folder(benchmark: str, variant: str = "") -> Path:
    """Where `hannun.load_dataset` keeps a benchmark's built folder.

    Parameters
    ----------
    variant
        What tells it from the one that the recipe's default options give.
    """
    return home() / "built" / (f"{benchmark}-{variant}" if variant else benchmark)


def path_of(target: str) -> Path:
    """What a user names: a path, or the folder of a benchmark that is built here.

    Raises
    ------
    InputError
        There is nothing at the path, and no benchmark of that name is built.
    """
    path = Path(target)
    if path.exists():
        return path
    if target in catalogue.names():
        built = built_folder(target)
        if built.is_dir():
            return built
        raise InputError(f"{target} is not built here", where=str(built), todo=f"hannun build {target}")
    raise InputError(
        "no such file or folder", where=target, expected="a path, or one of " + ", ".join(catalogue.names())
    )
