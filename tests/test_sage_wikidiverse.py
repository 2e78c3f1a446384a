"""SAGE's entities: files in the official layout with its quirks, each cleaned or listed, and a whole run."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from conftest import SHARED
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.recipes.sage_wikidiverse import plan
from hannun.reconstruct.recipes.wikidiverse_entities import Entity, EntityImage, entity, image_at, page_image
from hannun.reconstruct.source import Source
from hannun.schemas import catalogue, json_schema
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance
from hannun.schemas.plan import Planned
from hannun.schemas.text import comparison_key
from hannun.validate.target import validate
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, serving
from pictures import png

from hannun.pipeline import PlanRequest, make_plan

WIKIDIVERSE = catalogue.benchmark("sage-wikidiverse")
WIKI = "https://en.wikipedia.org/wiki/"
ICONS = ("Commons-logo.svg", "Disambig_gray.svg", "Question_book-new.svg", "OOjs_UI_icon_edit-ltr-progressive.svg")
TOWNS = [f"Town {number}" for number in range(40)]
Row = list[Any]


def commons(name: str, *, thumbnail: bool = False) -> str:
    """An address of a file of Commons, as the host has it."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    path = f"{digest[0]}/{digest[:2]}/{quote(name)}"
    base = "https://upload.wikimedia.org/wikipedia/commons/"
    return f"{base}thumb/{path}/220px-{quote(name)}" if thumbnail else base + path


def image_of(title: str) -> str:
    return f"commons:{title.replace(' ', '_')}.png"


def row(linked: str | None, candidates: Any, sentence: str = "", mention: str = "town") -> Row:
    sentence = sentence or f"The mayor of the town speaks about {linked}."
    start = sentence.find(mention)
    return [
        sentence, commons("Caption.jpg"), mention, "Location", ["the", "mayor"], ["speak"], linked, candidates, "politics",
        start, start + len(mention),
    ]  # fmt: skip


def town_rows(count: int = 20) -> list[Row]:
    """Rows that need no repair: the gold among ten candidates."""
    return [
        row(WIKI + TOWNS[number].replace(" ", "_"), [TOWNS[(number + step) % 30] for step in range(10)])
        for number in range(count)
    ]


def town_images() -> dict[str, list[str]]:
    """The list of images: icons before, thumbnails between, other pictures behind."""
    return {
        title: [
            commons(ICONS[number % 4]),
            commons(f"Town_{number}.png", thumbnail=number % 3 == 0),
            commons("Map_of_towns.png"),
        ]
        for number, title in enumerate(TOWNS)
    }


def listing(images: dict[str, list[str]], separator: str = "\t") -> str:
    return "".join(f"{name}{separator}{'@@@@'.join(addresses)}\n" for name, addresses in images.items())


def planned(rows: Any, images: dict[str, list[str]] | str, **options: Any) -> Planned:
    listed = images if isinstance(images, str) else listing(images)
    sources = {
        "wikidiverse-candidates": Source("wikidiverse-candidates", "test.json", json.dumps(rows).encode()),
        "wikidiverse-entity-images": Source("wikidiverse-entity-images", "images.txt", listed.encode()),
    }
    return plan(WIKIDIVERSE, sources, {"seed": 1, "wikidiverse.gold": "linked", **options})


def by_row(result: Planned) -> dict[int, Instance]:
    return {each.source["row"]: each for each in result.rows}


def reasons(result: Planned) -> dict[str, str]:
    return {drop.item.rpartition("/")[2]: drop.reason for drop in result.dropped}


