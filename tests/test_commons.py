"""Addresses of upload.wikimedia.org, and licence metadata."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.commons import CommonsFile, attribution_of, licence_of, plain_text, read, width_allowed
from hannun.schemas.outcome import Outcome
from hypothesis import assume, given
from hypothesis import strategies as st

COMMONS = "https://upload.wikimedia.org/wikipedia/commons"
NEWS = "https://upload.wikimedia.org/wikinews/en"


def folders(name: str) -> str:
    digest = hashlib.md5(name.encode()).hexdigest()
    return f"{digest[0]}/{digest[:2]}"


def test_a_known_file() -> None:
    # Its address is in MediaWiki's manual.
    file = read("https://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg")
    assert file == CommonsFile("wikipedia/commons", "Example.jpg")
    assert file.original == "https://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg"
    assert file.title == "File:Example.jpg"
    assert file.image_id == "commons:Example.jpg"
    assert file.api == "https://commons.wikimedia.org/w/api.php"


NAME = "Gyeongbok's_palace_(경복궁),_100%_c.tif"
ESCAPED = quote(NAME, safe="")
PLACE = folders(NAME)


@pytest.mark.parametrize(
    ("address", "file"),
    [
        (f"{COMMONS}/{PLACE}/{ESCAPED}", CommonsFile("wikipedia/commons", NAME)),
        (f"{COMMONS}/{PLACE}/{NAME}", CommonsFile("wikipedia/commons", NAME)),
        (f"{COMMONS}/{PLACE}/{NAME.replace('_', ' ')}", CommonsFile("wikipedia/commons", NAME)),
        (f"{COMMONS}/{PLACE}/{NAME.replace('_', '%20')}", CommonsFile("wikipedia/commons", NAME)),
        (f"{COMMONS}/{PLACE}/{unicodedata.normalize('NFD', NAME)}", CommonsFile("wikipedia/commons", NAME)),
        (f"{COMMONS}/{PLACE}/{ESCAPED}?20200101000000#x", CommonsFile("wikipedia/commons", NAME)),
        (f"{NEWS}/{PLACE}/{ESCAPED}", CommonsFile("wikinews/en", NAME)),
        (
            f"{COMMONS}/thumb/{PLACE}/{ESCAPED}/220px-{ESCAPED}.jpg",
            CommonsFile("wikipedia/commons", NAME, width=220),
        ),
        (
            f"{COMMONS}/thumb/{PLACE}/{ESCAPED}/lossy-page1-700px-{ESCAPED}.jpg",
            CommonsFile("wikipedia/commons", NAME, width=700, parameters="lossy-page1"),
        ),
        (
            f"{COMMONS}/{PLACE}/{ESCAPED}/lossless-page2-150px-{ESCAPED}.png",
            CommonsFile("wikipedia/commons", NAME, width=150, parameters="lossless-page2"),
        ),
        (
            f"{COMMONS}/thumb/{PLACE}/{ESCAPED}/langzh-hans-330px-{ESCAPED}.png",
            CommonsFile("wikipedia/commons", NAME, width=330, parameters="langzh-hans"),
        ),
        (f"{NEWS}/{PLACE}/{ESCAPED}/220px--{ESCAPED}.jpg", CommonsFile("wikinews/en", NAME, width=220)),
        (
            f"{NEWS}/{PLACE}/{ESCAPED}/320px-seek%3D30-{ESCAPED}.jpg",
            CommonsFile("wikinews/en", NAME, width=320, parameters="seek=30"),
        ),
        (
            f"{COMMONS}/thumb/{PLACE}/{ESCAPED}/250px-thumbnail.tif.jpg",
            CommonsFile("wikipedia/commons", NAME, width=250),
        ),
        (
            f"{COMMONS}/archive/{PLACE}/20190719181903%21{ESCAPED}",
            CommonsFile("wikipedia/commons", NAME, archived="20190719181903"),
        ),
        (
            f"{COMMONS}/thumb/archive/{PLACE}/20190719181903!{ESCAPED}/120px-{ESCAPED}.jpg",
            CommonsFile("wikipedia/commons", NAME, width=120, archived="20190719181903"),
        ),
    ],
)
def test_every_form_of_address(address: str, file: CommonsFile) -> None:
    assert read(address) == file
    assert read(file.original) == CommonsFile(file.project, file.name, archived=file.archived)


@pytest.mark.parametrize("prefix", ["nhttps:", "hhttps:", "]https:", "ttps:", " https:", "http:", "HTTPS:", "ttp:", ""])
def test_prefixes_spoilt_in_the_wikidiverse_data(prefix: str) -> None:
    assert read(f"{prefix}//upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg").name == "Example.jpg"


def test_ids_titles_and_apis() -> None:
    file = read(f"{NEWS}/archive/{PLACE}/20190719181903!{ESCAPED}")
    assert file.title == "File:Gyeongbok's palace (경복궁), 100% c.tif"
    assert file.image_id == f"wikinews-en:{NAME}@20190719181903"
    assert file.api == "https://en.wikinews.org/w/api.php"
    assert file.original == f"{NEWS}/archive/{PLACE}/20190719181903%21{ESCAPED}"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("https://example.org/wikipedia/commons/a/a9/Example.jpg", "not an address of upload.wikimedia.org"),
        ("https://upload.wikimedia.org.evil.example/wikipedia/commons/a/a9/Example.jpg", "not an address of"),
        ("xyhttps://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg", "not an address of"),
        ("ftp://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg", "not an address of"),
        (f"{COMMONS}/a/a9/", "not a file's path"),
        (f"{COMMONS}/Example.jpg", "not a file's path"),
        (f"{COMMONS}/transcoded/a/a9/Example.jpg/Example.480p.webm", "not a file's path"),
        (f"{COMMONS}/a/a9/Example.jpg/250px-Example.jpg/more", "not a file's path"),
        ("https://upload.wikimedia.org/wikipedia/evil.example%2F/a/a9/Example.jpg", "not a file's path"),
        ("https://upload.wikimedia.org/evil/en/a/a9/Example.jpg", "not a file's path"),
        (f"{COMMONS}/a/ab/Example.jpg", "belongs into a/a9, not a/ab"),
        (f"{COMMONS}/b/a9/Example.jpg", "belongs into a/a9, not b/a9"),
        (f"{COMMONS}/a/a9/Ex%C3%83%C2%A4mple.jpg", "belongs into"),
        (f"{COMMONS}/a/a9/Ex%E4mple.jpg", "UTF-8"),
        (f"{COMMONS}/a/a9/A%7CB.jpg", "no file can have the name"),
        (f"{COMMONS}/a/a9/A%2FB.jpg", "no file can have the name"),
        (f"{COMMONS}/a/a9/A%u0101.jpg", "%uXXXX"),
        (f"{COMMONS}/a/a9/A\x00.jpg", "U+0000"),
        (f"{COMMONS}/thumb/a/a9/Example.jpg", "without its width"),
        (f"{COMMONS}/thumb/a/a9/Example.jpg/250px-Other.jpg", "not a thumbnail of Example.jpg"),
        (f"{COMMONS}/thumb/a/a9/Example.jpg/mid-Example.jpg", "not a thumbnail of Example.jpg"),
        (f"{COMMONS}/thumb/a/a9/Example.jpg/0px-Example.jpg", "not a thumbnail of Example.jpg"),
        (f"{COMMONS}/archive/a/a9/Example.jpg", "TIMESTAMP!NAME"),
        (f"{COMMONS}/archive/a/a9/2019!Example.jpg", "TIMESTAMP!NAME"),
    ],
)
def test_what_is_no_file_is_refused_with_a_reason(address: str, why: str) -> None:
    with pytest.raises(Unusable) as caught:
        read(address)
    assert caught.value.outcome is Outcome.MALFORMED_ADDRESS
    assert why in caught.value.note


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="#<>[]|{}/\x7f"), min_size=1, max_size=30)


@given(NAMES, st.sampled_from(["wikipedia/commons", "wikinews/en", "wikipedia/zh-min-nan"]), st.integers(1, 9999))
def test_any_name_comes_back(name: str, project: str, width: int) -> None:
    name = unicodedata.normalize("NFC", name).replace(" ", "_")
    assume(all(character >= " " for character in name))
    file = CommonsFile(project, name)
    assert read(file.original) == file
    old = CommonsFile(project, name, archived="20010203040506")
    assert read(old.original) == old
    thumbnail = f"{width}px-{name}.png"
    address = f"https://upload.wikimedia.org/{project}/thumb/{folders(name)}/{quote(name, safe='')}/{quote(thumbnail)}"
    if "/" not in quote(thumbnail, safe=""):
        assert read(address) == CommonsFile(project, name, width=width)


def read_or_why(address: str) -> CommonsFile | str:
    try:
        return read(address)
    except Unusable as error:
        return error.note


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    for address in (text, f"{COMMONS}/a/a9/{text}", f"{COMMONS}/thumb/a/a9/Example.jpg/{text}", f"{COMMONS}/{text}"):
        file = read_or_why(address)
        if isinstance(file, str):
            assert file
        else:
            assert read(file.original).name == file.name


def test_widths_that_are_served() -> None:
    assert [width for width in range(4000) if width_allowed(width)] == [
        20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("Ann &amp; Bob &#39;&lt;3&#39;", "Ann & Bob '<3'"),
        ('<a href="//commons.wikimedia.org/wiki/User:Ann" title="User:Ann">Ann</a>', "Ann"),
        ("<p>Ann<br>Bob</p>\n<ul><li>one</li><li>two</li></ul>", "Ann Bob one two"),
        ("H<sub>2</sub>O", "H2O"),
        ('Unknown author<span style="display: none;">Unknown author</span>', "Unknown author"),
        ('<div style="DISPLAY:none"><b>x<br/>y</b>z<img src="w">!</div>Ann', "Ann"),
        ("<style>.a{}</style><script>alert(1)</script>Ann", "Ann"),
        ("a\u00a0b\n\tc", "a b c"),
        ("1 < 2", "1 < 2"),
        ("</b></span>Ann", "Ann"),
        ("<b>Ann", "Ann"),
        ("<!-- x -->Ann", "Ann"),
    ],
)
def test_plain_text_of_html(html: str, text: str) -> None:
    assert plain_text(html) == text


@given(st.text())
def test_plain_text_of_anything_is_one_line(html: str) -> None:
    text = plain_text(html)
    assert text == " ".join(text.split())


@given(st.text(st.characters(codec="utf-8", exclude_characters="<&\r")))
def test_text_without_markup_stays(text: str) -> None:
    assert plain_text(text) == " ".join(text.split())


def metadata(**fields: object) -> dict:
    return {name: {"value": value, "source": "commons-desc-page", "hidden": ""} for name, value in fields.items()}


@pytest.mark.parametrize(
    ("code", "spdx"),
    [
        ("cc-by-sa-4.0", "CC-BY-SA-4.0"),
        ("cc-by-2.0", "CC-BY-2.0"),
        ("CC-BY-SA-3.0-DE", "CC-BY-SA-3.0-DE"),
        ("cc-by-3.0-us", "CC-BY-3.0-US"),
        ("cc0", "CC0-1.0"),
        ("cc-by-sa-3.0-fr", None),
        ("cc-by-sa-4.0-de", None),
        ("cc-by-sa", None),
        ("cc-by-sa-3.0,2.5,2.0,1.0", None),
        ("pd", None),
        ("gfdl", None),
    ],
)
def test_spdx_is_never_guessed(code: str, spdx: str | None) -> None:
    licence = licence_of(metadata(License=code, LicenseShortName="as named"))
    assert licence == {"spdx": spdx, "name": "as named", "url": None}


def test_licence_and_attribution() -> None:
    full = metadata(
        License="cc-by-sa-3.0",
        LicenseShortName="CC BY-SA 3.0",
        LicenseUrl="https://creativecommons.org/licenses/by-sa/3.0",
        UsageTerms="Creative Commons",
        Artist='<a href="x">Ann &amp; Bob</a>',
    )
    assert licence_of(full) == {
        "spdx": "CC-BY-SA-3.0", "name": "CC BY-SA 3.0", "url": "https://creativecommons.org/licenses/by-sa/3.0",
    }  # fmt: skip
    assert attribution_of(full) == "Ann & Bob"
    assert attribution_of(full | metadata(Attribution="<b>© Ann</b>")) == "© Ann"
    assert attribution_of(full | metadata(Attribution=" <br> ")) == "Ann & Bob"
    assert licence_of(metadata(UsageTerms="Public domain")) == {"spdx": None, "name": "Public domain", "url": None}
    for nothing in ({}, metadata(Artist="", License="pd", LicenseUrl="javascript:alert(1)"), metadata(Artist=3)):
        assert licence_of(nothing) is None
        assert attribution_of(nothing) is None


@pytest.fixture
def wikidiverse(shared_cases: Path) -> Path:
    data = shared_cases.parent / "data"
    if not (data / "wikidiverse").is_dir():
        pytest.skip("the WikiDiverse data is not at hand")
    return data


def test_the_addresses_of_wikidiverse(wikidiverse: Path) -> None:
    records = json.loads((wikidiverse / "wikidiverse" / "KGMEL_WikiDiverse.json").read_text("utf-8"))
    addresses = [record["img-url"] for record in records if "img-url" in record]
    found = {address: read_or_why(address) for address in addresses}
    refused = {address: why for address, why in found.items() if isinstance(why, str)}
    assert [address.rpartition("/")[2] for address in refused] == ["Warm_up_athletics_2607.JPG"] * 3
    assert all("belongs into f/f1" in why for why in refused.values())
    whole = {address: file for address, file in found.items() if isinstance(file, CommonsFile) and file.width is None}
    # The address that is rebuilt from nothing but the name is the one in the data.
    assert [file.original for file in whole.values()] == list(whole)
    assert (len(addresses), len(found), len(whole)) == (7179, 6629, 6466)


def test_the_non_standard_addresses_of_wikidiverse(wikidiverse: Path) -> None:
    addresses = (wikidiverse / "derived" / "wikidiverse_nonstandard_urls.txt").read_text("utf-8").split()
    files = [read(address) for address in addresses]
    assert len(files) == 161
    assert sum(file.width is not None for file in files) == 160
    assert [file.archived for file in files if file.width is None] == ["20190719181903"]
