"""What people look at and fill: the gallery and annotators' forms, from a build or a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from hannun.builders.built import built_pictures
from hannun.builders.folder import README
from hannun.cards.annotation import annotation_page
from hannun.cards.gallery import SIDES as INSTANCE_SIDES
from hannun.cards.gallery import gallery, shown_images
from hannun.cards.question_gallery import SIDES as QUESTION_SIDES
from hannun.cards.question_gallery import ShownPicture, question_gallery
from hannun.cards.report_page import report_page
from hannun.cards.thumbnail import remains, thumbnail
from hannun.evaluation.agreement import Agreement, agreements
from hannun.evaluation.form import COLUMNS, form_csv, item_of, questions, read_form
from hannun.pipeline import State, state_of
from hannun.reconstruct.picture import PictureProblem, channel_difference, examine
from hannun.reconstruct.plan_folder import RECIPE, PlanFolder
from hannun.reconstruct.resolve import Policy
from hannun.reconstruct.store import Store
from hannun.schemas import catalogue
from hannun.schemas.digest import IDENTITY
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance, config_of
from hannun.schemas.outcome import Outcome
from hannun.schemas.question import Question
from hannun.schemas.row import Row
from hannun.schemas.text_file import write_whole

AnyRow = TypeVar("AnyRow", bound=Row)


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

    def instances(self, purpose: str) -> list[Instance]:
        """Its rows, where all of them are instances.

        Parameters
        ----------
        purpose
            What instances are needed for, as the error says it.

        Raises
        ------
        InputError
            It holds questions.
        """
        rows = self.plan.rows()
        instances = [row for row in rows if isinstance(row, Instance)]
        if len(instances) < len(rows):
            raise InputError(
                f"{purpose} of instances only (ten pictures, one right)",
                where=str(self.folder),
                got=f"{self.recipe['benchmark']}, which asks questions about pictures",
                todo=f"look at its questions with: hannun gallery {self.folder}",
            )
        return instances

    def thumbnails(self, rows: Iterable[Instance], store: Store) -> dict[str, str]:
        """Image id -> a `data:` address, for what a page shows of the rows, where it is there and decodes."""
        wanted = {image_id for row in rows for image_id in shown_images(row)}
        side = INSTANCE_SIDES.of(len(wanted))
        return {
            image_id: thumbnail(data, side)
            for image_id, data in self._pictures(store)
            if image_id in wanted and not isinstance(examine(data), PictureProblem)
        }

    def question_pictures(self, rows: Iterable[Question], store: Store) -> dict[str, ShownPicture]:
        """Image id -> its picture, for those of the rows that are there; of one that is cut, what can be seen."""
        wanted = {image_id for row in rows for image_id in row.images}
        side = QUESTION_SIDES.of(len(wanted))
        return {
            image_id: _question_picture(data, side) for image_id, data in self._pictures(store) if image_id in wanted
        }

    def _pictures(self, store: Store) -> Iterator[tuple[str, bytes]]:
        if self.is_build:
            embedded = set()
            for image_id, cell in built_pictures(self.folder):
                embedded.add(image_id)
                yield image_id, cell["bytes"]
            # Described pictures are in a build's lock, and only in the store.
            for entry in self.plan.lock():
                path = store.find(entry.digests[IDENTITY]) if IDENTITY in entry.digests else None
                if path is not None and entry.image_id not in embedded:
                    yield entry.image_id, path.read_bytes()
            return
        for image_id, seen in state_of(self.plan, store, Policy(), fast=True).seen.items():
            yield image_id, store.path(seen.digests[IDENTITY], seen.format).read_bytes()


def write_gallery(folder: Path, store: Store, out: Path | None, *, limit: int | None = None) -> Path:
    """One page of every row of a built folder or a plan, instances or questions; the page's path.

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
    instances = [row for row in shown if isinstance(row, Instance)]
    page = _instance_page(held, instances, store) if instances else _question_page(held, shown, store)
    path = out or held.plan.folder / "gallery.html"
    write_whole(path, page.encode())
    return path


def _instance_page(held: Held, rows: Sequence[Instance], store: Store) -> str:
    baselines = held.recipe.get("baselines", {})
    return gallery(held.benchmark, rows, held.plan.lock(), held.thumbnails(rows, store), baselines)


def _question_page(held: Held, rows: Sequence[Row], store: Store) -> str:
    questions = [row for row in rows if isinstance(row, Question)]
    return question_gallery(held.benchmark, questions, held.plan.lock(), held.question_pictures(questions, store))


def _question_picture(data: bytes, side: int) -> ShownPicture:
    examined = examine(data)
    if not isinstance(examined, PictureProblem):
        return ShownPicture(thumbnail(data, side))
    # A published picture may be cut; readers that go on with what is there show this much of it.
    seen = remains(data, side) if examined.outcome is Outcome.DAMAGED else None
    return ShownPicture(seen, f"{examined.outcome.value}: {examined.note}")


def write_report_page(plan: PlanFolder, report: Mapping[str, Any], state: State, store: Store) -> Path:
    """report.html beside the plan: every image that is not exact, what was expected beside what came."""
    locked = {entry.image_id: entry for entry in state.lock}
    thumbnails: dict[str, tuple[str | None, str | None]] = {}
    images = []
    for image in report["images"]:
        entry, seen = locked[image["image_id"]], state.seen.get(image["image_id"])
        paths = [
            store.find(entry.digests[IDENTITY]) if IDENTITY in entry.digests else None,
            store.path(seen.digests[IDENTITY], seen.format) if seen is not None and seen.digests else None,
        ]
        shown = [_shown(path) for path in paths]
        thumbnails[image["image_id"]] = (shown[0], shown[1])
        got = dict(image["got"])
        if all(shown) and (entry.width, entry.height) == (got.get("width"), got.get("height")):
            got["channel_difference"] = list(channel_difference(*(path for path in paths if path is not None)))
        images.append({**image, "got": got})
    path = plan.folder / "report.html"
    write_whole(path, report_page({**report, "images": images}, thumbnails).encode())
    return path


def _shown(path: Path | None) -> str | None:
    if path is None or not path.is_file() or isinstance(examine(path), PictureProblem):
        return None
    return thumbnail(path.read_bytes())


def write_forms(folder: Path, store: Store, out: Path, *, configs: Sequence[str] = (), seed: int = 1) -> list[Path]:
    """Forms for annotators, a CSV and a page of pictures for each config; the paths written.

    Raises
    ------
    InputError
        The folder holds questions; a config that it does not have; a form that is there already: it may be filled.
    """
    held = Held.at(folder)
    rows = by_config(held.instances("forms for annotators are made"))
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
    """Agreement of filled forms with the gold and with each other, for each config that they answer.

    Raises
    ------
    InputError
        The folder holds questions, or a form is none of its.
    """
    rows = Held.at(folder).instances("agreement is told")
    by_item = {item_of(row): row for row in rows}
    return agreements(rows, [read_form(path, by_item) for path in forms])


def by_config(rows: Iterable[AnyRow]) -> dict[str, list[AnyRow]]:
    """Rows by config, both in the order in which they come."""
    found: dict[str, list[AnyRow]] = {}
    for row in rows:
        found.setdefault(config_of(row.id), []).append(row)
    return found
