"""The report page: what it holds, and how it behaves in a real browser at two widths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hannun.cards.report_page import MOST_IMAGES, MOST_ROWS, report_page
from hannun.cards.thumbnail import thumbnail
from hannun.schemas import json_schema
from hannun.schemas.outcome import Outcome
from pictures import jpeg

HOSTILE = "</style><script>alert('1')</script>\"'&{{ 7 * 7 }}<img src=x onerror=alert(2)>"
SHA256, OTHER = "a" * 64, "b" * 64


def image(image_id: str, outcome: Outcome, *tried: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    known = {"bytes": 20_480, "width": 640, "height": 480, "format": "JPEG"}
    return {
        "image_id": image_id,
        "outcome": outcome.value,
        "tried": [{"location": where, "outcome": outcome.value, "note": note} for where, note in tried],
        "expected": {"digests": {"sha256": SHA256, "sha1": "c" * 40}, **known},
        "got": {"digests": {"sha256": OTHER, "sha1": "d" * 40, "md5": "e" * 32}, **known, "width": 320, "height": 240},
        "licence": "CC-BY-SA-4.0",
        "attribution": None,
        "next_step": outcome.next_step,
        "used_by": ["sage/vwsd-1", "sage/vwsd-2"],
        **more,
    }


def report(*images: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A report as `make_report` gives it, of three exact images and these."""
    outcomes: dict[str, int] = {"exact": 3}
    hosts: dict[str, dict[str, int]] = {"example.org": {"exact": 3}}
    for each in images:
        outcomes[each["outcome"]] = outcomes.get(each["outcome"], 0) + 1
        where = each["tried"][0]["location"] if each["tried"] else "https://example.org/"
        of_host = hosts.setdefault(where.split("/")[2] if "//" in where else where.partition("!")[0], {})
        of_host[each["outcome"]] = of_host.get(each["outcome"], 0) + 1
    value = {
        "tool": "hannun 0.1.0",
        "benchmark": "sage-vwsd",
        "made": "2026-01-02T10:00:00Z",
        "first_observed": "2026-01-01T10:00:00Z",
        "last_observed": "2026-01-02T09:00:00Z",
        "counts": {"images": 3 + len(images), "accepted": 3, "outcomes": outcomes},
        "hosts": hosts,
        "licences": [{"licence": None, "url": None, "images": 3 + len(images), "attributed": 0}],
        "images": list(images),
        "substitutions": [],
        "dropped": [],
        "false_negatives": [],
        **more,
    }
    assert json_schema.problems("report", value) == []
    return value


RECOMPRESSED = image(
    "coco:val2014/000000000001",
    Outcome.SIMILAR,
    ("https://images.example.org/1.jpg", "resized 640 x 480 expected, 320 x 240 got"),
)
GONE = image(
    "commons:한글 이름.jpg",
    Outcome.GONE,
    ("http://old.example.net/2.jpg", None),
    ("https://images.example.org/2.jpg", "status 404"),
    got={},
)
FROM_ARCHIVE = image("vwsd:image.3.jpg", Outcome.DAMAGED, ("archive:vwsd!image.3.jpg", "cannot be decoded"))
BY_HAND = image("coco:val2014/000000000004", Outcome.CHANGED, ("local:coco!4.jpg", None))
PENDING = image("coco:val2014/000000000005", Outcome.PENDING, got={}, used_by=[])
RECORDED = image("vwsd:image.6.jpg", Outcome.UNVERIFIED, ("https://images.example.org/6.jpg", None))
REPORT = report(RECORDED, PENDING, RECOMPRESSED, GONE, FROM_ARCHIVE, BY_HAND)
RED, BLUE = thumbnail(jpeg((200, 0, 0))), thumbnail(jpeg((0, 0, 200)))


def ids(page: str) -> list[str]:
    return re.findall(r"<h2><code>(.*?)</code>", page)


def test_the_page_needs_nothing_from_outside_and_loads_nothing() -> None:
    page = report_page(REPORT, {RECOMPRESSED["image_id"]: (RED, BLUE)})
    assert re.findall(r"src=[\"'](?!data:)[^\"']*", page) == []
    assert re.findall(r"url\(|@import|<link(?! rel=\"icon\" href=\"data:,\")", page) == []
    assert "default-src 'none'; img-src data:" in page
    assert "sage-vwsd: 3 of 9 images accepted" in page
    assert "2026-01-02 10:00:00 UTC; observed 2026-01-01 10:00:00 UTC to 2026-01-02 09:00:00 UTC" in page
    assert "observed never" in report_page(report(first_observed=None, last_observed=None), {})
    assert "Every image is exact." in report_page(report(), {})