def test_gold_is_the_page_image_and_the_retrieved_ones_are_hard() -> None:
    result = planned(town_rows(), town_images())
    assert (len(result.rows), result.dropped) == (20, ())
    for number, made in by_row(result).items():
        assert made.id == f"sage/wikidiverse/{number}"
        assert made.gold == image_of(TOWNS[number])
        assert Counter(c.kind for c in made.candidates) == {"gold": 1, "hard": 9}
        retrieved = {image_of(TOWNS[(number + step) % 30]) for step in range(10)}
        assert {c.image_id for c in made.candidates} == retrieved
        assert [c.kind for c in made.spares] == ["random"] * 4
        assert not retrieved & {c.image_id for c in made.spares}
        assert made.source["sense"] == TOWNS[number]
        assert made.source["rule"] == "candidates: list of names; mention: at its place"
        assert made.context[slice(*made.target_span)] == made.target == "town"
    # Icons, maps further down and sizes of thumbnails play no part: originals are asked.
    assert {each.image_id: each.locations for each in result.images}["commons:Town_3.png"] == (commons("Town_3.png"),)
    assert not any("Map" in each.image_id or "logo" in each.image_id for each in result.images)
    assert len({made.label for made in result.rows}) > 4


def test_every_row_of_the_plan_is_a_record() -> None:
    for made in planned(town_rows(), town_images()).rows:
        record = made.to_json() | {"images": [{"bytes": "", "path": ""}] * 10}
        assert [at for at, _ in json_schema.problems("sage", record) if not at.startswith("images")] == []


@pytest.mark.parametrize(
    "written",
    [
        "Krak%C3%B3w-B_town", "Kraków-B town", "Krako\u0301w B_town", " kraków_B_town ", "Kraków  B-town",
        *(prefix + "en.wikipedia.org/wiki/Krak%C3%B3w-B_town" for prefix in
          ("https://", "http://", "nhttps://", "hhttps://", "]https://", "[https://", "ttps://", "HTTPS://", "//")),
        WIKI + "Kraków_B_town#History", "https://en.m.wikipedia.org//wiki/Krak%c3%b3w_B_town", "Kraków_B_town\u200e",
    ],
)  # fmt: skip
def test_one_entity_has_one_key(written: str) -> None:
    known = entity(written)
    assert known is not None
    assert known.key == "Kraków B town"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("100% Pure", "100% Pure"), ("Caf%E9", "Caf%E9"), (WIKI + "NIL", "NIL"), ("iPod", "IPod"), ("AIDS", "AIDS"),
        (WIKI + "Who%3F", "Who?"), ("Spider-Man", "Spider-Man"), ("NIL_(programming language)", "NIL (programming language)"),
    ],
)  # fmt: skip
def test_titles_stay_what_they_say(written: str, title: str) -> None:
    assert entity(written) == Entity(title)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="%/:"), max_size=30))
def test_a_title_and_its_address_name_one_entity(title: str) -> None:
    known = entity(title)
    if known is None:
        assert re.sub(r"[\s_]", "", comparison_key(title)).casefold() in ("", "nil")
        return
    assert entity("nhttps://en.wikipedia.org/wiki/" + quote(title)) == known
    assert entity(known.title) == known
    underscored = entity(known.key.replace(" ", "_"))
    assert underscored is None or underscored.key == known.key


@pytest.mark.parametrize("nil", ["nil", "NIL", " Nil ", "", None])
def test_nil_is_dropped_in_any_case(nil: str | None) -> None:
    rows = [*town_rows(), row(nil, TOWNS[:10], "A town without a page.")]
    result = planned(rows, town_images())
    assert reasons(result) == {"20": "nil"}
    assert len(result.rows) == 20


@pytest.mark.parametrize(
    ("form", "candidates"),
    [
        ("list of names", ["Town_1", "Town 2", "Town-1", WIKI + "Town%202", "NIL", "Town 3", "Nowhere"]),
        ("list of names and scores", [["Town 1", 0.5], ["Town_2", 0.25], ["Town-1", 1], ["Town 3", 0]]),
        ("names separated by tabs", "Town 1\tTown_2\tTown 1\t\tTown-3\tnil"),
    ],
)
def test_candidates_in_every_form_count_once(form: str, candidates: Any) -> None:
    made = by_row(planned([*town_rows(), row(WIKI + "Town_39", candidates)], town_images()))[20]
    kinds = {c.image_id: c.kind for c in made.candidates}
    assert {each for each, kind in kinds.items() if kind == "hard"} == {image_of(f"Town {n}") for n in (1, 2, 3)}
    assert Counter(kinds.values()) == {"gold": 1, "hard": 3, "random": 6}
    assert made.source["rule"].startswith(f"candidates: {form};")


