"""Checks of a folder against its own card: configs, files, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hannun.schemas.errors import InputError
from hannun.schemas.text_file import read_text
from hannun.validate.finding import Finding, Place, finding

_PLACE = Place("README.md")


def card_of(folder: Path) -> dict[str, Any] | Finding:
    """The front matter of a folder's README.md, or why there is none."""
    import yaml

    path = folder / "README.md"
    if not path.is_file():
        return finding("no-card", _PLACE, "no README.md: load_dataset would guess")
    try:
        text = read_text(path).text
        head = yaml.safe_load(text.split("---\n", 2)[1]) if text.startswith("---\n") else None
    except (InputError, yaml.YAMLError, IndexError) as error:
        return finding("no-card", _PLACE, "the front matter cannot be read", found=str(error).splitlines()[0])
    if not isinstance(head, dict) or not head.get("configs"):
        return finding("no-card", _PLACE, "no configs in the front matter")
    return head


def data_files(folder: Path, card: Mapping[str, Any]) -> Iterator[tuple[str, str, Path] | Finding]:
    """Config, split and path of every file that the card names; findings where a pattern finds none."""
    for config in card["configs"]:
        for entry in config.get("data_files") or ():
            found = sorted(folder.glob(entry["path"]))
            if not found:
                yield finding(
                    "missing-file",
                    _PLACE,
                    f"no file for {config['config_name']}/{entry['split']}",
                    expected=entry["path"],
                )
            for path in found:
                yield config["config_name"], entry["split"], path


def check_counts(card: Mapping[str, Any], counts: Mapping[tuple[str, str], int]) -> Iterator[Finding]:
    """Findings where the card's counts are not those of the files; load_dataset refuses such a folder."""
    for info in card.get("dataset_info") or ():
        for split in info.get("splits") or ():
            got = counts.get((info["config_name"], split["name"]), 0)
            if got != split["num_examples"]:
                yield finding(
                    "card-counts",
                    Place("README.md", info["config_name"], split["name"]),
                    f"{info['config_name']}/{split['name']} has another number of rows than the card says",
                    expected=f"{split['num_examples']:,} (card)",
                    found=f"{got:,} (files)",
                )
