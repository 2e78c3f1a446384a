"""The version of hannun, looked up when it is asked for."""

from __future__ import annotations

import importlib.metadata


def version() -> str:
    """The installed version of hannun."""
    return importlib.metadata.version("hannun")
