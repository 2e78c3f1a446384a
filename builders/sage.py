"""SAGE for `datasets`: ten pictures, one right, for nouns, verbs and entities."""

from __future__ import annotations

from hannun.builders.benchmark import BenchmarkBuilder, configs


class Sage(BenchmarkBuilder):
    """Builder of all of SAGE. It stands first: older `datasets` take a script's first class."""

    NAME = "sage"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "vwsd"


class SageVwsd(BenchmarkBuilder):
    """Builder of SAGE's nouns (SemEval-2023 Task 1)."""

    NAME = "sage-vwsd"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "vwsd"


class SageWikidiverse(BenchmarkBuilder):
    """Builder of SAGE's entities (WikiDiverse)."""

    NAME = "sage-wikidiverse"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "wikidiverse"


class SageVerse(BenchmarkBuilder):
    """Builder of SAGE's verbs in all three configs (VerSe)."""

    NAME = "sage-verse"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "verse-spis"


class SageVerseOriginal(BenchmarkBuilder):
    """Builder of SAGE's verbs, gold being the image that the caption describes (VerSe)."""

    NAME = "sage-verse-original"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "verse-original"


class SageVerseSpis(BenchmarkBuilder):
    """Builder of SAGE's verbs, gold being another image of the sense (VerSe)."""

    NAME = "sage-verse-spis"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "verse-spis"


class SageVerseSpisNeutralized(BenchmarkBuilder):
    """Builder of SAGE's verbs, as SPIS, with the verb masked (VerSe)."""

    NAME = "sage-verse-spis-neutralized"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "verse-spis-neutralized"
