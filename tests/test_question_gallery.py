"""The gallery of questions: what the page holds, and how it behaves in a real browser at two widths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gallery_page import CONTRAST, Page
from hannun.builders.built import built_pictures
from hannun.cards.question_gallery import ShownPicture, question_gallery
from hannun.cards.thumbnail import remains, thumbnail
from hannun.schemas.errors import InputError
from pictures import jpeg
from questions import CHECKLISTS, HAERAE, build, haerae_rows, koffvqa_rows, lock_of, pictures_of

HOSTILE = "</style><script>alert('1')</script>\"'&{{ 7 * 7 }}<img src=x onerror=alert(2)>"


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def page_of(folder: Path, out: Path) -> Path:
    from hannun.reconstruct.store import Store

    from hannun import pages

    return pages.write_gallery(folder, Store(out.parent / "store"), out)


@pytest.fixture
def haerae(tmp_path: Path) -> Path:
    """A page of three items in both wordings; one of item 10's pictures is cut."""
    rows = haerae_rows({"2": "코스모스입니다."})
    pictures = pictures_of(rows)
    pictures["haerae-vision:10/1"] = cut(jpeg(size=(900, 700)))
    return page_of(build(tmp_path / "haerae", rows, pictures), tmp_path / "haerae.html")


@pytest.fixture
def koffvqa(tmp_path: Path) -> Path:
    rows = koffvqa_rows()
    return page_of(build(tmp_path / "koffvqa", rows, pictures_of(rows)), tmp_path / "koffvqa.html")


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_an_item_stands_once_with_both_wordings_and_all_it_has(haerae: Path) -> None:
    page = haerae.read_text("utf-8")
    assert page.count("<article") == 3
    # Numbers in their order, and the paired config not once more.
    assert re.findall(r'<article [^>]*id="([^"]*)"', page) == [f"haerae-vision-{n}" for n in (2, 10, 11)]
    assert re.findall(r'<section data-config="([^"]*)"', page) == ["original", "explicit"] * 3
    assert page.count("<img ") == 10
    for texts in CHECKLISTS.values():
        for text in texts:
            assert page.count(text.replace('"', "&#34;")) == 1
    assert "코스모스입니다." in page
    assert "damaged: cannot be decoded: image file is truncated" in page
    assert re.findall(r"(?:src|href)=[\"'](?!data:)[^\"']*", page) == []
    assert "url(" not in page.partition("<script>")[0]
    assert page.count('lang="ko"') >= 3 * 4


def test_criteria_stand_with_their_points(koffvqa: Path) -> None:
    page = text_of(koffvqa.read_text("utf-8"))
    assert "criteria, added up to 10 +4 간판의 글자를 읽는다 +6 가게의 종류를 말한다" in page
    assert "criteria, one of them 10 세 마리라고 답한다 5 네 마리라고 답한다 0 그 밖의 답" in page
    assert "criteria; how they count is not known ? 자유롭게 채점한다." in page
    assert "criteria, as published 자유롭게 채점한다. &#34;정성&#34; 평가" in page
    assert page.count("Commonsense Reasoning Reasoning test koffvqa/") == 3


def test_texts_of_a_data_set_are_texts() -> None:
    row = haerae_rows()[0]
    record = {name: [HOSTILE] if isinstance(value, list) else HOSTILE for name, value in row.record.items()}
    record["criteria"] = [{"text": HOSTILE, "points": 1, "kind": "additive"}]
    hostile = replace(row, record=record, images=(f'haerae-vision:"{HOSTILE}',))
    lock = [replace(lock_of({hostile.images[0]: b""})[0], attribution=HOSTILE)]
    shown = ShownPicture("data:image/png;base64,AAAA", HOSTILE)
    page = question_gallery(HAERAE, [hostile], lock, {hostile.images[0]: shown})
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("<img ") == 1
    assert page.count("<script>") == 1
    assert "49" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_an_item_that_is_only_paired_shows_both_wordings() -> None:
    paired = [row for row in haerae_rows() if "/paired/" in row.id]
    page = question_gallery(HAERAE, paired, [], {})
    assert re.findall(r'<section data-config="([^"]*)"', page) == ["original", "explicit"] * 3
    assert page.count('<div class="missing">missing</div>') == 10


def test_what_can_be_read_of_a_checklist_or_not_is_shown() -> None:
    row = haerae_rows()[0]
    bare = replace(row, record={**row.record, "checklist": [], "checklist_raw": "그대로 둔 글"})
    page = question_gallery(HAERAE, [bare], [], {})
    assert "checklist, as published" in page
    assert "그대로 둔 글" in page
    nothing = replace(row, record={"question": "무엇인가요?", "category": None})
    assert "무엇인가요?" in question_gallery(HAERAE, [nothing], [], {})


def test_a_cut_picture_shows_what_is_there_and_says_so() -> None:
    whole = jpeg(size=(900, 700))
    assert (remains(cut(whole)) or "").startswith("data:image/webp")
    assert remains(b"\x89PNG no picture") is None
    with pytest.raises(OSError, match="truncated"):
        # The switch that reads cut pictures is off again.
        thumbnail(cut(whole))
    page = question_gallery(HAERAE, haerae_rows()[:1], [], {"haerae-vision:10/0": ShownPicture(None, "damaged: no")})
    assert "cannot be shown" in page
    assert "damaged: no" in page


