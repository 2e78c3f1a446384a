"""Checks of a folder against its own card: configs, files, counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from hannun.builders.head import Part, front_matter, stale_head
from hannun.builders.tables import Tables, read_tables
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.lock import LockEntry
from hannun.schemas.text_file import lines_of, read_text
from hannun.validate.finding import Finding, Place, finding

_PLACE = Place("README.md")


def card_of(folder: Path) -> dict[str, Any] | Finding:
    """The front matter of a folder's README.md, or why there is none."""
    import yaml

    path = folder / "README.md"
    if not path.is_file():
        return finding("no-card", _PLACE, "no README.md: load_dataset would guess")
    try:
        text = "\n".join(lines_of(read_text(path).text)) + "\n"
        head = yaml.safe_load(text.split("---\n", 2)[1]) if text.startswith("---\n") else None
    except (InputError, yaml.YAMLError, IndexError) as error:
        return finding("no-card", _PLACE, "the front matter cannot be read", found=str(error).splitlines()[0])
    if head is None:
        return finding("no-card", _PLACE, "no front matter")
    broken = problems("card", head)
    if broken:
        return finding("no-card", _PLACE, "load_dataset cannot read the front matter", found=": ".join(broken[0]))
    card: dict[str, Any] = head
    return card


def data_files(folder: Path, card: Mapping[str, Any]) -> Iterator[tuple[str, str, Path] | Finding]:
    """Config, split and path of every file that the card names; findings where a pattern finds none."""
    for config in card["configs"]:
        for split, pattern in _patterns(config["data_files"]):
            found = sorted(folder.glob(pattern))
            if not found:
                yield finding("missing-file", _PLACE, f"no file for {config['config_name']}/{split}", expected=pattern)
            for path in found:
                yield config["config_name"], split, path


def _patterns(named: Any) -> Iterator[tuple[str, str]]:
    """Split and pattern in each form of `data_files`; one without a split is `train`, as `datasets` takes it."""
    for each in [named] if isinstance(named, str) else named:
        if isinstance(each, str):
            yield "train", each
        else:
            for path in [each["path"]] if isinstance(each["path"], str) else each["path"]:
                yield each["split"], path


def check_head(
    folder: Path, benchmark: Benchmark, card: Mapping[str, Any], lock: Collection[LockEntry]
) -> Iterator[Finding]:
    """Findings where the front matter is not the folder's; rows are counted by `check_counts`, bytes load nothing.

    The body of the card is compared by `hannun card --check`.
    """
    try:
        tables = read_tables(folder, benchmark)
    except InputError:
        tables = Tables({}, {})
    if not lock or {config["config_name"] for config in card["configs"]} - tables.sizes.keys():
        # A lock or tables that are missing or cannot be read have findings of their own.
        return
    rules = {Part.LOADING: "card-loading", Part.SHOWN: "card-stale"}
    for stale in stale_head(card, front_matter(benchmark, tables, lock)):
        if stale.part in rules:
            message = f"another {stale.what} than the folder's"
            yield finding(rules[stale.part], _PLACE, message, expected=stale.folder, found=stale.card)


def check_counts(card: Mapping[str, Any], counts: Mapping[tuple[str, str], int]) -> Iterator[Finding]:
    """Findings where the card's counts are not those of the files; load_dataset refuses such a folder."""
    infos = card.get("dataset_info", [])
    for info in [infos] if isinstance(infos, dict) else infos:
        config = info.get("config_name", "default")
        for split in info.get("splits", ()):
            got = counts.get((config, split["name"]), 0)
            if got != split["num_examples"]:
                yield finding(
                    "card-counts",
                    Place("README.md", config, split["name"]),
                    f"{config}/{split['name']} has another number of rows than the card says",
                    expected=f"{split['num_examples']:,} (card)",
                    found=f"{got:,} (files)",
                )
