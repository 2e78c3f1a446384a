"""The catalogue: what hannun knows of each benchmark, one TOML file a benchmark."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from hannun.schemas.errors import InputError
from hannun.schemas.licence import Licence, Redistribution

_FOLDER = Path(__file__).parent / "catalogue"

SourceKind = Literal["bundled", "distribution", "download", "hub", "person"]
"""bundled: a file of this package. distribution: files of an installed pip package, by its RECORD.
download: an address. hub: files of a repository of the Hugging Face Hub. person: only a person can get it."""


@dataclass(frozen=True)
class SourceEntry:
    """A file that an upstream publishes, pinned by revision and digest where one is known.

    It is used where the recipe's options are those of `options`: by the plan, where it holds images by
    fetch, and where it holds records, rows with their pictures, by both. `repo` is a dataset of the Hub, and
    `files` the pattern of the names to take of it. Entries of one name are the files between which the
    options choose. Where `many`, the user may give several files: their keys are `NAME`, `NAME.2`, ...
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
    repo: str | None = None
    files: str | None = None
    holds: Literal["rows", "images", "records"] = "rows"
    options: Mapping[str, str] = field(default_factory=dict)
    many: bool = False


@dataclass(frozen=True)
class Config:
    """A config; `options` are those of the recipe that give it.

    `alone` is the name under which it is a benchmark by itself, `record` the record schema of its rows
    where it is not the benchmark's.
    """

    name: str
    splits: tuple[str, ...]
    description: str
    options: Mapping[str, str] = field(default_factory=dict)
    alone: str | None = None
    record: str | None = None


@dataclass(frozen=True)
class Wording:
    """What a card says of a benchmark in one language, beyond the catalogue's own texts.

    `summary`, `configs` (name -> what it is) and `fields` (name -> meaning) stand in for the catalogue's and the
    record schema's English in another language.
    """

    differences: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    ethics: tuple[str, ...] = ()
    title: str | None = None
    summary: str | None = None
    configs: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CardEntry:
    """What only the card needs: the Hub's task categories and tags, papers by arXiv number, texts by language."""

    task_categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    arxiv: tuple[str, ...] = ()
    wordings: Mapping[str, Wording] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """One catalogue entry.

    `split_by` names the field whose values no two splits may share; `share_by` the field by which
    configs share pictures, order and gold place. `needs` are this package's extras. `licences` has
    at least `text` and `images`. `facts` and `results` are published ones, each with where it was published and how
    it is known. `members` are the benchmarks that it is made of, if it is.
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
    members: tuple[Benchmark, ...] = ()
    card: CardEntry = field(default_factory=CardEntry)

    @property
    def recipes(self) -> tuple[str, ...]:
        """The recipes that make its rows: those of its members, or its own."""
        return tuple(member.recipe for member in self.members) or (self.recipe,)

    @property
    def text_licence(self) -> Licence:
        return self.licences["text"]

    @property
    def text_licences(self) -> dict[str, Licence]:
        """The licence of its texts by the name of the benchmark that they are of: its members', or its own."""
        return {each.name: each.text_licence for each in self.members or (self,)}

    @property
    def image_licence(self) -> Licence:
        """The licence of the images that the default options give."""
        return self.licences["images"]

    def sources_with(self, options: Mapping[str, Any]) -> dict[str, SourceEntry]:
        """The sources that the recipe takes under these options."""
        return {
            entry.name: entry
            for entry in self.sources.values()
            if entry.holds != "images" and all(options[key] == value for key, value in entry.options.items())
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
    """Names of all benchmarks, those of single configs too, sorted."""
    return tuple(sorted([*entries(), *_alone()]))


@cache
def entries() -> tuple[str, ...]:
    """Names of the catalogue's files, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def raw(name: str) -> dict[str, Any]:
    """A catalogue entry as its TOML says it."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def benchmark(name: str) -> Benchmark:
    """The catalogue entry of a benchmark, or of one of its configs alone.

    Raises
    ------
    InputError
        There is no benchmark of that name.
    """
    if name in _alone():
        whole = benchmark(_alone()[name])
        [config] = [config for config in whole.configs if config.alone == name]
        return replace(
            whole, name=name, title=f"{whole.title} ({config.name})", summary=f"{config.description} {whole.summary}",
            configs=(config,),
        )  # fmt: skip
    if name not in entries():
        raise InputError(f"no benchmark named {name!r}", expected=", ".join(names()), got=name)
    entry = dict(raw(name))
    members = tuple(map(benchmark, entry.pop("members", ())))
    configs = [Config(**{**each, "splits": tuple(each["splits"])}) for each in entry.pop("configs", ())]
    sources = {key: SourceEntry(**{"name": key, **fields}) for key, fields in entry.pop("sources", {}).items()}
    for member in members:
        configs += member.configs
        sources |= member.sources
    return Benchmark(
        configs=tuple(configs),
        sources=sources,
        licences={key: _licence(fields) for key, fields in entry.pop("licences").items()},
        languages=tuple(dict.fromkeys([*entry.pop("languages", ()), *(each for m in members for each in m.languages)])),
        needs=tuple(entry.pop("needs", ())),
        citation=_joined([entry.pop("citation", ""), *(member.citation for member in members)]),
        size=entry.pop("size", None) or "; ".join(f"{m.name}: {m.size}" for m in members if m.size) or None,
        facts=(*entry.pop("facts", ()), *(fact for member in members for fact in member.facts)),
        results=(*entry.pop("results", ()), *(result for member in members for result in member.results)),
        members=members,
        card=_card(entry.pop("card", {}), members),
        **entry,
    )


@cache
def _alone() -> dict[str, str]:
    """Names of single configs, and the entry that each one stands in."""
    return {config["alone"]: name for name in entries() for config in raw(name).get("configs", ()) if "alone" in config}


def _joined(citations: list[str]) -> str:
    """Entries of BibTeX, each once, in order."""
    split = (each.strip() for citation in citations for each in re.split(r"\n\n(?=@)", citation))
    return "\n\n".join(dict.fromkeys(filter(None, split)))


def _card(fields: dict[str, Any], members: tuple[Benchmark, ...]) -> CardEntry:
    """The entry's own, with what those of its members add."""
    names = ("task_categories", "tags", "arxiv")
    shared = {name: _each_once([fields.get(name, ()), *(getattr(m.card, name) for m in members)]) for name in names}
    wordings = {language: _wording(texts) for language, texts in fields.items() if language not in names}
    for member in members:
        for language, added in member.card.wordings.items():
            own = wordings.get(language, Wording())
            lists = ("differences", "limits", "ethics")
            joined: dict[str, Any] = {name: _each_once([getattr(own, name), getattr(added, name)]) for name in lists}
            wordings[language] = replace(own, **joined)
    return CardEntry(wordings=wordings, **shared)


def _wording(texts: dict[str, Any]) -> Wording:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in texts.items()}
    return Wording(**values)


def _each_once(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for several in lists for each in several))


def _licence(fields: dict[str, Any]) -> Licence:
    return Licence(**{**fields, "redistribution": Redistribution(fields["redistribution"])})