@pytest.mark.parametrize("by_id", [False, True])
def test_pictures_of_built_questions_are_found(tmp_path: Path, by_id: bool) -> None:
    for rows in (haerae_rows(), koffvqa_rows()):
        pictures = pictures_of(rows)
        folder = build(tmp_path / rows[0].id.partition("/")[0], rows, pictures, by_id=by_id)
        found = list(built_pictures(folder))
        assert len(found) == len(pictures)
        assert {image_id: cell["bytes"] for image_id, cell in found} == pictures


def test_tables_and_rows_that_do_not_fit_are_explained(tmp_path: Path) -> None:
    rows = koffvqa_rows()
    folder = build(tmp_path / "k", rows, pictures_of(rows))
    text = (folder / "rows.jsonl").read_text("utf-8")
    for changed, got in (
        (text + text.splitlines()[0].replace("/1", "/9") + "\n", "fewer"),
        (text.partition("\n")[0], "more"),
    ):
        (folder / "rows.jsonl").write_text(changed, "utf-8")
        with pytest.raises(InputError, match="do not hold the rows") as caught:
            list(built_pictures(folder))
        assert caught.value.got == got


def test_forms_and_agreement_are_of_instances_only(tmp_path: Path) -> None:
    from hannun.reconstruct.store import Store

    from hannun import pages

    rows = koffvqa_rows()
    folder = build(tmp_path / "k", rows, pictures_of(rows))
    tries: list[Callable[[], Any]] = [
        lambda: pages.write_forms(folder, Store(tmp_path / "store"), tmp_path / "forms"),
        lambda: pages.agreement_of(folder, []),
    ]
    for each in tries:
        with pytest.raises(InputError, match="instances only") as caught:
            each()
        assert "hannun gallery" in str(caught.value.todo)
    assert not (tmp_path / "forms").exists()


def test_filters_by_category_config_pictures_and_words(browser: Any, haerae: Path) -> None:
    shown = Page(browser, haerae)
    assert shown.shown() == 3
    assert [each.text for each in shown.all("[name=pictures] option")] == ["all", "1", "3", "6"]
    shown.choose("category", "게임")
    assert [each.text for each in shown.all(".item:not([hidden]) h2")] == ["게임"]
    shown.choose("category", "all")
    shown.choose("pictures", "3")
    assert [each.text for each in shown.all(".item:not([hidden]) h2")] == ["IT/컴퓨터"]
    shown.all("[type=reset]")[0].click()
    shown.choose("config", "explicit")
    assert shown.shown() == 3
    assert {each.text for each in shown.all("[data-config]") if each.is_displayed()} == {
        f"explicit\n{row.record['question']}" for row in haerae_rows() if "/explicit/" in row.id
    }
    shown.all("[type=reset]")[0].click()
    # Decomposed, as a macOS keyboard or file may give it.
    shown.all("[name=search]")[0].send_keys(unicodedata.normalize("NFD", "열쇠가 북쪽"))
    assert shown.shown() == 1
    shown.all("[name=search]")[0].send_keys(" 없는말")
    assert shown.shown() == 0
    assert shown.all(".none")[0].is_displayed()


def test_keys_move_search_and_hide_answers(browser: Any, haerae: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    shown = Page(browser, haerae)
    focused = "return document.activeElement.id"
    shown.press("j")
    assert shown.js(focused) == "haerae-vision-2"
    shown.press("jj")
    assert shown.js(focused) == "haerae-vision-11"
    shown.press("k")
    assert shown.js(focused) == "haerae-vision-10"
    shown.press("b")
    assert not any(each.is_displayed() for each in shown.all(".answer"))
    shown.press("b")
    assert all(each.is_displayed() for each in shown.all(".answer"))
    shown.press("/")
    shown.press("b")
    assert shown.js("return document.activeElement.value") == "b"
    shown.press(Keys.ESCAPE)
    shown.press("?")
    assert shown.all("#keys")[0].is_displayed()
    shown.press(Keys.ESCAPE)
    shown.all("[type=reset]")[0].click()
    button = shown.all("figure button")[0]
    shown.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert shown.all("#picture p")[0].text == "haerae-vision:2/0"
    assert shown.all("#picture .credit")[0].text == "Photo: haerae-vision:2/0 · CC-BY-4.0"
    assert shown.js("return document.querySelector('.large').style.backgroundImage.startsWith('url(\"data:')")


@pytest.mark.parametrize("width", [500, 1280])
@pytest.mark.parametrize("which", ["haerae", "koffvqa"])
def test_it_fits_its_window_in_light_and_dark(
    browser: Any, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    shown = Page(browser, request.getfixturevalue(which), width)
    assert shown.js("return document.documentElement.scrollWidth <= window.innerWidth")
    if which == "haerae":
        tops = shown.js(
            "return [...document.querySelector('.wordings').children].map(e => e.getBoundingClientRect().top)"
        )
        assert (tops[0] == tops[1]) == (width > 800)
    # Line breaks of a question are kept.
    assert shown.js("return getComputedStyle(document.querySelector('.text')).whiteSpaceCollapse") == "preserve"
    grounds = []
    for _ in range(2):
        grounds.append(shown.js("return getComputedStyle(document.body).backgroundColor"))
        own = [".problem"] if which == "haerae" else ["caption", ".points"]
        for selector in (".item h2", ".item header span", ".item header code", "h3", ".text", ".answer .text", *own):
            assert shown.js(CONTRAST, selector) >= 4.5, selector
        shown.all("#theme")[0].click()
    assert grounds[0] != grounds[1]
