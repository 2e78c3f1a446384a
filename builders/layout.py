"""Layouts of a built folder: pictures in every row, or once each in a config of their own."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from hannun.builders.features import feature_dict
from hannun.schemas.catalogue import Benchmark

IMAGES = "images"
"""The config that holds the pictures where rows name them by id, and its one split."""
IMAGES_SPLIT = "test"
IMAGE_IDS = "image_ids"
"""The column of image ids of rows that have no candidates."""


class Layout(StrEnum):
    """embedded: each row holds its pictures. by-id: rows hold image ids, the config `images` each picture once."""

    EMBEDDED = "embedded"
    BY_ID = "by-id"


def table_features(benchmark: Benchmark, layout: Layout) -> dict[str, dict[str, Any]]:
    """Config -> features of its tables, by column."""
    whole = {config.name: feature_dict(config.record or benchmark.record) for config in benchmark.configs}
    if layout is Layout.EMBEDDED:
        return whole
    rows = {config: without_pictures(features) for config, features in whole.items()}
    return {**rows, IMAGES: feature_dict("image")}


def without_pictures(features: Mapping[str, Any]) -> dict[str, Any]:
    """Features without pictures; where no candidates name them, with their ids."""
    others = {name: feature for name, feature in features.items() if name not in ("image", IMAGES)}
    return others if "candidates" in others else {**others, IMAGE_IDS: [{"dtype": "string", "_type": "Value"}]}


def layout_of(folder: Path) -> Layout:
    """The layout of a built folder."""
    return Layout.BY_ID if (folder / IMAGES).is_dir() else Layout.EMBEDDED
