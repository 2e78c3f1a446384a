"""The pipeline: plan, fetch, verify, resolve, build. Each step takes what the one before wrote."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hannun.builders.built import built_pictures
from hannun.builders.folder import README, front_matter, readme, staged, write_splits
from hannun.builders.pictures import Pictures
from hannun.cards.annotation import annotation_page
from hannun.cards.card import card_body
from hannun.cards.gallery import gallery, thumbnail
from hannun.evaluation.agreement import Agreement, agreements
from hannun.evaluation.form import COLUMNS, form_csv, item_of, questions, read_form
from hannun.reconstruct.fetch import Settings, fetch, todo
from hannun.reconstruct.journal import Journal
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.picture import PictureProblem, examine
from hannun.reconstruct.plan_folder import LOCK, OBSERVED, RECIPE, ROWS, PlanFolder, read_lock, write_plan
from hannun.reconstruct.recipes import completed_options, recipe_module
from hannun.reconstruct.report import make_report, markdown
from hannun.reconstruct.resolve import Policy, Resolution, resolve
from hannun.reconstruct.source import open_sources
from hannun.reconstruct.store import Store
from hannun.reconstruct.verify import Verified, completed, present_images, verify
from hannun.schemas import catalogue
from hannun.schemas.digest import IDENTITY
from hannun.schemas.errors import HannunError, IncompleteError, InputError, MissingImagesError
from hannun.schemas.instance import Instance, config_of
from hannun.schemas.instant import now
from hannun.schemas.invariants import set_violations, violations
from hannun.schemas.lock import LockEntry, filled, merged
from hannun.schemas.observation import Observation, by_image
from hannun.schemas.outcome import Again, Outcome, is_accepted
from hannun.schemas.plan import Planned, Recipe
from hannun.schemas.strict_json import dump_lines, dumps
from hannun.schemas.text_file import write_whole
from hannun.schemas.version import version

PLAN = "plan"
SUBSTITUTIONS = "substitutions.jsonl"


@dataclass(frozen=True)
class PlanRequest:
    """What to plan. `sources` are the user's own files, `options` are `--set KEY=VALUE`."""

    name: str
    sources: Mapping[str, Path] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    lock: Path | None = None


@dataclass(frozen=True)
class State:
    """A plan and what is known of its images now."""

    benchmark: catalogue.Benchmark
    recipe: dict[str, Any]
    rows: list[Instance]
    lock: list[LockEntry]
    observed: dict[str, list[Observation]]
    verified: dict[str, Verified]
    policy: Policy

    @cached_property
    def seen(self) -> dict[str, Observation]:
        """Image id -> the observation that counts, for images whose stored file is whole."""
        return present_images(self.observed, self.verified)

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome of each image of the lock, in its order."""
        seen = self.seen
        return [seen[e.image_id].outcome if e.image_id in seen else Outcome.PENDING for e in self.lock]

    @property
    def accepted(self) -> int:
        """Number of images that may be built."""
        return sum(
            is_accepted(each.outcome, accept=self.policy.accept, locked=self.policy.locked)
            for each in self.seen.values()
        )

    @property
    def may_still_come(self) -> int:
        """Number of images that running again may bring."""
        seen = self.seen
        return sum(
            1
            for entry in self.lock
            if entry.image_id not in seen or seen[entry.image_id].outcome.again in (Again.YES, Again.LATER)
        )


@dataclass(frozen=True)
class Build:
    """What was built: config -> split -> rows."""

    folder: Path
    rows: dict[str, dict[str, int]]
    resolution: Resolution


@dataclass(frozen=True)
class Held:
    """A folder that holds rows: a build with its own pictures, or a plan whose pictures are in the store."""

    folder: Path
    plan: PlanFolder
    is_build: bool

    @classmethod
    def at(cls, folder: Path) -> Held:
        """The build or plan in a folder; InputError when there is neither."""
        is_build = (folder / README).is_file() and (folder / RECIPE).is_file()
        return cls(folder, PlanFolder(folder) if is_build else PlanFolder.at(folder), is_build)

    @cached_property
    def recipe(self) -> dict[str, Any]:
        return self.plan.recipe()

    @property
    def benchmark(self) -> catalogue.Benchmark:
        return catalogue.benchmark(self.recipe["benchmark"])

    def thumbnails(self, rows: Iterable[Instance], store: Store) -> dict[str, str]:
        """Image id -> a `data:` address, for the rows' candidates whose pictures are there and decode."""
        wanted = {candidate.image_id for row in rows for candidate in row.candidates}
        return {
            image_id: thumbnail(data)
            for image_id, data in self._pictures(store)
            if image_id in wanted and not isinstance(examine(data), PictureProblem)
        }

    def _pictures(self, store: Store) -> Iterator[tuple[str, bytes]]:
        if self.is_build:
            yield from built_pictures(self.folder)
            return
        for image_id, seen in state_of(self.plan, store, Policy(), fast=True).seen.items():
            yield image_id, store.path(seen.digests[IDENTITY], seen.format).read_bytes()