def test_what_a_person_must_look_at_comes_first() -> None:
    wanted = (RECOMPRESSED, BY_HAND, FROM_ARCHIVE, GONE, PENDING, RECORDED)
    assert ids(report_page(REPORT, {})) == [each["image_id"] for each in wanted]


def test_only_web_addresses_become_links() -> None:
    strange = (
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//example.org/a",
        "https:a",
        " https://b/",
    )
    page = report_page(
        report(image("a:1", Outcome.GONE, *((each, None) for each in strange), ("HTTPS://C/d", None))), {}
    )
    assert re.findall(r"<a [^>]*>", page) == ['<a href="HTTPS://C/d" rel="noreferrer">']
    for each in strange:
        assert f"<code>{each}</code>" in page


def test_texts_of_others_are_texts() -> None:
    hostile = image(
        f"a:{HOSTILE}",
        Outcome.GONE,
        (f"https://{HOSTILE}", HOSTILE),
        (f"archive:{HOSTILE}!b", None),
        expected={"digests": {HOSTILE: HOSTILE}, "format": HOSTILE},
        next_step=HOSTILE,
        used_by=[HOSTILE],
    )
    page = report_page(
        report(
            hostile,
            tool=HOSTILE,
            benchmark=HOSTILE,
            first_observed=HOSTILE,
            last_observed=HOSTILE,
            hosts={HOSTILE: {"gone": 1}},
            substitutions=[
                {
                    "what": "candidate",
                    "id": HOSTILE,
                    "place": 1,
                    "planned": "a:1",
                    "built": f"a:{HOSTILE}",
                    "why": HOSTILE,
                }
            ],
            dropped=[{"id": HOSTILE, "reason": HOSTILE}],
            false_negatives=[{"id": HOSTILE, "image_id": f"a:{HOSTILE}", "why": HOSTILE}],
        ),
        {f"a:{HOSTILE}": (f'data:,"{HOSTILE}', HOSTILE)},
    )
    assert page.count("<script") == page.count("</script>") == 1
    assert page.count("</style>") == 1
    assert "<img src=x" not in page
    assert "49" not in re.sub(r"#[0-9a-f]+", "", page.partition("<body>")[2])
    assert page.count("{{ 7 * 7 }}") >= 15


def test_both_sides_and_what_differs() -> None:
    changed = image(
        "a:1", Outcome.DIFFERENT, ("https://h/1", "n"), got={**RECOMPRESSED["got"], "channel_difference": [67, 3.566]}
    )
    page = report_page(report(changed), {})
    assert "<code class=differs>640 × 480</code>" in page
    assert "<code class=differs>320 × 240</code>" in page
    assert page.count("<code>20,480</code>") == 2
    assert f"<code class=differs>{OTHER}</code>" in page
    assert "e" * 32 not in page  # a digest that the lock does not hold says nothing
    assert "at most 67 of 255, 3.57 in the mean" in page
    assert ">unknown<" not in page
    # Where the lock holds no digest, the identity of what came is what may be locked.
    unknown = image("a:2", Outcome.UNVERIFIED, ("https://h/2", None), expected={"digests": {}, "format": "JPEG"})
    page = report_page(report(unknown), {})
    assert f'<td><span class="unknown">unknown</span></td><td><code>{OTHER}</code></td>' in page
    assert "e" * 32 not in page
    # A side of which nothing is known has no column.
    for one_sided, column in (({"expected": {"digests": {}}}, "got"), ({"got": {}}, "expected")):
        page = report_page(report(image("a:3", Outcome.GONE, **one_sided)), {})
        assert f'<table class="sides"><tr><th></th><th scope="col">{column}</th></tr>' in page
        assert ">unknown<" not in page
    assert '<table class="sides">' not in report_page(report(image("a:4", Outcome.GONE, expected={}, got={})), {})


def test_pictures_stand_beside_each_other_where_they_exist() -> None:
    pictures = {
        RECOMPRESSED["image_id"]: (RED, BLUE),
        BY_HAND["image_id"]: (None, BLUE),
        GONE["image_id"]: (None, None),
    }
    page = report_page(REPORT, pictures)
    assert re.findall(r'<img src="([^"]*)" alt="(\w+)"', page) == [(RED, "expected"), (BLUE, "got"), (BLUE, "got")]


