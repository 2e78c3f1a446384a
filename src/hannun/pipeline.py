"""The pipeline: plan, fetch, verify, report. Each step takes what the one before wrote; `build` takes it on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from hannun.licences import ask_licences, with_published
from hannun.reconstruct import commons
from hannun.reconstruct.download import download, downloaded
from hannun.reconstruct.fetch import fetch
from hannun.reconstruct.journal import Journal
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.placeholder import placeholders
from hannun.reconstruct.plan_folder import OBSERVED, PlanFolder, read_lock, write_plan
from hannun.reconstruct.recipes import completed_options, recipe_module
from hannun.reconstruct.recorder import Recorder
from hannun.reconstruct.report import make_report, markdown
from hannun.reconstruct.resolve import Policy, resolve
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.source import open_sources
from hannun.reconstruct.store import Store
from hannun.reconstruct.survey import Shard, Survey, survey
from hannun.reconstruct.transfer import Reach
from hannun.reconstruct.verify import Verified, completed, present_images, verify
from hannun.schemas import catalogue
from hannun.schemas.errors import HannunError, InputError
from hannun.schemas.instant import now
from hannun.schemas.invariants import set_violations, violations
from hannun.schemas.lock import LockEntry, filled, merged
from hannun.schemas.observation import Observation, best_observation, by_image
from hannun.schemas.outcome import Again, Outcome, best, is_accepted
from hannun.schemas.plan import Planned, Recipe
from hannun.schemas.row import Row
from hannun.schemas.strict_json import dumps
from hannun.schemas.text_file import write_whole
from hannun.schemas.version import version

PLAN = "plan"


@dataclass(frozen=True)
class PlanRequest:
    """What to plan.

    `sources` are the user's own files, `options` are `--set KEY=VALUE`, `revision` is that of sources on the Hub.
    """

    name: str
    sources: Mapping[str, Path] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    lock: Path | None = None
    reach: Reach = field(default_factory=Reach)
    revision: str | None = None


@dataclass(frozen=True)
class State:
    """A plan and what is known of its images now."""

    benchmark: catalogue.Benchmark
    recipe: dict[str, Any]
    rows: list[Row]
    lock: list[LockEntry]
    observed: dict[str, list[Observation]]
    verified: dict[str, Verified]
    policy: Policy

    @cached_property
    def seen(self) -> dict[str, Observation]:
        """Image id -> the observation that counts, for images whose stored file is whole.

        Where the bytes are the locked ones, with what the lock knows of their looks.
        """
        locked = {entry.image_id: entry for entry in self.lock}
        return {
            image_id: replace(
                seen,
                pixels=seen.pixels or locked[image_id].pixels,
                likeness=seen.likeness or locked[image_id].likeness,
            )
            if seen.outcome is Outcome.EXACT
            else seen
            for image_id, seen in present_images(self.observed, self.verified).items()
        }

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome of each image of the lock, in its order."""
        seen = self.seen
        return [seen[e.image_id].outcome if e.image_id in seen else Outcome.PENDING for e in self.lock]

    @property
    def accepted(self) -> int:
        """Number of images that may be built."""
        return sum(map(self.accepts, self.seen.values()))

    def accepts(self, seen: Observation) -> bool:
        """Whether what was observed may be built."""
        return is_accepted(seen.outcome, accept=self.policy.accept, locked=self.policy.locked)

    @property
    def may_still_come(self) -> int:
        """Number of images that running again may bring."""
        seen = self.seen
        return sum(
            1
            for entry in self.lock
            if entry.image_id not in seen or seen[entry.image_id].outcome.again in (Again.YES, Again.LATER)
        )


def make_plan(request: PlanRequest, out: Path) -> tuple[Planned, bool]:
    """Write a plan folder; False beside the plan when `out` held this very plan already."""
    benchmark = catalogue.benchmark(request.name)
    module = recipe_module(benchmark.recipe)
    options = completed_options(module, request.options)
    sources = open_sources(
        benchmark.sources_with(options),
        _for_plan(benchmark, request.sources),
        lambda entry: downloaded(entry, request.reach, request.revision),
    )
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
        revisions={name: source.revision for name, source in sources.items() if source.revision},
    )
    return planned, write_plan(out, recipe, planned, benchmark.rows_file)