def make_plan(request: PlanRequest, out: Path) -> tuple[Planned, bool]:
    """Write a plan folder; False beside the plan when `out` held this very plan already."""
    benchmark = catalogue.benchmark(request.name)
    module = recipe_module(benchmark.recipe)
    options = completed_options(module, request.options)
    sources = open_sources(benchmark.sources_with(options), request.sources)
    planned = module.plan(benchmark, sources, options)
    _refuse_broken(benchmark, planned)
    if request.lock is not None:
        shared = {entry.image_id: entry for entry in read_lock(request.lock)}
        planned = replace(planned, images=tuple(merged(planned.images, shared)))
    recipe = Recipe(
        benchmark=benchmark.name,
        recipe=benchmark.recipe,
        version=module.VERSION,
        options={name: value for name, value in options.items() if name != "seed"},
        seed=int(options["seed"]),
        sources={name: source.digest for name, source in sources.items()},
    )
    return planned, write_plan(out, recipe, planned)


def fetch_images(
    plan: PlanFolder, store: Store, settings: Settings, *, limit: int | None = None, retry: bool = False
) -> tuple[int, Iterator[Observation]]:
    """Get what is missing; the number of images to work on, and every attempt as it is recorded."""
    lock = plan.lock()
    open_entries = todo(lock, by_image(plan.observations()), store, fast=settings.fast, retry=retry)[:limit]
    return len(open_entries), _recorded(plan, open_entries, store, settings)


def state_of(plan: PlanFolder, store: Store, policy: Policy, *, fast: bool = False) -> State:
    """Read a plan and re-check its images in the store."""
    recipe = plan.recipe()
    observed = by_image(plan.observations())
    lock = plan.lock()
    checked = {entry.image_id: verify(entry, observed.get(entry.image_id, []), store, fast=fast) for entry in lock}
    return State(catalogue.benchmark(recipe["benchmark"]), recipe, plan.rows(), lock, observed, checked, policy)


def report_of(state: State) -> dict[str, Any]:
    """The report of a plan's present state."""
    resolution = resolve(state.rows, state.seen, state.policy)
    return make_report(
        tool=f"hannun {version()}",
        benchmark=state.benchmark.name,
        made=now(),
        rows=state.rows,
        lock=state.lock,
        observed=state.observed,
        seen=state.seen,
        accepted=state.accepted,
        resolution=resolution,
    )


def write_report(plan: PlanFolder, report: Mapping[str, Any]) -> list[Path]:
    """report.json and report.md into the plan folder; the paths written."""
    texts = {"report.json": dumps(report) + "\n", "report.md": markdown(report)}
    for name, text in texts.items():
        write_whole(plan.folder / name, text.encode())
    return [plan.folder / name for name in texts]


def complete_lock(state: State, store: Store, *, replace: Iterable[str] = ()) -> list[LockEntry]:
    """The plan's lock with its nulls filled from what was observed.

    Raises
    ------
    InputError
        `replace` names an image that the plan does not have.
    """
    replaced = set(replace)
    unknown = sorted(replaced - {entry.image_id for entry in state.lock})
    if unknown:
        raise InputError("no such image in the lock", got=unknown[0], todo="correct --replace")
    accepted = frozenset({Outcome.EXACT, Outcome.UNVERIFIED}) | state.policy.accept
    return [
        completed(
            entry,
            state.observed.get(entry.image_id, []),
            store,
            accepted=accepted,
            overwrite=entry.image_id in replaced,
        )
        for entry in state.lock
    ]


def build(state: State, store: Store, out: Path) -> Build:
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
    project = importlib.import_module(f"hannun.builders.{state.benchmark.name}").project

    def records(config: str, split: str) -> Iterator[Mapping[str, Any]]:
        for row in resolution.rows:
            if config_of(row.id) == config and row.split == split:
                yield project(row, pictures)

    lock, changed_bytes = _built_lock(state, resolution, store)
    with staged(out) as staging:
        sizes = write_splits(staging, state.benchmark, records)
        (staging / RECIPE).write_text(dumps(state.recipe) + "\n", encoding="utf-8")
        (staging / ROWS).write_text(dump_lines(row.to_json() for row in resolution.rows), encoding="utf-8")
        (staging / LOCK).write_text(dump_lines(entry.to_json() for entry in lock), encoding="utf-8")
        (staging / SUBSTITUTIONS).write_text(
            dump_lines([*(each.to_json() for each in resolution.substitutions), *changed_bytes]), encoding="utf-8"
        )
        body = card_body(state.benchmark, sizes, state.recipe, lock)
        (staging / README).write_text(readme(front_matter(state.benchmark, sizes, lock), body), encoding="utf-8")
    rows = {config: {split: size.rows for split, size in splits.items()} for config, splits in sizes.items()}
    return Build(out, rows, resolution)


