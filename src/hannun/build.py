"""Build: from a plan and what is known of its images to the folder that load_dataset reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hannun.builders.folder import SUBSTITUTIONS, staged, write_splits
from hannun.builders.layout import IMAGES, IMAGES_SPLIT, Layout, table_features
from hannun.builders.pictures import Pictures, image_record, project
from hannun.cards.card_file import own_parts, write_card
from hannun.cards.croissant import is_installed, write_croissant
from hannun.cards.facts import read_facts
from hannun.pipeline import State
from hannun.reconstruct.plan_folder import LOCK, RECIPE
from hannun.reconstruct.resolve import Resolution, resolve
from hannun.reconstruct.store import Store
from hannun.reconstruct.verify import completed
from hannun.schemas.errors import IncompleteError, MissingImagesError
from hannun.schemas.instance import config_of
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.outcome import Outcome
from hannun.schemas.strict_json import dump_lines, dumps


@dataclass(frozen=True)
class Build:
    """What was built: config -> split -> rows."""

    folder: Path
    rows: dict[str, dict[str, int]]
    resolution: Resolution


def build(state: State, store: Store, out: Path, layout: Layout = Layout.EMBEDDED) -> Build:
    """Write the folder that load_dataset reads.

    Raises
    ------
    MissingImagesError
        Images are missing and the policy is to fail, or nothing at all can be built.
    IncompleteError
        The same, and running again may bring them.
    """
    resolution = resolve(state.rows, state.seen, state.policy)
    if resolution.dropped and (state.policy.on_missing == "fail" or not resolution.rows):
        first = resolution.dropped[0]
        missing = IncompleteError if state.may_still_come else MissingImagesError
        raise missing(
            f"{len(resolution.dropped):,} of {len(state.rows):,} rows lack images; nothing was built",
            where=first.id,
            got=first.reason,
            todo="run fetch again, or see `sage-reconstruct report DIR`",
        )
    pictures = Pictures(store, state.seen)
    lock, changed_bytes = _built_lock(state, resolution, store)
    features = table_features(state.benchmark, layout)
    splits = {config.name: config.splits for config in state.benchmark.configs}
    if layout is Layout.BY_ID:
        splits[IMAGES] = (IMAGES_SPLIT,)

    def records(config: str, split: str) -> Iterator[Mapping[str, Any]]:
        if config == IMAGES:
            for entry in lock:
                if entry.image_id in state.seen and state.accepts(state.seen[entry.image_id]):
                    yield image_record(entry, pictures.cell(entry.image_id))
        for row in resolution.rows:
            if config_of(row.id) == config and row.split == split:
                yield project(row, pictures, features[config])

    with staged(out) as staging:
        sizes = write_splits(staging, splits, features, records)
        (staging / RECIPE).write_text(dumps(state.recipe) + "\n", encoding="utf-8")
        (staging / state.benchmark.rows_file).write_text(
            dump_lines(row.to_json() for row in resolution.rows), encoding="utf-8"
        )
        (staging / LOCK).write_text(dump_lines(entry.to_json() for entry in lock), encoding="utf-8")
        (staging / SUBSTITUTIONS).write_text(
            dump_lines([*(each.to_json() for each in resolution.substitutions), *changed_bytes]), encoding="utf-8"
        )
        facts = read_facts(staging)
        write_card(staging, facts, own_parts(out))
        if is_installed():
            write_croissant(staging, facts)
    rows = {config: {split: size.rows for split, size in splits.items()} for config, splits in sizes.items()}
    return Build(out, rows, resolution)


def _built_lock(state: State, resolution: Resolution, store: Store) -> tuple[list[LockEntry], list[dict[str, Any]]]:
    """The lock of what is really built, and where its bytes are not the planned ones."""
    accepted = frozenset({Outcome.EXACT, Outcome.UNVERIFIED}) | state.policy.accept
    used = {image_id for row in resolution.rows for image_id in row.shown}
    described = {row.described for row in resolution.rows} - used
    entries = []
    changed = []
    for entry in state.lock:
        if entry.image_id not in used | described:
            continue
        seen = state.seen.get(entry.image_id)
        if seen is None or not state.accepts(seen):
            # A described picture need not be there.
            entries.append(entry)
            continue
        other = seen.outcome not in (Outcome.EXACT, Outcome.UNVERIFIED)
        entries.append(
            completed(entry, state.observed[entry.image_id], store, accepted=accepted)
            if not other
            else filled(
                LockEntry(entry.image_id, entry.locations, licence=entry.licence, attribution=entry.attribution),
                seen.to_json(),
            )
        )
        if other:
            changed.append(
                {
                    "what": "bytes",
                    "image_id": entry.image_id,
                    "outcome": seen.outcome.value,
                    "planned": dict(entry.digests),
                    "built": dict(seen.digests),
                }
            )
    return entries, changed
