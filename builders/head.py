"""The front matter of a built folder's README.md, and how a card's compares with the tables that it stands beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hannun.builders.features import readme_features
from hannun.builders.layout import IMAGES
from hannun.builders.tables import SplitSize, Tables
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry

_SIZES = {
    "n<1K": 10**3,
    "1K<n<10K": 10**4,
    "10K<n<100K": 10**5,
    "100K<n<1M": 10**6,
    "1M<n<10M": 10**7,
}
"""The Hub's size categories of data sets of up to ten million rows, each with its end."""

_HUB_LICENCES = frozenset(
    (
        "apache-2.0", "mit", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0",
        "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0",
        "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0",
    )
)  # fmt: skip
"""The Hub's licence identifiers that our data may have (huggingface.co/docs/hub/repositories-licenses); its check of
cards refuses others, which are `other`."""


_PLAIN_KEYS = ("pretty_name", "language", "license", "task_categories", "size_categories", "tags", "arxiv")
GENERATED = frozenset((*_PLAIN_KEYS, "configs", "dataset_info"))
"""Keys of the front matter that come from the folder; others are its owner's."""


class Part(StrEnum):
    """What a stale part is of: counts of rows or bytes, what else `datasets` loads by, or what people read."""

    ROWS = "rows"
    BYTES = "bytes"
    LOADING = "loading"
    SHOWN = "shown"


@dataclass(frozen=True)
class Stale:
    """Something that a card says otherwise than its folder."""

    what: str
    card: str
    folder: str
    part: Part = Part.SHOWN


def front_matter(benchmark: Benchmark, tables: Tables, lock: Iterable[LockEntry]) -> dict[str, Any]:
    """The YAML head of README.md: what `datasets` needs to load the folder, and what the Hub shows.

    Parameters
    ----------
    lock
        The images that the folder holds; their licences are named beside the text's.
    """
    licences = {each.spdx for each in benchmark.text_licences.values()}
    licences |= {(entry.licence or {}).get("spdx") for entry in lock}
    rows = sum(size.rows for config, splits in tables.sizes.items() if config != IMAGES for size in splits.values())
    return {
        "pretty_name": benchmark.title,
        "language": list(benchmark.languages),
        "license": sorted({_hub_licence(spdx) for spdx in licences}),
        "task_categories": list(benchmark.card.task_categories),
        "size_categories": [next((name for name, end in _SIZES.items() if rows < end), "10M<n<100M")],
        "tags": [*benchmark.card.tags, "hannun"],
        **({"arxiv": list(benchmark.card.arxiv)} if benchmark.card.arxiv else {}),
        "configs": [
            {
                "config_name": config,
                "data_files": [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits],
                **({"default": True} if place == 0 else {}),
            }
            for place, (config, splits) in enumerate(tables.sizes.items())
        ],
        "dataset_info": [
            {
                "config_name": config,
                "features": readme_features(tables.features[config]),
                "splits": [_split_info(split, size) for split, size in splits.items()],
            }
            for config, splits in tables.sizes.items()
        ],
    }


def readme(head: Mapping[str, Any], body: str) -> str:
    """README.md from its front matter and its body (Markdown)."""
    import yaml

    return f"---\n{yaml.safe_dump(dict(head), allow_unicode=True, sort_keys=False, width=1000)}---\n\n{body}"


def read_head(text: str, where: str) -> tuple[dict[str, Any], str]:
    """The front matter of a README.md, and the Markdown below it.

    Raises
    ------
    InputError
        There is none, or it is no YAML mapping.
    """
    import yaml

    parts = text.split("---\n", 2)
    try:
        head = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
    except yaml.YAMLError as error:
        head = str(error).partition("\n")[0]
    if not isinstance(head, dict):
        raise InputError(
            "the front matter cannot be read",
            where=where,
            expected="YAML between two lines of ---",
            got=head or "none",
            todo="write the card anew: hannun card DIR",
        )
    return head, parts[2].removeprefix("\n")


