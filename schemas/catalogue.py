"""The catalogue: what hannun knows of each benchmark, one TOML file a benchmark."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from hannun.schemas.errors import InputError
from hannun.schemas.licence import Licence, Redistribution

_FOLDER = Path(__file__).parent / "catalogue"

SourceKind = Literal["bundled", "distribution", "download", "person"]
"""bundled: a file of this package. distribution: files of an installed pip package, by its RECORD.
download: an address. person: only a person can get it."""


@dataclass(frozen=True)
class SourceEntry:
    """A file that an upstream publishes, pinned by revision and digest where one is known.

    It is used where the recipe's options are those of `options`: by the plan, or, where it holds images,
    by fetch. Entries of one name are the files between which the options choose. Where `many`, the user
    may give several files: their keys are `NAME`, `NAME.2`, ...
    """

    name: str
    kind: SourceKind
    description: str
    path: str | None = None
    distribution: str | None = None
    version: str | None = None
    select: str | None = None
    address: str | None = None
    revision: str | None = None
    digest: str | None = None
    bytes: int | None = None
    licence: str | None = None
    by_hand: str | None = None
    holds: Literal["rows", "images"] = "rows"
    options: Mapping[str, str] = field(default_factory=dict)
    many: bool = False


@dataclass(frozen=True)
class Config:
    """A config; `options` are those of the recipe that give it."""

    name: str
    splits: tuple[str, ...]
    description: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """One catalogue entry.

    `split_by` names the field whose values no two splits may share; `share_by` the field by which
    configs share candidates, order and gold place. `needs` are this package's extras. `licences` has
    at least `text` and `images`.
    """

    name: str
    title: str
    summary: str
    languages: tuple[str, ...]
    recipe: str
    record: str
    published: bool
    rows_file: str
    citation: str
    configs: tuple[Config, ...]
    licences: Mapping[str, Licence]
    sources: dict[str, SourceEntry]
    split_by: str | None = None
    share_by: str | None = None
    homepage: str | None = None
    needs: tuple[str, ...] = ()
    size: str | None = None
    facts: tuple[dict[str, Any], ...] = ()
    results: tuple[dict[str, Any], ...] = ()

    @property
    def text_licence(self) -> Licence:
        return self.licences["text"]

    @property
    def image_licence(self) -> Licence:
        """The licence of the images that the default options give."""
        return self.licences["images"]

    def sources_with(self, options: Mapping[str, Any]) -> dict[str, SourceEntry]:
        """The sources that the recipe takes under these options."""
        return {
            entry.name: entry
            for entry in self.sources.values()
            if entry.holds == "rows" and all(options[key] == value for key, value in entry.options.items())
        }

    def config(self, name: str) -> Config:
        """The config of that name.

        Raises
        ------
        InputError
            The benchmark has none of that name.
        """
        for config in self.configs:
            if config.name == name:
                return config
        raise InputError(
            f"{self.name} has no config {name!r}", expected=", ".join(c.name for c in self.configs), got=name
        )


@cache
def names() -> tuple[str, ...]:
    """Names of all benchmarks, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def raw(name: str) -> dict[str, Any]:
    """A catalogue entry as its TOML says it.

    Raises
    ------
    InputError
        There is no benchmark of that name.
    """
    if name not in names():
        raise InputError(f"no benchmark named {name!r}", expected=", ".join(names()), got=name)
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def benchmark(name: str) -> Benchmark:
    """The catalogue entry of a benchmark; InputError when there is none of that name."""
    entry = dict(raw(name))
    return Benchmark(
        configs=tuple(Config(**{**c, "splits": tuple(c["splits"])}) for c in entry.pop("configs")),
        sources={key: SourceEntry(**{"name": key, **fields}) for key, fields in entry.pop("sources").items()},
        licences={key: _licence(fields) for key, fields in entry.pop("licences").items()},
        languages=tuple(entry.pop("languages")),
        needs=tuple(entry.pop("needs", ())),
        facts=tuple(entry.pop("facts", ())),
        results=tuple(entry.pop("results", ())),
        **entry,
    )


def _licence(fields: dict[str, Any]) -> Licence:
    return Licence(**{**fields, "redistribution": Redistribution(fields["redistribution"])})
