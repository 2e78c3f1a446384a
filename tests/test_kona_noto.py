"""The noto style: the same instances, fetched from a server that answers as the pinned addresses do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hannun.reconstruct.plan_folder import PlanFolder
from hannun.reconstruct.recipes import completed_options, recipe_module
from hannun.reconstruct.recipes.kona import plan
from hannun.reconstruct.recipes.kona_tables import picture_files, read_tables
from hannun.reconstruct.resolve import Policy
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.source import Source, open_sources
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Limits, Reach
from hannun.schemas import catalogue
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError, MissingImagesError
from hannun.schemas.outcome import Outcome
from loopback import Answer, Server, serving
from pictures import png

from hannun import pipeline
from hannun.build import build

KONA = catalogue.benchmark("kona")
NOTO = completed_options(recipe_module("kona"), {"images": "noto"})
PUBLISHED = Path(__file__).parents[2] / "shared" / "data" / "noto-emoji"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def moved(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """The catalogue with the pictures' address on loopback."""
    index = replace(KONA.sources["noto-index"], address=address + "/")
    entry = replace(KONA, sources={**KONA.sources, "noto-index": index})
    monkeypatch.setattr(catalogue, "benchmark", lambda _: entry)


def fetched(folder: Path, given: dict[str, Path], server: Server) -> pipeline.State:
    """The state of a noto plan after one fetch over loopback."""
    pipeline.make_plan(pipeline.PlanRequest("kona", given, {"images": "noto"}), folder / "plan")
    plan = PlanFolder.at(folder)
    store = Store(folder / "store")
    reach = Reach(limits=Limits(max_bytes=1_000_000, max_pixels=1_000_000, deadline=20), allow_private=True)
    attempts = list(pipeline.fetch_images(plan, store, Settings(reach=reach)).attempts)
    assert attempts
    assert all(each.location.startswith(server.address) for each in attempts)
    return pipeline.state_of(plan, store, Policy())


def test_both_styles_hold_the_same_instances_in_the_same_order() -> None:
    planned = {}
    for style in ("twemoji", "noto"):
        options = {**NOTO, "images": style}
        planned[style] = plan(KONA, open_sources(KONA.sources_with(options), {}), options)
    twemoji, noto = planned["twemoji"], planned["noto"]
    assert len(twemoji.rows) == len(noto.rows) == 3 * 378
    by_item = {row.id.replace("-noto/", "/"): row for row in noto.rows}
    for row in twemoji.rows:
        same = by_item[row.id]
        assert (same.context, same.target_span, same.label, same.split) == (
            row.context,
            row.target_span,
            row.label,
            row.split,
        )
        for ours, theirs in ((row.candidates, same.candidates), (row.spares, same.spares)):
            assert [(c.image_id.partition(":")[2], c.kind) for c in ours] == [
                (c.image_id.partition(":")[2], c.kind) for c in theirs
            ]
    assert twemoji.baselines == noto.baselines
    names = {config.name for config in KONA.configs if config.options["images"] == "noto"}
    assert {row.id.split("/")[1] for row in noto.rows} == names
    assert all(entry.locations[0].startswith("https://raw.githubusercontent.com/") for entry in noto.images)
    assert {(entry.licence or {})["spdx"] for entry in noto.images} == {"Apache-2.0"}


def test_every_sense_is_shown_and_every_picture_exists_in_both_styles() -> None:
    sources = {
        **open_sources(KONA.sources_with(NOTO), {}),
        **open_sources({"twemoji-index": KONA.sources["twemoji-index"]}, {}),
    }
    tables = read_tables(sources)
    shown = set().union(*(picture.shows for picture in tables.pictures.values()))
    assert shown == set(tables.senses)
    for name in ("twemoji-index", "noto-index"):
        assert set(tables.pictures) <= set(picture_files(sources[name]))


def test_digests_are_those_of_the_pinned_commit() -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("shared/data/noto-emoji is not at hand")
    published = {}
    for line in (PUBLISHED / "digests.csv").read_text().splitlines()[1:]:
        path, size, sha256 = line.split(",")
        published[path] = (sha256, int(size))
    [index] = open_sources({"noto-index": KONA.sources["noto-index"]}, {}).values()
    for path, sha256, size in picture_files(index).values():
        assert published[path] == (sha256, size)
    assert KONA.sources["noto-index"].revision in (PUBLISHED / "README.md").read_text()