@pytest.mark.parametrize("none", [[], "", None])
def test_without_candidates_all_negatives_are_random(none: Any) -> None:
    made = by_row(planned([*town_rows(), row(WIKI + "Town_39", none)], town_images()))[20]
    assert Counter(c.kind for c in made.candidates) == {"gold": 1, "random": 9}
    assert made.source["rule"].startswith("candidates: none;")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"rows": []}, "a list of rows"),
        ([["too", "short"]], "2 fields"),
        ([{"sentence": "a town"}], "row 0"),
        ([row(WIKI + "A", [{"name": "A"}])], "form that is not known"),
        ([row(WIKI + "A", [["A", "B"]])], "form that is not known"),
        ([row(WIKI + "A", [["A", True]])], "form that is not known"),
        ([row(WIKI + "A", ["A", ["B", 1]])], "form that is not known"),
        ([row(WIKI + "A", "['A', 'B']")], "form that is not known"),
        ([row(WIKI + "A", 7)], "form that is not known"),
        ([row(7, ["A"])], "entity_url is no text"),  # type: ignore[arg-type]
    ],
)
def test_another_layout_is_refused(rows: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(rows, town_images())
    assert says in str(caught.value)
    assert "test.json" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "Town 1\n", '{"Town 1": "x"}\n', 'Text@@@@[["https://example.org/a.jpg", ""]]@@@@Town 1\n']
)
def test_another_list_of_images_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not the list of entities and images"):
        planned(town_rows(), text)


@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        ([], "gold has no image"),
        ([commons(name) for name in ICONS], "gold has no image"),
        ([commons(ICONS[0]), "Town.jpg"], "gold has no address that can be asked: malformed-address"),
        ([commons("A.jpg").replace("A.jpg", "B.jpg")], "gold has no address that can be asked: malformed-address"),
        (["ftp://example.org/a.jpg"], "gold has no address that can be asked: unsafe-address"),
        ([commons("Film.webm")], "gold has no address that can be asked: unsupported-format"),
    ],
)
def test_a_gold_without_a_picture_is_dropped_and_named(addresses: list[str], reason: str) -> None:
    images = town_images() | {"Hamlet": addresses}
    rows = [*town_rows(), row(WIKI + "Hamlet", TOWNS[:10]), row(WIKI + "Unlisted", TOWNS[:10])]
    assert reasons(planned(rows, images)) == {"20": reason, "21": "gold has no image"}


def test_the_next_address_counts_where_one_cannot_be_asked() -> None:
    found = page_image("Town", ["nowhere", commons("Film.ogv"), "n" + commons("Town_hall.jpg", thumbnail=True)])
    assert found == EntityImage("commons:Town_hall.jpg", commons("Town_hall.jpg"), "Town_hall.jpg")


@pytest.mark.parametrize(
    ("title", "name", "icon"),
    [
        *(("Town 1", name, True) for name in (*ICONS, "Increase2.svg", "Increase_Positive.svg", "Blank.png", "Ambox_x.png")),
        ("Wikinews", "Wikinews-logo.svg", False), ("Town 1", "Wikinews-logo.svg", True),
        ("Wikimedia Commons", "Commons-logo.svg", False), ("Increase Mather", "Increase_Mather.png", False),
        ("Town 1", "Increase_Mather.png", False), ("Town 1", "Disambig.jpg", False), ("Town 1", "Blank_wall.png", False),
    ],
)  # fmt: skip
def test_icons_of_the_interface_are_no_page_images(title: str, name: str, icon: bool) -> None:
    assert (page_image(title, [commons(name)]) == "has no image") is icon