def _for_plan(benchmark: catalogue.Benchmark, given: Mapping[str, Path]) -> dict[str, Path]:
    """The user's files without those that fetch reads."""
    held = {name for name, entry in benchmark.sources.items() if entry.holds == "images"}
    return {name: path for name, path in given.items() if name not in held}


@dataclass
class FetchRun:
    """A run of fetch as it goes: `total` images to work on, and (host, outcome) -> images of the plan so far."""

    total: int
    outcomes: Counter[tuple[str, Outcome]]
    attempts: Iterator[Observation]


def fetch_images(
    plan: PlanFolder,
    store: Store,
    settings: Settings,
    *,
    limit: int | None = None,
    retry: bool = False,
    shard: Shard | None = None,
) -> FetchRun:
    """Get what is missing. Every attempt is recorded before it is given on; `outcomes` follows."""
    recipe = plan.recipe()
    revisions = {source["name"]: source.get("revision") for source in recipe["sources"]}
    settings = replace(
        settings,
        downloads={
            entry.name: partial(download, entry, settings.reach, revisions.get(entry.name))
            for entry in catalogue.benchmark(recipe["benchmark"]).sources.values()
            if entry.holds != "rows" and entry.kind in ("download", "hub")
        },
    )
    seen = survey(plan, store, fast=settings.fast, retry=retry, limit=limit, shard=shard)
    run = FetchRun(seen.open, seen.outcomes, iter(()))
    run.attempts = _recorded(plan, seen, run, store, settings)
    return run


def state_of(plan: PlanFolder, store: Store, policy: Policy, *, fast: bool = False) -> State:
    """Read a plan and re-check its images in the store."""
    recipe = plan.recipe()
    observed = by_image(plan.observations())
    lock = list(with_published(plan.lock(), plan))
    checked = {entry.image_id: verify(entry, observed.get(entry.image_id, []), store, fast=fast) for entry in lock}
    for image_id in placeholders(_unverified(lock, observed, checked)):
        checked[image_id] = replace(checked[image_id], outcome=Outcome.PLACEHOLDER)
    return State(catalogue.benchmark(recipe["benchmark"]), recipe, plan.rows(), lock, observed, checked, policy)


def _unverified(
    lock: list[LockEntry], observed: dict[str, list[Observation]], checked: dict[str, Verified]
) -> Iterator[Observation]:
    """The attempts that count of images that no digest vouches for, each with the address that was asked."""
    for entry in lock:
        state = checked[entry.image_id]
        seen = best_observation(observed.get(entry.image_id, []))
        if seen is not None and state.problem is None and state.outcome is Outcome.UNVERIFIED:
            yield replace(seen, location=entry.locations[0]) if seen.location == "store" else seen


def fetch_licences(plan: PlanFolder, store: Store, reach: Reach) -> tuple[int, int]:
    """Ask hosts for licence and author of the images that came, as `ask_licences`; nobody where there is no contact."""
    if reach.contact is None and commons.HOST not in reach.mirrors:
        return 0, 0
    best_seen = {image_id: best_observation(each) for image_id, each in by_image(plan.observations()).items()}
    came = {image_id: seen for image_id, seen in best_seen.items() if seen and seen.outcome.again is Again.DONE}
    entries = (
        filled(entry, {"digests": came[entry.image_id].digests}) for entry in plan.lock() if entry.image_id in came
    )
    return ask_licences(plan, entries, store, reach)


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


def _recorded(plan: PlanFolder, seen: Survey, run: FetchRun, store: Store, settings: Settings) -> Iterator[Observation]:
    # Only images on their way are remembered; those that came are counted and forgotten.
    on_their_way: dict[str, tuple[str, Outcome]] = {}

    def handed_out(host: str, entries: Iterable[LockEntry]) -> Iterator[LockEntry]:
        for entry in entries:
            known = seen.known.get(entry.image_id)
            on_their_way[entry.image_id] = host, known.outcome if known else Outcome.PENDING
            yield entry

    work = {host: handed_out(host, entries) for host, entries in seen.work().items()}
    with Recorder(Journal(plan.folder / OBSERVED), store) as recorder:
        for attempt in fetch(work, store, Ledger(store.folder / "ledger"), settings):
            recorder.append(attempt.to_json())
            host, before = on_their_way.pop(attempt.image_id)
            outcome = best([before, attempt.outcome])
            run.outcomes[host, before] -= 1
            run.outcomes[host, outcome] += 1
            if not is_accepted(attempt.outcome):
                on_their_way[attempt.image_id] = host, outcome
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
