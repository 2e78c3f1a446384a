"""Layouts of a built folder: pictures in every row, or once each in a config of their own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

from hannun.builders.features import feature_dict
from hannun.schemas.catalogue import Benchmark

IMAGES = "images"
"""The config that holds the pictures where rows name them by id, and its one split."""
IMAGES_SPLIT = "test"


class Layout(StrEnum):
    """embedded: each row holds its pictures. by-id: rows hold image ids, the config `images` each picture once."""

    EMBEDDED = "embedded"
    BY_ID = "by-id"


def table_features(benchmark: Benchmark, layout: Layout) -> dict[str, dict[str, Any]]:
    """Config -> features of its tables, by column."""
    whole = feature_dict(benchmark.record)
    if layout is Layout.EMBEDDED:
        return {config.name: whole for config in benchmark.configs}
    rows = {name: feature for name, feature in whole.items() if name != IMAGES}
    return {**{config.name: rows for config in benchmark.configs}, IMAGES: feature_dict("image")}


def layout_of(folder: Path) -> Layout:
    """The layout of a built folder."""
    return Layout.BY_ID if (folder / IMAGES).is_dir() else Layout.EMBEDDED