@pytest.mark.parametrize(
    ("address", "image_id", "location"),
    [
        ("https://Example.org/a b.JPG", "web:https://example.org/a%20b.JPG", "https://example.org/a%20b.JPG"),
        ("nhttps://example.org/%7ea.png", "web:https://example.org/~a.png", "https://example.org/%7ea.png"),
        ("http://example.org/a.svg", "web:http://example.org/a.svg", "http://example.org/a.svg"),
        (commons("Logo.svg"), "commons:Logo.svg", commons("Logo.svg")),
        (commons("Map.gif", thumbnail=True), "commons:Map.gif", commons("Map.gif")),
    ],
)
def test_addresses_are_originals_or_as_they_are(address: str, image_id: str, location: str) -> None:
    found = image_at(address)
    assert (found.image_id, found.location) == (image_id, location)


def test_two_entities_with_one_picture_are_no_two_candidates() -> None:
    images = town_images() | {"Twin": [commons("Town_3.png")], "Town III": [commons("Town_3.png", thumbnail=True)]}
    rows = [*town_rows(), row(WIKI + "Town_3", ["Twin", "Town III", *TOWNS[4:8]], "In Third town.")]
    made = by_row(planned(rows, images))[20]
    assert [c.image_id for c in (*made.candidates, *made.spares)].count("commons:Town_3.png") == 1
    assert Counter(c.kind for c in made.candidates) == {"gold": 1, "hard": 4, "random": 5}


def test_names_that_differ_by_a_hyphen_find_their_own_line() -> None:
    images = town_images() | {"Old-Town": [commons("A.jpg")], "Old Town": [commons("B.jpg")], "Old_Well": []}
    rows = [*town_rows(), row(WIKI + "Old-Town", TOWNS[:10]), row(WIKI + "Old_Town", TOWNS[:10])]
    made = by_row(planned(rows, images))
    assert [made[20].gold, made[21].gold] == ["commons:A.jpg", "commons:B.jpg"]
    assert reasons(planned([*rows, row(WIKI + "Old_Well", TOWNS)], images)) == {"22": "gold has no image"}
    del images["Old-Town"]
    assert by_row(planned(rows, images))[20].gold == "commons:B.jpg"


@pytest.mark.parametrize(
    ("sentence", "mention", "start", "end", "span"),
    [
        ("A town, a town.", "town", 10, 14, (10, 14)),
        ("A town, a town.", "town", 9, 13, (10, 14)),
        ("A town, a town.", "town", "2", None, (2, 6)),
        ("A townhall in town.", "town", 0, 99, (14, 18)),
        ("A TOWN.", "town", 0, 4, (2, 6)),
        ("Cafe\u0301 in a town.", "town", 11, 15, (10, 14)),
        ("Cafe\u0301 in a town.", "Caf\u00e9", 0, 5, (0, 4)),
        ("Downtown.", "town", 1, 5, (4, 8)),
        ("A city.", "town", 2, 6, None),
        ("A city.", "", 2, 6, None),
        ("", "town", 0, 4, None),
    ],
)
def test_the_mention_stands_where_the_file_says_or_is_found(
    sentence: str, mention: str, start: Any, end: Any, span: tuple[int, int] | None
) -> None:
    rows = town_rows()
    rows[0] = [sentence, *rows[0][1:2], mention, *rows[0][3:9], start, end]
    result = planned(rows, town_images())
    if span is None:
        assert reasons(result) == {"0": "the mention does not stand in its sentence"}
    else:
        made = by_row(result)[0]
        assert made.target_span == span
        assert made.context[slice(*span)] == made.target


def test_mentions_share_a_sentence_and_repeated_ones_are_dropped() -> None:
    shared = "The city and the town."
    rows = [*town_rows(), *(row(WIKI + f"Town_{n}", TOWNS[:10], shared, word) for n, word in ((1, "city"), (2, "town"), (3, "town")))]  # fmt: skip
    result = planned(rows, town_images())
    assert by_row(result)[20].context == by_row(result)[21].context == shared
    assert reasons(result) == {"22": "sentence and mention of an earlier row"}