def stale_head(card: Mapping[str, Any], due: Mapping[str, Any]) -> Iterator[Stale]:
    """What a card's front matter says otherwise than is due; keys that are not generated are the owner's.

    Parameters
    ----------
    card
        The front matter as it is read; anything may stand in it.
    due
        What `front_matter` gives.
    """
    for key in _PLAIN_KEYS:
        if card.get(key) != due.get(key):
            yield Stale(key, _shown(card.get(key)), _shown(due.get(key)))
    yield from _stale_configs(_by_name(card.get("configs")), _by_name(due["configs"]))
    yield from _stale_infos(_by_name(card.get("dataset_info")), _by_name(due["dataset_info"]))


def _stale_configs(card: Mapping[str, Any], due: Mapping[str, Any]) -> Iterator[Stale]:
    for name in due.keys() - card.keys():
        yield Stale(f"config {name}", "not listed", "there", Part.LOADING)
    for name in card.keys() - due.keys():
        yield Stale(f"config {name}", "listed", "has no tables", Part.LOADING)
    if list(card) != list(due) and card.keys() == due.keys():
        yield Stale("order of configs", ", ".join(card), ", ".join(due))
    for name in due.keys() & card.keys():
        if bool(card[name].get("default")) != bool(due[name].get("default")):
            default = next((each for each in due if due[each].get("default")), None)
            yield Stale(f"default of config {name}", _shown(card[name].get("default")), f"the default is {default}")
        if card[name].get("data_files") != due[name]["data_files"]:
            both = _shown(card[name].get("data_files")), _shown(due[name]["data_files"])
            yield Stale(f"data_files of config {name}", *both, Part.LOADING)


def _stale_infos(card: Mapping[str, Any], due: Mapping[str, Any]) -> Iterator[Stale]:
    for name, info in due.items():
        said = card.get(name)
        if said is None:
            yield Stale(
                f"dataset_info of config {name}", "not there", "features and splits of its tables", Part.LOADING
            )
            continue
        if said.get("features") != info["features"]:
            yield Stale(f"features of config {name}", *_differing(said.get("features"), info["features"]), Part.LOADING)
        splits = {each["name"]: each for each in info["splits"]}
        said_splits = {str(each["name"]): each for each in said.get("splits") or () if "name" in each}
        for split in [*splits, *sorted(said_splits.keys() - splits.keys())]:
            ours, theirs = splits.get(split), said_splits.get(split)
            if ours is None or theirs is None:
                there = ["not there" if each is None else "there" for each in (theirs, ours)]
                yield Stale(f"split {name}/{split}", there[0], there[1], Part.LOADING)
                continue
            for key, part in (("num_examples", Part.ROWS), ("num_bytes", Part.BYTES)):
                if theirs.get(key) != ours[key]:
                    yield Stale(f"{part} of {name}/{split}", _shown(theirs.get(key)), _shown(ours[key]), part)
    for name in card.keys() - due.keys():
        yield Stale(f"dataset_info of config {name}", "there", "no tables", Part.LOADING)


def _by_name(value: Any) -> dict[str, Any]:
    entries = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    return {str(each.get("config_name", "default")): each for each in entries if isinstance(each, dict)}


def _differing(card: Any, due: list[dict[str, Any]]) -> tuple[str, str]:
    """The columns in which two lists of features differ, as each has them."""
    said = {each.get("name"): each for each in card or () if isinstance(each, dict)}
    ours = {each["name"]: each for each in due}
    differing = [name for name in {**ours, **said} if said.get(name) != ours.get(name)]
    if not differing:
        return ", ".join(map(str, said)), ", ".join(ours)
    one, other = ([_shown(each[name]) for name in differing if name in each] for each in (said, ours))
    return "; ".join(one) or "not there", "; ".join(other) or "not there"


def _shown(value: Any) -> str:
    if value is None:
        return "not there"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value) or "none"
    text = f"{value:,}" if type(value) is int else str(value)
    return text if len(text) <= 300 else text[:299] + "…"


def _split_info(name: str, size: SplitSize) -> dict[str, Any]:
    return {"name": name, "num_bytes": size.bytes, "num_examples": size.rows}


def _hub_licence(spdx: str | None) -> str:
    known = (spdx or "").lower()
    return known if known in _HUB_LICENCES else "other"