def write_gallery(folder: Path, store: Store, out: Path | None, *, limit: int | None = None) -> Path:
    """One page of every instance of a built folder or a plan; the page's path.

    Parameters
    ----------
    store
        Where a plan's pictures lie; a build holds its own.
    out
        The file to write; `gallery.html` in the folder when None.
    limit
        Number of rows of each config that are shown.
    """
    held = Held.at(folder)
    rows = held.plan.rows()
    shown = rows if limit is None else [row for of_config in by_config(rows).values() for row in of_config[:limit]]
    page = gallery(
        held.benchmark, shown, held.plan.lock(), held.thumbnails(shown, store), held.recipe.get("baselines", {})
    )
    path = out or held.plan.folder / "gallery.html"
    write_whole(path, page.encode())
    return path


def write_forms(folder: Path, store: Store, out: Path, *, configs: Sequence[str] = (), seed: int = 1) -> list[Path]:
    """Forms for annotators, a CSV and a page of pictures for each config; the paths written.

    Raises
    ------
    InputError
        A config that the folder does not have, or a form that is there already: it may be filled.
    """
    held = Held.at(folder)
    rows = by_config(held.plan.rows())
    unknown = sorted(set(configs) - set(rows))
    if unknown:
        raise InputError(f"no config {unknown[0]!r}", where=str(folder), expected=", ".join(rows), got=unknown[0])
    lock = held.plan.lock()
    contents: dict[Path, bytes] = {}
    for config in configs or rows:
        asked = questions(rows[config], seed)
        thumbnails = held.thumbnails(rows[config], store)
        shown = [(each.number, each.item, each.sentence, each.row) for each in asked]
        page = annotation_page(held.benchmark, config, shown, COLUMNS, lock=lock, thumbnails=thumbnails)
        contents[out / f"{config}.csv"] = form_csv(asked)
        contents[out / f"{config}.html"] = page.encode()
    there = [path for path in contents if path.exists()]
    if there:
        raise InputError("a form is there already, and may be filled", where=str(there[0]), todo="choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    for path, data in contents.items():
        write_whole(path, data)
    return list(contents)


def agreement_of(folder: Path, forms: Sequence[Path]) -> list[Agreement]:
    """Agreement of filled forms with the gold and with each other, for each config that they answer."""
    rows = Held.at(folder).plan.rows()
    by_item = {item_of(row): row for row in rows}
    return agreements(rows, [read_form(path, by_item) for path in forms])


def by_config(rows: Iterable[Instance]) -> dict[str, list[Instance]]:
    """Rows by config, both in the order in which they come."""
    found: dict[str, list[Instance]] = {}
    for row in rows:
        found.setdefault(config_of(row.id), []).append(row)
    return found


def _recorded(plan: PlanFolder, entries: list[LockEntry], store: Store, settings: Settings) -> Iterator[Observation]:
    with Journal(plan.folder / OBSERVED) as journal:
        for attempt in fetch(entries, store, Ledger(store.folder / "ledger"), settings):
            journal.append(attempt.to_json())
            yield attempt


def _refuse_broken(benchmark: catalogue.Benchmark, planned: Planned) -> None:
    """A plan that breaks an invariant is a defect of its sources or recipe, and is not written."""
    if not planned.rows:
        raise InputError(
            "the sources give no row",
            expected="at least one",
            got="; ".join(sorted({drop.reason for drop in planned.dropped})) or "empty sources",
            todo="correct the sources; nothing was written",
        )
    rows = [row.to_json() for row in planned.rows]
    broken = [each for row in rows for each in violations(row)]
    broken += set_violations(rows, split_by=benchmark.split_by, share_by=benchmark.share_by)
    if broken:
        first = broken[0]
        raise HannunError(
            f"the plan would break {len(broken):,} invariants; first: {first.message}",
            where=first.row_id,
            expected=first.expected,
            got=first.found,
            todo="correct the sources; nothing was written",
        )


def _built_lock(state: State, resolution: Resolution, store: Store) -> tuple[list[LockEntry], list[dict[str, Any]]]:
    """The lock of what is really built, and where its bytes are not the planned ones."""
    used = {c.image_id for row in resolution.rows for c in row.candidates}
    accepted = frozenset({Outcome.EXACT, Outcome.UNVERIFIED}) | state.policy.accept
    entries = []
    changed = []
    for entry in state.lock:
        if entry.image_id not in used:
            continue
        seen = state.seen[entry.image_id]
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
