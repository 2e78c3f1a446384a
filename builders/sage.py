"""SAGE for `datasets`: ten pictures, one right, for nouns."""

from __future__ import annotations

from hannun.builders.benchmark import BenchmarkBuilder, configs


class SageVwsd(BenchmarkBuilder):
    """Builder of SAGE's nouns (SemEval-2023 Task 1)."""

    NAME = "sage-vwsd"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "vwsd"
