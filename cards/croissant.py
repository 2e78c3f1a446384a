"""`croissant.json` of a built folder (MLCommons' Croissant 1.x): written by mlcroissant, compared without it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hannun.builders.folder import CROISSANT, SUBSTITUTIONS
from hannun.builders.head import Stale
from hannun.builders.layout import IMAGES
from hannun.builders.tables import table_files
from hannun.cards.facts import CardFacts
from hannun.reconstruct.plan_folder import LOCK, RECIPE
from hannun.schemas import json_schema
from hannun.schemas.digest import IDENTITY, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.strict_json import dumps, load
from hannun.schemas.text_file import write_whole

if TYPE_CHECKING:
    import mlcroissant

_PARQUET = "application/x-parquet"
_FORMATS = {".parquet": _PARQUET, ".json": "application/json", ".jsonl": "application/jsonlines"}
_SCALARS = {"string": "TEXT", "int64": "INTEGER", "float64": "FLOAT", "bool": "BOOL"}
"""Names of mlcroissant's data types."""


def is_installed() -> bool:
    """Whether mlcroissant, the extra `croissant`, is here."""
    return importlib.util.find_spec("mlcroissant") is not None


def write_croissant(folder: Path, facts: CardFacts) -> None:
    """Write `croissant.json`: every file with its digest, a record set for each config, pictures as pictures.

    Raises
    ------
    InputError
        mlcroissant is not installed.
    """
    if not is_installed():
        raise InputError("croissant.json needs mlcroissant", todo="pip install 'hannun[croissant]'")
    write_whole(folder / CROISSANT, (dumps(_metadata(folder, facts).to_json()) + "\n").encode())


def stale_croissant(folder: Path, facts: CardFacts, *, demanded: bool = False) -> Iterator[Stale]:
    """Where `croissant.json` says otherwise than the folder; where there is none that is said if it is demanded.

    Every file is hashed: this takes as long as reading the folder.
    """
    path = folder / CROISSANT
    if not path.is_file():
        if demanded:
            yield Stale(CROISSANT, "not there", "demanded")
        return
    try:
        document = load(path)
        said, configs = _files(document), {each["@id"] for each in document["recordSet"]}
    except (InputError, KeyError, TypeError) as error:
        yield Stale(CROISSANT, str(error).partition("\n")[0], "what hannun card writes")
        return
    due = {name: digests_of_file(folder / name, [IDENTITY])[IDENTITY] for name in _described(folder, facts)}
    for name in sorted(said.keys() | due.keys()):
        if said.get(name) != due.get(name):
            yield Stale(f"{CROISSANT}: {name}", said.get(name, "not listed"), due.get(name, "not there"))
    for name in sorted(configs ^ facts.tables.sizes.keys()):
        there = ("listed", "has no tables") if name in configs else ("not listed", "there")
        yield Stale(f"{CROISSANT}: config {name}", *there)


def _files(document: Any) -> dict[str, str]:
    return {each["contentUrl"]: each["sha256"] for each in document["distribution"] if each["@type"] == "cr:FileObject"}


def _described(folder: Path, facts: CardFacts) -> list[str]:
    """The files of a build but for those that are made for people, below the folder."""
    others = [name for name in (RECIPE, facts.benchmark.rows_file, LOCK, SUBSTITUTIONS) if (folder / name).is_file()]
    return [*others, *(path.relative_to(folder).as_posix() for _, _, path in table_files(folder))]


def _metadata(folder: Path, facts: CardFacts) -> mlcroissant.Metadata:
    import mlcroissant as mlc

    benchmark = facts.benchmark
    licences = {each.url or each.spdx or each.name: None for each in benchmark.text_licences.values()}
    for entry in facts.lock:
        named = entry.licence or {}
        licences |= {named.get("url") or named.get("spdx") or named.get("name") or "unknown": None}
    files = [
        mlc.FileObject(
            id=name,
            name=name,
            content_url=name,
            encoding_formats=[_FORMATS[Path(name).suffix]],
            sha256=digests_of_file(folder / name, [IDENTITY])[IDENTITY],
        )
        for name in _described(folder, facts)
    ]
    tables = {
        config: [path.relative_to(folder).as_posix() for name, _, path in table_files(folder) if name == config]
        for config in facts.tables.sizes
    }
    several = [
        mlc.FileSet(
            id=_set_of(config), name=_set_of(config), encoding_formats=[_PARQUET], includes=[f"{config}/*.parquet"]
        )
        for config, names in tables.items()
        for key in [_set_of(config)]
        if len(names) > 1
    ]
    return mlc.Metadata(
        name=benchmark.name,
        description=benchmark.summary,
        license=list(licences),
        url=benchmark.homepage,
        version=f"{facts.recipe['version']}.0.0",
        cite_as=benchmark.citation.strip(),
        in_language=list(benchmark.languages),
        keywords=list(benchmark.card.tags),
        distribution=[*files, *several],
        record_sets=[_record_set(facts, config, names) for config, names in tables.items()],
    )


def _set_of(config: str) -> str:
    return f"{config}-tables"


def _record_set(facts: CardFacts, config: str, names: list[str]) -> mlcroissant.RecordSet:
    import mlcroissant as mlc

    # mlcroissant checks the digest of one file that it reads, not those of a set.
    container = {"file_object": names[0]} if len(names) == 1 else {"file_set": _set_of(config)}

    records = {each.name: (each.description, each.record or facts.benchmark.record) for each in facts.benchmark.configs}
    description, record = records.get(config, (f"the config {config}", "image" if config == IMAGES else None))
    meanings = json_schema.merged_properties(record) if record else {}
    fields = [
        _field(_Column(config, column, container), feature, meanings.get(column, {}).get("description"))
        for column, feature in facts.tables.features[config].items()
    ]
    return mlc.RecordSet(id=config, name=config, description=description, fields=fields)


@dataclass(frozen=True)
class _Column:
    """A column of a config's tables, and what holds these."""

    config: str
    name: str
    container: Mapping[str, str]

    @property
    def key(self) -> str:
        return f"{self.config}/{self.name}"

    def source(self, member: str | None) -> mlcroissant.Source:
        """The column, or a member of what its cells hold."""
        import mlcroissant as mlc

        transforms = [] if member is None else [mlc.Transform(json_path=member)]
        return mlc.Source(**self.container, extract=mlc.Extract(column=self.name), transforms=transforms)


def _field(column: _Column, feature: Any, description: str | None) -> mlcroissant.Field:
    """A column; of a struct, or a list of structs, with a field for each of its own."""
    import mlcroissant as mlc

    repeated = isinstance(feature, list)
    inner: Mapping[str, Any] = feature[0] if isinstance(feature, list) else feature
    more = {"id": column.key, "name": column.name, "description": description, "repeated": repeated}
    if "_type" not in inner:
        fields = [
            mlc.Field(id=f"{column.key}/{name}", name=name, data_types=[_data_type(each)], source=column.source(name))
            for name, each in inner.items()
        ]
        return mlc.Field(**more, sub_fields=fields)
    # The cell of a picture holds its bytes beside its name.
    source = column.source("bytes" if inner["_type"] == "Image" else None)
    return mlc.Field(**more, data_types=[_data_type(inner)], source=source)


def _data_type(feature: Mapping[str, Any]) -> Any:
    import mlcroissant as mlc

    return (
        mlc.DataType.IMAGE_OBJECT if feature["_type"] == "Image" else getattr(mlc.DataType, _SCALARS[feature["dtype"]])
    )
