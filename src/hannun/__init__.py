"""hannun: load, rebuild, check and score vision-language benchmarks.

import hannun
rows = hannun.load_dataset("kona", "original", split="test")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hannun.loading import load_dataset, path

    __version__: str

__all__ = ["__version__", "load_dataset", "path"]


def __getattr__(name: str) -> Any:
    # Everything is looked up when it is asked for: `import hannun` stays light.
    if name in ("load_dataset", "path"):
        from hannun import loading

        return getattr(loading, name)
    if name == "__version__":
        from hannun.schemas.version import version

        return version()
    raise AttributeError(f"module 'hannun' has no attribute {name!r}")
