"""Where things live: `$HANNUN_HOME/{store,built/<name>}`, by default below the platform's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

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