def test_the_published_pictures_come_exact(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("shared/data/noto-emoji is not at hand")
    moved(monkeypatch, server.address)
    for path in (PUBLISHED / "png" / "512").glob("*.png"):
        server.answer(f"/png/512/{path.name}", Answer(path.read_bytes()))
    state = fetched(tmp_path, {}, server)
    # The copy at hand holds no sequences (keycaps, joined people): thirteen of the set's pictures.
    counts = Counter(state.outcomes)
    assert counts[Outcome.EXACT] == 615
    assert sum(counts.values()) == 628
    built = build(state, Store(tmp_path / "store"), tmp_path / "built")
    assert set(built.rows) == {"original-noto", "explicit-noto", "neutralized-noto"}
    lacking = {e.image_id for e, o in zip(state.lock, state.outcomes, strict=True) if o is not Outcome.EXACT}
    whole = [row for row in state.rows if not lacking & {c.image_id for c in row.candidates}]
    assert sum(sum(splits.values()) for splits in built.rows.values()) == len(whole) > 900
    card = (tmp_path / "built" / "README.md").read_text("utf-8")
    assert "license:\n- apache-2.0\n" in card
    assert "Noto Emoji, Copyright Google LLC" in card
    assert "Twemoji, Copyright" not in card


def own_tables(folder: Path, server: Server, *, damaged: str | None = None) -> dict[str, Path]:
    """Small tables of one's own over sixteen small pictures, which the server holds."""
    emoji = "🍐🍎🍊🍋🍌🍉🍇🍓🐶🐱🐭🐹🐰🦊🐻🚢"
    lines = ["path\tsha256\tbytes"]
    for number, each in enumerate(emoji):
        path = f"png/512/emoji_u{ord(each):x}.png"
        data = png((number * 10, 90, 200 - number * 10))
        lines.append(f"{path}\t{digests_of(data)['sha256']}\t{len(data)}")
        server.answer(f"/{path}", Answer(data if each != damaged else png((1, 2, 3))))
    shows = {"🍐": "bae-pear", "🚢": "bae-ship"}
    kinds = {**dict.fromkeys("🍐🍎🍊🍋🍌🍉🍇🍓", "fruit"), "🚢": "vehicle"}
    texts = {
        "kona-senses": "sense\tnoun\tsplit\tgloss\tenglish\nbae-pear\t배\ttest\t과일\tpear\nbae-ship\t배\ttest\t탈것\tship\n",
        "kona-queries": "item\tsense\toriginal\texplicit\tneutralized\texclude\n"
        "bae-pear-1\tbae-pear\t{배} 먹자\t달콤한 {배} 먹자\t[명사] 먹자\t-\n",
        "kona-depictions": "picture\temoji\tkind\tshows\tmay_show\n"
        + "".join(f"{ord(e):x}\t{e}\t{kinds.get(e, 'animal')}\t{shows.get(e, '-')}\t-\n" for e in emoji),
        "kona-confusables": "picture\tother\treason\n1f34b\t1f350\t둘 다 노랗다\n",
        "noto-index": "\n".join(lines) + "\n",
    }
    given = {}
    for name, text in texts.items():
        given[name] = folder / f"{name}.tsv"
        given[name].write_text(text, "utf-8")
    return given


def test_own_pictures_come_exact_and_another_picture_is_told(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved(monkeypatch, server.address)
    for name, damaged, outcomes in (
        ("whole", None, {Outcome.EXACT}),
        ("other", "🍐", {Outcome.EXACT, Outcome.CHANGED}),
    ):
        folder = tmp_path / name
        folder.mkdir()
        state = fetched(folder, own_tables(folder, server, damaged=damaged), server)
        assert set(state.outcomes) == outcomes
    # The gold is another picture than the locked one: no row can be built.
    with pytest.raises(MissingImagesError):
        build(state, Store(folder / "store"), folder / "built")


def test_a_style_without_a_picture_and_an_unknown_style_are_explained() -> None:
    with pytest.raises(InputError, match="option images has no 'openmoji'") as caught:
        completed_options(recipe_module("kona"), {"images": "openmoji"})
    assert caught.value.expected == "twemoji, noto"
    sources = open_sources(KONA.sources_with(NOTO), {})
    sources["noto-index"] = Source("noto-index", "mine.tsv", b"path\tsha256\tbytes\n")
    with pytest.raises(InputError, match="no noto picture for") as caught:
        plan(KONA, sources, NOTO)
    assert caught.value.where == "mine.tsv"
