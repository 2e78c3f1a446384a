"""By name: a built folder put into the cache of `datasets`, so that `load_dataset("hannun/NAME", CONFIG)` works.

The cache answers only where the Hub has no data set of that name; the docs prefer the path.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from hannun.schemas import catalogue
from hannun.schemas.digest import FAST, Digester

NAMESPACE = "hannun"


def register(name: str, folder: Path) -> list[str]:
    """Prepare every config of a built folder in the cache of `datasets`.

    Returns
    -------
    The configs, as `load_dataset("hannun/<name>", config)` takes them.
    """
    record = catalogue.benchmark(name).record
    module = importlib.import_module(f"hannun.builders.{record.replace('-', '_')}")
    builder_class = getattr(module, name.title().replace("-", ""))
    done = []
    for config in catalogue.benchmark(name).configs:
        files = sorted(folder.glob(f"{config.name}/*.parquet"))
        if not files:
            continue
        builder = builder_class(
            config_name=config.name, repo_id=f"{NAMESPACE}/{name}", dataset_name=name, hash=_content_hash(files)
        )
        builder.folder = folder
        builder.download_and_prepare()
        # The cache answers with its newest folder, also when this content was prepared long ago.
        os.utime(builder.cache_dir)
        done.append(config.name)
    return done


def _content_hash(files: list[Path]) -> str:
    digester = Digester([FAST])
    for path in files:
        digester.update(path.name.encode())
        digester.update(path.read_bytes())
    return digester.digests()[FAST]
