"""HAERAE-Vision for `datasets`: what Korean people asked about their pictures, in two wordings."""

from __future__ import annotations

from hannun.builders.benchmark import BenchmarkBuilder, configs


class HaeraeVision(BenchmarkBuilder):
    """Builder of HAERAE-Vision: each wording alone, or both in one row."""

    NAME = "haerae-vision"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "original"