def test_long_lists_are_cut_and_say_so() -> None:
    many = [image(f"a:{n}", Outcome.UNVERIFIED, ("https://h/1", None)) for n in range(MOST_IMAGES)]
    dropped = [{"id": f"row {n}", "reason": "gold is gone"} for n in range(MOST_ROWS + 2)]
    hosts = {f"h{n}.example.org": {"gone": n + 1} for n in range(MOST_ROWS + 1)}
    page = report_page(report(*many, GONE, dropped=dropped, hosts=hosts), {})
    # The last image of the report is the one that matters.
    assert ids(page)[0] == GONE["image_id"]
    assert len(ids(page)) == MOST_IMAGES
    assert "Shown are 5,000 of 5,001 images that are not exact; report.json holds all." in page
    assert f"Shown are {MOST_ROWS} of {MOST_ROWS + 2} rows" in page
    assert f"Shown are {MOST_ROWS} of {MOST_ROWS + 1} hosts" in page
    # The host with the fewest images is the one left out.
    assert "h1.example.org" in page
    assert "h0.example.org" not in page
    assert "Shown are" not in report_page(REPORT, {})


def test_bars_are_as_long_as_their_shares() -> None:
    page = report_page(report(GONE, hosts={"a.example": {"exact": 3, "gone": 1}, "b.example": {"gone": 1}}), {})
    outcomes, hosts = (re.search(rf'<table id="{name}">.*?</table>', page, re.DOTALL) for name in ("outcomes", "hosts"))
    assert outcomes is not None
    assert hosts is not None
    assert re.findall(r"width: ([\d.]+)%", outcomes[0]) == ["75.00", "25.00"]
    assert re.findall(r"width: ([\d.]+)%", hosts[0]) == ["100.00", "25.00"]
    assert re.findall(r'<i class="(\w+)" style="flex-grow: (\d+)">', hosts[0]) == [
        ("good", "3"), ("lost", "1"), ("lost", "1"),
    ]  # fmt: skip