def test_mentions_of_one_sentence_make_a_plan(tmp_path: Path) -> None:
    words = (("Town_1", "city"), ("Town_2", "town"))
    rows = [row(WIKI + title, TOWNS[:10], "The city and the town.", word) for title, word in words]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "images.txt").write_text(listing(town_images()))
    files = {"wikidiverse-candidates": tmp_path / "rows.json", "wikidiverse-entity-images": tmp_path / "images.txt"}
    result, new = make_plan(PlanRequest("sage-wikidiverse", files), tmp_path / "plan")
    assert new
    assert [made.target for made in result.rows] == ["city", "town"]


def test_too_few_pictures_drop_the_row() -> None:
    rows = town_rows(1)
    rows[0][7] = TOWNS[:5]
    assert reasons(planned(rows, town_images())) == {
        "0": "fewer than ten retrieved entities have an image, and too few random ones are left"
    }


def test_rows_whose_entity_was_not_retrieved_are_dropped_by_option() -> None:
    rows = [*town_rows(), row("nhttps://en.wikipedia.org/wiki/Town_39", TOWNS[:10])]
    made = by_row(planned(rows, town_images()))[20]
    assert Counter(c.kind for c in made.candidates) == {"gold": 1, "hard": 9}
    assert [c.kind for c in made.spares] == ["hard", *["random"] * 4]
    kept = planned(rows, town_images(), **{"wikidiverse.gold": "retrieved"})
    assert reasons(kept) == {"20": "the entity was not retrieved"}
    assert by_row(kept)[3] == by_row(planned(rows, town_images()))[3]


def test_a_vanished_picture_moves_one_negative() -> None:
    rows, images = [*town_rows(), row(WIKI + "Town_39", TOWNS[:4])], town_images()
    before = by_row(planned(rows, images))[20]
    gone = next(c.image_id for c in before.candidates if c.kind == "random")
    del images[gone[8:-4].replace("_", " ")]
    after = by_row(planned(rows, images))[20]
    kept = [c for c in before.candidates if c.image_id != gone]
    assert [c for c in after.candidates if c in kept] == kept
    assert len(set(after.candidates) - set(kept)) == 1


def test_the_order_of_lines_and_the_separator_make_no_difference() -> None:
    images = town_images() | {"Town-3": [commons("Other.png")], "town_5": []}
    lines = listing(images).splitlines()
    lines += ["Town 7\t" + commons("Seventh.png"), "Town%208\t" + commons("Aaa.png")]
    first = planned(town_rows(), "\n".join(lines))
    random.Random(4).shuffle(lines)
    text = "\ufeff" + "\r\n".join(lines).replace("\t", "@@@@") + "\r\n\r\n"
    assert planned(town_rows(), text) == first


