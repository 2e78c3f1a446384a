"""KoNA for `datasets`: ten pictures, one right, in three wordings."""

from __future__ import annotations

from hannun.builders.benchmark import BenchmarkBuilder, configs


class Kona(BenchmarkBuilder):
    """Builder of KoNA (Korean Noun Ambiguity), which this project defines."""

    NAME = "kona"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "original"