class Page:
    """The report in a browser."""

    def __init__(self, browser: Any, path: Path, width: int = 1280) -> None:
        self.browser = browser
        browser.set_window_size(width, 900)
        browser.get(path.as_uri())

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def js(self, code: str, *arguments: Any) -> Any:
        return self.browser.execute_script(code, *arguments)

    def shown(self) -> list[str]:
        return self.js("return [...document.querySelectorAll('.item:not([hidden]) h2')].map(h => h.textContent)")

    def choose(self, name: str, value: str) -> None:
        from selenium.webdriver.support.select import Select

        Select(self.all(f"[name={name}]")[0]).select_by_visible_text(value)

    def press(self, keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(keys).perform()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    long_address = "https://upload.example.org/" + "very/long/path/without/a/blank/" * 8 + "%ED%95%9C.jpg"
    long = image("commons:" + "Long_name_" * 20 + ".jpg", Outcome.REFUSED, (long_address, "robots policy " * 20))
    path = tmp_path / "report.html"
    text = report_page(
        report(
            *REPORT["images"],
            long,
            dropped=[{"id": "sage/" + "r" * 200, "reason": "gold is gone"}],
            substitutions=[
                {
                    "what": "candidate",
                    "id": "sage/1",
                    "place": 3,
                    "planned": "a:" + "1" * 90,
                    "built": "a:2",
                    "why": "gone",
                }
            ],
        ),
        {RECOMPRESSED["image_id"]: (RED, BLUE), BY_HAND["image_id"]: (None, BLUE)},
    )
    path.write_text(text, "utf-8")
    return path


def test_filters_by_outcome_host_and_words(browser: Any, page: Path) -> None:
    shown = Page(browser, page)
    everything = shown.shown()
    assert len(everything) == 7
    shown.choose("outcome", "gone")
    assert shown.shown() == [GONE["image_id"]]
    assert shown.all("output")[0].text == "1 / 7"
    shown.choose("host", "archive:vwsd")
    assert shown.shown() == []
    assert shown.all(".none")[0].is_displayed()
    shown.all("#clear")[0].click()
    assert shown.shown() == everything
    # An image fits every host that was tried for it, not only the last.
    shown.choose("host", "old.example.net")
    assert shown.shown() == [GONE["image_id"]]
    shown.choose("host", "images.example.org")
    assert set(shown.shown()) == {each["image_id"] for each in (RECOMPRESSED, GONE, RECORDED)}
    shown.choose("host", "local:coco")
    assert shown.shown() == [BY_HAND["image_id"]]
    shown.all("#clear")[0].click()
    # Decomposed, as a macOS keyboard or file may give it; and two words in any order.
    import unicodedata

    shown.all("[name=search]")[0].send_keys(unicodedata.normalize("NFD", "404 한글"))
    assert shown.shown() == [GONE["image_id"]]


def test_the_tables_choose_what_is_listed(browser: Any, page: Path) -> None:
    shown = Page(browser, page)
    assert [each.text for each in shown.all("#outcomes button")] == [
        "unverified", "similar", "changed", "damaged", "gone", "refused", "pending",
    ]  # fmt: skip
    shown.choose("host", "archive:vwsd")
    shown.all("[data-value=similar]")[0].click()
    assert shown.shown() == [RECOMPRESSED["image_id"]]
    shown.all('#hosts [data-value="old.example.net"]')[0].click()
    assert shown.shown() == [GONE["image_id"]]


def test_keys_move_and_search(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    shown = Page(browser, page)
    focused = "return document.activeElement.querySelector('h2').textContent"
    order = shown.shown()
    shown.press("j")
    assert shown.js(focused) == order[0]
    shown.press("jj")
    assert shown.js(focused) == order[2]
    shown.press("k")
    assert shown.js(focused) == order[1]
    shown.press("/")
    assert shown.js("return document.activeElement.name") == "search"
    shown.press("jk")
    assert shown.js("return document.activeElement.value") == "jk"
    shown.press(Keys.ESCAPE)
    assert shown.js("return document.activeElement.name") != "search"
    shown.press("?")
    assert shown.all("#keys")[0].is_displayed()
    shown.press(Keys.ESCAPE)
    assert not shown.all("#keys")[0].is_displayed()


def test_hostile_texts_and_hosts_stay_texts_in_the_browser(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    hostile = image(f"a:{HOSTILE}", Outcome.GONE, (f"https://{HOSTILE}", HOSTILE), (f"archive:{HOSTILE}!b", HOSTILE))
    path.write_text(report_page(report(hostile, GONE), {f"a:{HOSTILE}": (RED, BLUE)}), "utf-8")
    shown = Page(browser, path)
    assert shown.shown() == [GONE["image_id"], f"a:{HOSTILE}"] or shown.shown() == [f"a:{HOSTILE}", GONE["image_id"]]
    assert shown.js("return document.images.length") == 2
    shown.choose("host", f"archive:{HOSTILE}")
    assert shown.shown() == [f"a:{HOSTILE}"]


@pytest.mark.parametrize("width", [500, 1280])
def test_it_fits_its_window_in_light_and_dark(browser: Any, page: Path, width: int) -> None:
    shown = Page(browser, page, width)
    shown.js("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert shown.js("return document.documentElement.scrollWidth <= window.innerWidth")
    assert shown.js(
        "return [...document.querySelectorAll('.panel, .item, td')].every(e => e.scrollWidth <= e.clientWidth + 1)"
    )
    # Both pictures in one row, at every width.
    tops = shown.js("return [...document.querySelectorAll('.pictures')][0].innerText && "
                    "[...document.querySelector('.pictures').children].map(e => e.getBoundingClientRect().top)")  # fmt: skip
    assert len(tops) == 2
    assert tops[0] == tops[1]
    grounds = []
    for _ in range(2):
        grounds.append(shown.js("return getComputedStyle(document.body).backgroundColor"))
        # Text stands off its ground: WCAG's 4.5 for what is read.
        for selector in (
            ".look .tag",
            ".lost .tag",
            ".open .tag",
            ".good .tag",
            ".item li span",
            ".item dt",
            ".differs",
        ):
            assert shown.js(CONTRAST, selector) >= 4.5, selector
        shown.all("#theme")[0].click()
    assert grounds[0] != grounds[1]


def test_five_thousand_entries_are_no_burden(browser: Any, tmp_path: Path) -> None:
    hosts = [f"h{n}.example.org" for n in range(40)]
    many = [
        image(
            f"coco:val2014/{n:012}",
            Outcome.GONE if n % 3 else Outcome.SIMILAR,
            (f"https://{hosts[n % 40]}/{n}.jpg", "x"),
        )
        for n in range(MOST_IMAGES)
    ]
    path = tmp_path / "report.html"
    path.write_text(report_page(report(*many), {}), "utf-8")
    shown = Page(browser, path)
    assert len(shown.shown()) == MOST_IMAGES
    assert shown.js("return getComputedStyle(document.querySelector('.item')).contentVisibility") == "auto"
    shown.choose("host", "h7.example.org")
    assert len(shown.shown()) == MOST_IMAGES // 40
    shown.choose("outcome", "similar")
    assert 0 < len(shown.shown()) < MOST_IMAGES // 40
    shown.all("[name=search]")[0].send_keys("000000004967")
    assert shown.shown() == []
    shown.choose("outcome", "all")
    assert shown.shown() == ["coco:val2014/000000004967"]


CONTRAST = """
const luminance = (c) => c.match(/[0-9.]+/g).slice(0, 3).map(Number)
  .map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
const element = document.querySelector(arguments[0]);
const [a, b] = [getComputedStyle(element).color, getComputedStyle(element.closest('.item')).backgroundColor].map(luminance);
return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
"""
