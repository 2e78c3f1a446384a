"""The gallery: what the page holds, and how it behaves in a real browser at two widths."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gallery_page import CONTRAST, Page
from hannun.cards.gallery import gallery
from hannun.cards.thumbnail import SIDE, thumbnail
from hannun.reconstruct.plan_folder import PlanFolder
from hannun.schemas import catalogue
from hannun.schemas.instance import Candidate, Instance
from hannun.schemas.lock import LockEntry
from pictures import encoded, jpeg, png
from PIL import Image

KONA = catalogue.benchmark("kona")
ITEMS, NOUNS = 378, 75


@pytest.fixture(scope="module")
def page(built_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hannun.reconstruct.home import store_folder
    from hannun.reconstruct.store import Store

    from hannun import pages

    out = tmp_path_factory.mktemp("gallery") / "gallery.html"
    return pages.write_gallery(built_once, Store(store_folder()), out)


def test_the_page_needs_nothing_from_outside(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(text) < 4_000_000
    assert re.findall(r"(?:src|href)=[\"'](?!data:)[^\"']*", text) == []
    assert re.findall(r"url\((?!data:)[^)]*", text) == []
    assert text.count('<article class="item"') == ITEMS
    assert "@import" not in text
    assert "Twemoji, Copyright 2019" in text
    assert "no earlier paper" in text


def test_texts_of_a_data_set_are_texts(built_once: Path) -> None:
    rows = PlanFolder(built_once).rows()
    hostile = "</style><script>alert('1')</script>\"&{{ 7 * 7 }}"
    row = replace(rows[0], context=hostile + rows[0].target, target_span=(len(hostile), len(hostile + rows[0].target)))
    entry = LockEntry(row.candidates[0].image_id, ("https://example.org/a.png",), attribution="<b>me</b>")
    text = gallery(KONA, [row], [entry], {}, {"<i>": 0.5})
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "<b>me</b>" not in text
    assert "<i>" not in text
    assert text.count('<span class="missing">missing</span>') == 10


def test_thumbnails_are_small_and_show_the_picture() -> None:
    assert thumbnail(png()) == "data:image/png;base64," + base64.b64encode(png()).decode()
    for data, mode in ((jpeg(size=(2000, 900)), "RGB"), (png((9, 9, 9, 0), (900, 2000), "RGBA"), "RGBA")):
        uri = thumbnail(data)
        assert uri.startswith("data:image/webp;base64,")
        with Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as image:
            assert max(image.size) == SIDE
            assert image.mode == mode
    with Image.open(io.BytesIO(base64.b64decode(thumbnail(jpeg(size=(2000, 900)), 64).partition(",")[2]))) as image:
        assert image.size == (64, 29)
    # A photograph that says that it lies on its side is stood up.
    exif = Image.Exif()
    exif[0x0112] = 6
    uri = thumbnail(encoded(Image.new("RGB", (1200, 400), (200, 0, 0)), "JPEG", exif=exif))
    with Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as image:
        assert image.height > image.width


def test_a_plan_shows_what_its_store_has(run: Callable[..., Any], tmp_path: Path) -> None:
    run("sage-reconstruct", "plan", "kona", "--out", tmp_path / "plan")
    before = run("sage-reconstruct", "gallery", tmp_path / "plan", "--store", tmp_path / "store", "--limit", "2")
    assert before.returncode == 0, before.stderr
    empty = (tmp_path / "plan" / "gallery.html").read_text("utf-8")
    assert empty.count('<article class="item"') == 2
    assert empty.count('<span class="missing">missing</span>') == 20
    run("sage-reconstruct", "fetch", tmp_path / "plan", "--store", tmp_path / "store")
    out = tmp_path / "page.html"
    after = run("hannun", "gallery", tmp_path / "plan", "--store", tmp_path / "store", "--limit", "2", "--out", out)
    assert after.returncode == 0, after.stderr
    assert "missing</span>" not in out.read_text("utf-8")
    nowhere = run("hannun", "gallery", tmp_path / "nowhere")
    assert nowhere.returncode == 2
    assert "no such folder" in nowhere.stderr
    bad = run("hannun", "gallery", tmp_path / "plan", "--out", tmp_path / "no" / "such" / "page.html")
    assert bad.returncode == 2
    assert "cannot be written" in bad.stderr
    assert "Traceback" not in bad.stderr


def test_filters_by_noun_kind_config_split_and_words(browser: Any, page: Path) -> None:
    shown = Page(browser, page)
    assert shown.shown() == ITEMS
    assert len(shown.all("[name=group] option")) == NOUNS + 1
    shown.choose("group", "배")
    assert shown.shown() == 4
    assert {each.text for each in shown.all(".item:not([hidden]) h2")} == {"배"}
    shown.choose("config", "explicit")
    assert shown.js(
        "return [...document.querySelectorAll('dd:not([hidden])')].every(d => d.dataset.config === 'explicit')"
    )
    assert shown.js("return document.querySelectorAll('.item:not([hidden]) dd:not([hidden])').length") == 4
    shown.all("[value=near]")[0].click()
    assert shown.js(
        "return [...document.querySelectorAll('.candidate')].every(c => c.classList.contains('dim') === (c.dataset.kind === 'near'))"
    )
    shown.all("[type=reset]")[0].click()
    shown.choose("split", "validation")
    assert shown.shown() == 86
    shown.choose("split", "all")
    # Decomposed, as a macOS keyboard or file may give it.
    import unicodedata

    shown.all("[name=search]")[0].send_keys(unicodedata.normalize("NFD", "불고기 재울"))
    assert shown.shown() == 1
    shown.all("[name=search]")[0].send_keys(" 없는말")
    assert shown.shown() == 0
    assert shown.all(".none")[0].is_displayed()


def test_keys_move_search_and_hide_answers(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    shown = Page(browser, page)
    shown.press("j")
    first = shown.js("return document.activeElement.id")
    shown.press("jj")
    third = shown.js("return document.activeElement.id")
    shown.press("kk")
    assert shown.js("return document.activeElement.id") == first != third
    assert len(shown.all(".item.gold, .candidate.gold span")) == ITEMS
    shown.press("b")
    assert not shown.all(".candidate.gold span")[0].is_displayed()
    assert not shown.all("header .answer")[0].is_displayed()
    shown.press("b")
    assert shown.all(".candidate.gold span")[0].is_displayed()
    shown.press("/")
    assert shown.js("return document.activeElement.name") == "search"
    shown.press("b")
    assert shown.js("return document.activeElement.value") == "b"
    shown.press(Keys.ESCAPE)
    shown.press("?")
    assert shown.all("#keys")[0].is_displayed()
    shown.press(Keys.ESCAPE)
    assert not shown.all("#keys")[0].is_displayed()
    button = shown.all(".item:not([hidden]) .candidate button")[0]
    shown.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert shown.all("#picture")[0].is_displayed()
    assert "twemoji:" in shown.all("#picture p")[0].text


@pytest.mark.parametrize("width", [500, 1280])
def test_it_fits_its_window_in_light_and_dark(browser: Any, page: Path, width: int) -> None:
    shown = Page(browser, page, width)
    assert shown.js("return document.documentElement.scrollWidth <= window.innerWidth")
    columns = shown.js("return getComputedStyle(document.querySelector('ol')).gridTemplateColumns.split(' ').length")
    assert columns == (5 if width < 700 else 10)
    grounds = []
    for _ in range(2):
        grounds.append(shown.js("return getComputedStyle(document.body).backgroundColor"))
        # Text stands off its ground: WCAG's 4.5 for what is read.
        for selector in (
            ".item dd",
            ".item header span",
            ".candidate.hard span",
            ".candidate.near span",
            ".candidate.gold span",
        ):
            assert shown.js(CONTRAST, selector) >= 4.5, selector
        shown.all("#theme")[0].click()
    assert grounds[0] != grounds[1]


@pytest.fixture
def verbs(tmp_path: Path) -> Path:
    """A page of two wordings of one item, of the item with another gold, and of an item without a described picture."""
    thumbnails = {f"coco:val2014/{n:012d}": thumbnail(png((n * 20, 90, 9))) for n in range(12)}
    ids = list(thumbnails)

    def row(config: str, item: str, context: str, gold: int, described: str | None) -> Instance:
        shown = [Candidate(ids[gold], "gold"), *(Candidate(each, "hard") for each in ids[2:11])]
        return Instance(
            f"sage/{config}/{item}", "test", context, context[2:7], (2, 7), tuple(shown), 0, (),
            {"lemma": "ride", "gloss": None, "sense": "1.1", "image": described},
        )  # fmt: skip

    rows = [
        row("verse-original", "ride-1", "A rides a horse", 0, ids[0]),
        row("verse-spis", "ride-1", "A rides a horse", 1, ids[0]),
        row("verse-spis-neutralized", "ride-1", "A [VERB] a horse", 1, ids[0]),
        row("verse-spis", "ride-2", "A rides a bus", 1, ids[11]),
    ]
    licence = {"spdx": "CC-BY-2.0", "name": "Attribution", "url": None}
    lock = [LockEntry(each, ("https://h/a",), licence=licence, attribution=f"Flickr: {each}") for each in ids]
    path = tmp_path / "verbs.html"
    path.write_text(gallery(catalogue.benchmark("sage-verse"), rows, lock, thumbnails, {}), "utf-8")
    return path


def test_the_described_picture_stands_apart(browser: Any, verbs: Path) -> None:
    shown = Page(browser, verbs)
    assert shown.shown() == 3
    assert [each.text for each in shown.all("h2")] == ["ride"] * 3
    assert len(shown.all(".item:nth-of-type(2) dd")) == 2
    described = shown.all(".described")
    # In the original wording it is the gold itself.
    assert [each.find_element("xpath", "./..").get_attribute("id") for each in described] == [
        "sage-verse-spis-ride-1", "sage-verse-spis-ride-2",
    ]  # fmt: skip
    assert shown.js("return getComputedStyle(document.querySelector('.described .candidate')).opacity") == "1"
    shown.choose("config", "verse-original")
    assert shown.shown() == 1
    shown.choose("config", "verse-spis-neutralized")
    assert shown.shown() == 1
    shown.choose("config", "all")
    button = described[0].find_element("css selector", "button")
    shown.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert shown.all("#picture .credit")[0].text == "Flickr: coco:val2014/000000000000 · CC-BY-2.0"
    shown.js("document.querySelector('#picture').close()")
    shown.press("b")
    # It would give the sense away.
    assert not described[0].is_displayed()
    assert len(shown.all("footer details p")) == 12