def test_another_hash_seed_gives_the_same_bytes(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps([*town_rows(), row(WIKI + "Town_39", TOWNS[:4])]))
    lines = listing(town_images()).splitlines()
    plans = []
    for seed in ("0", "77"):
        random.Random(seed).shuffle(lines)
        (tmp_path / f"{seed}.txt").write_text("\n".join(lines))
        made = run(
            "sage-reconstruct", "plan", "sage-wikidiverse", "--out", tmp_path / seed,
            "--source", f"wikidiverse-candidates={tmp_path / 'rows.json'}",
            "--source", f"wikidiverse-entity-images={tmp_path / f'{seed}.txt'}",
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        assert "21 instances" in made.stdout
        recipe = json.loads((tmp_path / seed / "recipe.json").read_text())
        # The shuffled list is another file; everything that comes of it is the same.
        recipe.pop("sources")
        plans.append(
            [recipe, *((tmp_path / seed / f"{name}.jsonl").read_bytes() for name in ("instances", "images.lock"))]
        )
    assert plans[0] == plans[1]


def test_what_a_person_must_fetch_is_explained(run: Callable[..., Any], tmp_path: Path) -> None:
    made = run("sage-reconstruct", "plan", "sage-wikidiverse", "--out", tmp_path / "plan")
    assert made.returncode == 2
    said = " ".join(made.stderr.split())
    for word in ("test_w_10cands.json", "drive.google.com", "--source wikidiverse-candidates=PATH", "1,570"):
        assert word in said


def test_the_non_standard_addresses_have_their_outcome_without_a_request() -> None:
    listed = SHARED / "data" / "derived" / "wikidiverse_nonstandard_urls.txt"
    if not listed.is_file():
        pytest.skip("shared/data/derived is not at hand")
    outcomes: Counter[str] = Counter()
    for address in listed.read_text("utf-8").split():
        try:
            found = image_at(address)
        except Unusable as error:
            outcomes[error.outcome.value] += 1
            assert re.search(r"\.(og[gv]|webm|pdf)/", address), address
        else:
            outcomes["archived" if "@" in found.image_id else "original"] += 1
            assert "thumb" not in found.location
            assert "px-" not in found.location
    assert sum(outcomes.values()) == 161
    assert outcomes["archived"] == 1
    assert set(outcomes) == {"archived", "original", "unsupported-format"}


def test_a_whole_run_with_images_gone_changed_and_refused(run: Callable[..., Any], tmp_path: Path) -> None:
    rows = [*town_rows(24), row("NIL", TOWNS[:10]), row("]https://en.wikipedia.org/wiki/Town_39", [])]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "images.txt").write_text(listing(town_images()))
    sources: list[object] = [
        "--source", f"wikidiverse-candidates={tmp_path / 'rows.json'}",
        "--source", f"wikidiverse-entity-images={tmp_path / 'images.txt'}",
    ]  # fmt: skip
    assert run("sage-reconstruct", "plan", "sage-wikidiverse", "--out", tmp_path / "plan", *sources).returncode == 0
    entries = [json.loads(line) for line in (tmp_path / "plan" / "images.lock.jsonl").read_text().splitlines()]
    gone, changed, refused, vector = (image_of(TOWNS[number]) for number in (3, 8, 25, 12))
    with serving() as server:
        for number, entry in enumerate(entries):
            picture = png((number * 6, 90, 200 - number * 4))
            path = urlsplit(entry["locations"][0]).path
            answer = {
                gone: Answer(status=404),
                refused: Answer(status=403),
                vector: Answer(b"<svg xmlns='http://www.w3.org/2000/svg'/>", headers={"Content-Type": "image/svg+xml"}),
            }.get(entry["image_id"], Answer(picture))
            server.answer(path, answer)
            if entry["image_id"] == changed:
                entry["digests"] = {"sha1": "0" * 40}
        (tmp_path / "known.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        out = tmp_path / "built"
        done = run(
            "sage-reconstruct", "run", "sage-wikidiverse", "--out", out, "--store", tmp_path / "store", *sources,
            "--lock", tmp_path / "known.jsonl", "--mirror", f"upload.wikimedia.org={server.address}",
            "--contact", "me@lab.example",
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    asked = [path for path, _ in server.asked]
    assert len(asked) == len(set(asked)) == len(entries)
    report = json.loads((out / "plan" / "report.json").read_text())
    listed = {each["image_id"]: each["outcome"] for each in report["images"]}
    missing = {gone: "gone", refused: "refused", vector: "unsupported-format", changed: "changed"}
    assert {each: listed.get(each) for each in missing} == missing
    kept = [
        each
        for each in map(json.loads, (out / "plan" / "instances.jsonl").read_text().splitlines())
        if not missing.keys() & {c["image_id"] for c in each["candidates"]}
    ]
    assert 0 < len(kept) < 25
    checked = validate(str(out))
    assert [(each.message, each.place, each.found) for each in checked.findings] == []
    assert checked.rows == len(kept)
    recipe = json.loads((out / "recipe.json").read_text())
    assert recipe["dropped"] == [{"count": 1, "items": ["sage/wikidiverse/24"], "reason": "nil"}]
    assert recipe["counts"]["rows"] == 25
    page = run("sage-reconstruct", "gallery", out)
    assert page.returncode == 0, page.stderr
    assert (out / "gallery.html").read_text("utf-8").count('<article class="item"') == len(kept)
