"""The folder that is uploaded: a built folder's files, without what its licences do not let out."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.builders.built import built_pictures, table_rows
from hannun.builders.features import feature_dict
from hannun.builders.folder import CROISSANT, README, SAMPLE, SUBSTITUTIONS, write_splits
from hannun.builders.layout import IMAGE_IDS, IMAGES, IMAGES_SPLIT, without_pictures
from hannun.builders.pictures import image_record
from hannun.builders.tables import TABLE, table_files
from hannun.cards.card_file import own_parts, write_card
from hannun.cards.croissant import is_installed, write_croissant
from hannun.cards.facts import CardFacts, held_pictures, read_facts
from hannun.cards.rights import Rights, rights_of
from hannun.reconstruct.plan_folder import LOCK, RECIPE, PlanFolder
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.instance import config_of
from hannun.schemas.strict_json import dump_lines, dumps

_NO_TEXTS = frozenset(
    ("id", "index", "question_idx", "split", "candidates", "label", "spares", "image", IMAGES, IMAGE_IDS)
)
"""Columns of a row that hold none of the benchmark's texts."""


@dataclass(frozen=True)
class UploadFile:
    """A file of the build or of the upload, below its folder: whether it goes up, its bytes there, and why."""

    path: str
    goes_up: bool
    bytes: int
    why: str


def rights_in(folder: Path, facts: CardFacts, *, confirmed: bool = False) -> Rights:
    """The rights to all that a built folder's tables hold; a picture that is only in the lock is not passed on."""
    rows = PlanFolder(folder).rows() if PlanFolder(folder).rows_path.is_file() else []
    held = held_pictures(folder, facts.tables, rows)
    return rights_of(facts.benchmark, (entry for entry in facts.lock if entry.image_id in held), confirmed=confirmed)


def write_upload(folder: Path, facts: CardFacts, rights: Rights, out: Path) -> list[UploadFile]:
    """Write the folder that may be uploaded, and say of every file what becomes of it.

    Where pictures are withheld, rows name theirs by id, and a config `images` has those that may go up. Where
    texts are, their rows keep ids, candidates and labels. recipe.json and the card say so, and how to rebuild.

    Parameters
    ----------
    out
        An empty folder.
    """
    recipe = dict(facts.recipe)
    if not rights.is_whole or rights.confirmed:
        recipe["rights"] = rights.to_json()
    (out / RECIPE).write_text(dumps(recipe) + "\n", encoding="utf-8")
    for name in (LOCK, SUBSTITUTIONS):
        if (folder / name).is_file():
            _link(folder / name, out / name)
    if rights.is_whole:
        for config, _, path in table_files(folder):
            (out / config).mkdir(exist_ok=True)
            _link(path, out / config / path.name)
        _link(folder / facts.benchmark.rows_file, out / facts.benchmark.rows_file)
    else:
        _write_tables(folder, facts, rights, out)
        _write_rows(folder, facts.benchmark, rights, out)
    made = read_facts(out)
    write_card(out, made, own_parts(folder))
    if is_installed():
        write_croissant(out, made)
    return [*_going_up(out, facts.benchmark, rights), *_left_out(folder, out, rights)]


def is_ours(path: str) -> bool:
    """Whether a file of a repository is one that an earlier upload wrote and a later one may do without."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return name in (SAMPLE, CROISSANT, "instances.jsonl", "rows.jsonl")
    return "/" not in folder and TABLE.fullmatch(name) is not None


def _write_tables(folder: Path, facts: CardFacts, rights: Rights, out: Path) -> None:
    withheld = rights.withheld_images
    features: dict[str, Mapping[str, Any]] = {}
    splits: dict[str, list[str]] = {}
    for config, described in facts.tables.features.items():
        if config != IMAGES:
            columns = without_pictures(described) if withheld else described
            bare = _text_of(facts.benchmark, config) in rights.withheld_texts
            features[config] = {name: each for name, each in columns.items() if not bare or name in _NO_TEXTS}
            splits[config] = list(facts.tables.sizes[config])
    if (withheld or IMAGES in facts.tables.features) and len(withheld) < len(rights.images):
        features[IMAGES], splits[IMAGES] = feature_dict("image"), [IMAGES_SPLIT]
    entries = {entry.image_id: entry for entry in facts.lock}

    def records(config: str, split: str) -> Iterable[Mapping[str, Any]]:
        if config != IMAGES:
            return table_rows(folder, config, split, list(features[config]))
        pictures = ((each, cell) for each, cell in built_pictures(folder) if each not in withheld)
        return (image_record(entries[image_id], cell) for image_id, cell in pictures)

    write_splits(out, splits, features, records)


def _write_rows(folder: Path, benchmark: Benchmark, rights: Rights, out: Path) -> None:
    withheld = rights.withheld_texts
    rows = [row for row in PlanFolder(folder).rows() if _text_of(benchmark, config_of(row.id)) not in withheld]
    if rows:
        (out / benchmark.rows_file).write_text(dump_lines(row.to_json() for row in rows), encoding="utf-8")


def _text_of(benchmark: Benchmark, config: str) -> str:
    """The benchmark that a config's texts are of."""
    for member in benchmark.members:
        if config in {each.name for each in member.configs}:
            return member.name
    return benchmark.name


def _link(path: Path, to: Path) -> None:
    """The same file under another name; a copy where the file system has no links."""
    try:
        os.link(path, to)
    except OSError:
        shutil.copyfile(path, to)


def _going_up(out: Path, benchmark: Benchmark, rights: Rights) -> Iterator[UploadFile]:
    texts = "; ".join(right.why for right in rights.texts.values() if rights.may(right))
    may = Counter(right.why for right in rights.images.values() if rights.may(right))
    pictures = "; ".join(f"{why} ({count:,})" for why, count in may.most_common())
    vouched = " (rights confirmed by the uploader where they are not known)" if rights.confirmed else ""
    whys = {
        README: "the card: what this is, and how to rebuild it",
        RECIPE: "how it was made",
        LOCK: "addresses and digests of the pictures, not the pictures",
        SUBSTITUTIONS: "differences from the plan",
        SAMPLE: "three rows whose licences allow it",
        CROISSANT: "describes the files",
        benchmark.rows_file: f"rows without pictures; texts: {texts}{vouched}",
    }
    for path in sorted(each for each in out.rglob("*") if each.is_file()):
        name = path.relative_to(out).as_posix()
        why = whys.get(name) or _why_table(name, rights, texts, pictures) + vouched
        yield UploadFile(name, goes_up=True, bytes=path.stat().st_size, why=why)


def _why_table(name: str, rights: Rights, texts: str, pictures: str) -> str:
    if name.startswith(f"{IMAGES}/"):
        return f"pictures that may go up: {pictures}"
    said = f"texts: {texts}" if texts else "ids, candidates and labels, no texts"
    return f"rows without pictures; {said}" if rights.withheld_images else f"{said}; pictures: {pictures}"


def _left_out(folder: Path, out: Path, rights: Rights) -> Iterator[UploadFile]:
    withheld = [*rights.withheld_texts.values(), *rights.withheld_images.values()]
    kept_back = "; ".join(dict.fromkeys(right.why for right in withheld))
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = path.relative_to(folder).as_posix()
        if (out / name).is_file():
            continue
        if name.startswith("plan/"):
            why = "the plan and what fetch saw: made again from the sources"
        elif is_ours(name):
            why = f"holds what may not go up: {kept_back}" if kept_back else "not made anew"
        else:
            why = "not a part of the data set"
        yield UploadFile(name, goes_up=False, bytes=path.stat().st_size, why=why)
