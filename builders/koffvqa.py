"""KOFFVQA for `datasets`: free-form questions in Korean about pictures, with grading criteria."""

from __future__ import annotations

from hannun.builders.benchmark import BenchmarkBuilder, configs


class Koffvqa(BenchmarkBuilder):
    """Builder of KOFFVQA."""

    NAME = "koffvqa"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "default"
