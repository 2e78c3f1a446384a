"""Addresses repaired without guessing, and one key for one resource."""

from __future__ import annotations

import json
import re
import string
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.canonical import canonical, key, request_target
from hannun.schemas.outcome import Outcome
from hypothesis import assume, example, given
from hypothesis import strategies as st

HANGUL = "/%EA%B2%BD%EB%B3%B5%EA%B6%81.jpg"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/경복궁.jpg", HANGUL),
        (HANGUL, HANGUL),
        (HANGUL.lower(), HANGUL.lower()),
        ("/Café – 1.jpg", "/Caf%C3%A9%20%E2%80%93%201.jpg"),
        ("/half%20done half.jpg", "/half%20done%20half.jpg"),
        ("/%2541.jpg", "/%2541.jpg"),
        ("/100%.png", "/100%25.png"),
        ("/100%", "/100%25"),
        ("/100%25.png", "/100%25.png"),
        ("/%%41%4", "/%25%41%254"),
        ("/%zz%u12", "/%25zz%25u12"),
        ("/%E9t%E9.jpg", "/%E9t%E9.jpg"),
        ("/\u1112\u1161\u11ab.jpg", "/%E1%84%92%E1%85%A1%E1%86%AB.jpg"),
        ("/한.jpg", "/%ED%95%9C.jpg"),
        ("/🍐.png", "/%F0%9F%8D%90.png"),
        ("/می\u200cخواهم.jpg", "/%D9%85%DB%8C%E2%80%8C%D8%AE%D9%88%D8%A7%D9%87%D9%85.jpg"),
        ("/a%E2%80%8Bb.jpg", "/a%E2%80%8Bb.jpg"),
        ("/a/./b/../c//d.jpg", "/a/./b/../c//d.jpg"),
        ("/!$&'()*+,;=:@~-._.jpg", "/!$&'()*+,;=:@~-._.jpg"),
        ('/[a]{b}|c\\d^e`f"g<h>.jpg', "/%5Ba%5D%7Bb%7D%7Cc%5Cd%5Ee%60f%22g%3Ch%3E.jpg"),
        ("/a\u00a0b", "/a%C2%A0b"),
        ("", "/"),
        ("?q", "/?q"),
        ("#top", "/"),
        ("/a?", "/a?"),
        ("/a?b=1 0&b=%e9&c=/?[x]#d?e", "/a?b=1%200&b=%e9&c=/?%5Bx%5D"),
        ("/a?z=1&a=2&%=%", "/a?z=1&a=2&%25=%25"),
        ("/a#%u0101", "/a"),
    ],
)
def test_only_what_is_not_legal_is_escaped(path: str, target: str) -> None:
    assert request_target("http://host" + path) == target
    assert canonical("http://host" + path) == "http://host" + target


@pytest.mark.parametrize(
    ("address", "right"),
    [
        ("HTTP://Images.COCOdataset.ORG/A.jpg", "http://images.cocodataset.org/A.jpg"),
        ("https://host:443/a", "https://host/a"),
        ("http://host:080/a", "http://host/a"),
        ("http://host:/a", "http://host/a"),
        ("https://host:80/a", "https://host:80/a"),
        ("http://host:0/a", "http://host:0/a"),
        ("https://한국.kr/a", "https://xn--3e0b707e.kr/a"),
        ("https://BÜCHER.example:8443/a", "https://xn--bcher-kva.example:8443/a"),
        ("https://straße.example", "https://xn--strae-oqa.example/"),
        ("https://xn--bcher-kva.example./", "https://xn--bcher-kva.example./"),
        ("https://a_b.s3.example/x", "https://a_b.s3.example/x"),
        ("http://[2001:DB8::1]:8080/a", "http://[2001:db8::1]:8080/a"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("\u3000\thttps://host/a b \r\n", "https://host/a%20b"),
    ],
)
def test_the_part_before_the_path(address: str, right: str) -> None:
    assert canonical(address) == right


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "no scheme"),
        ("www.example.org/a.jpg", "no scheme"),
        ("//host/a.jpg", "no scheme"),
        ("]https://host/a.jpg", "no scheme"),
        ("https:/host/a.jpg", "no host"),
        ("https://", "no host"),
        ("https:///a.jpg", "no host"),
        ("http:\\\\host\\a.jpg", "no host"),
        ("http://host\\a.jpg/b", "not a host"),
        ("http://ho st/a", "not a host"),
        ("http://h%6fst/a", "not a host"),
        ("http://a..b/", "not a host"),
        ("http://.a/", "not a host"),
        (f"http://{'a' * 64}.example/", "not a host"),
        (f"http://{'a.' * 130}example/", "not a host"),
        ("http://\u0301.example/", "not a host"),
        ("http://[::1]x/", "not a host"),
        ("http://[fe80::1%25eth0]/", "not a host"),
        ("http://[::1/", "Invalid IPv6"),
        ("http://host:99999/", "Port out of range"),
        ("http://host:8x/", "Port could not be cast"),
        ("https://host/a\tb", "U+0009 at character 14"),
        ("https://host/a\nb", "U+000A"),
        ("https://host/\x00", "U+0000"),
        ("https://ho\u00adst/", "U+00AD"),
        ("https://host/a.jpg\u200b", "U+200B"),
        ("https://host/\u202egpj.a", "U+202E"),
        ("https://host/\ufffd.jpg", "U+FFFD"),
        ("https://host/\ud800.jpg", "U+D800"),
        ("https://host/%u0101.jpg", "%uXXXX"),
        ("https://host/a?b=%UAC00", "%uXXXX"),
    ],
)
def test_what_only_a_guess_could_repair_is_malformed(address: str, why: str) -> None:
    for function in (canonical, request_target, key):
        with pytest.raises(Unusable) as caught:
            function(address)
        assert caught.value.outcome is Outcome.MALFORMED_ADDRESS
        assert why in caught.value.note


@pytest.mark.parametrize(
    "address", ["ftp://host/a", "nhttps://host/a", "file:///etc/passwd", "https://me:secret@host/a", "https://me@host/"]
)
def test_what_must_not_be_asked_is_unsafe(address: str) -> None:
    with pytest.raises(Unusable) as caught:
        canonical(address)
    assert caught.value.outcome is Outcome.UNSAFE_ADDRESS
    assert "secret" not in caught.value.note


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://host/%ea%b2%bd", "https://HOST:443/경#x", True),
        ("https://host/%7Euser/%41", "https://host/~user/A", True),
        ("https://host", "https://host/", True),
        ("https://host/a%2fb", "https://host/a%2Fb", True),
        ("https://host/a%2Fb", "https://host/a/b", False),
        ("https://host/%2541", "https://host/%41", False),
        ("https://host/100%", "https://host/100%25", True),
        ("https://host/a?x=1&y=2", "https://host/a?y=2&x=1", False),
        ("https://host/a?", "https://host/a", False),
        ("https://host/\u1112\u1161\u11ab", "https://host/한", False),
        ("https://host/a", "http://host/a", False),
        ("https://host/a", "https://host/A", False),
        ("https://host/a/../b", "https://host/b", False),
        ("https://host/a!", "https://host/a%21", False),
    ],
)
def test_one_key_for_one_resource(one: str, other: str, same: bool) -> None:
    assert (key(one) == key(other)) is same


ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
LEGAL = re.compile(
    r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?"
    r"/([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
)
PIECES = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["%", "%4", "%41", "%ea%B2%bd", "%25", "%%", "/", "..", "?", "#", "[", "한", "é", " ", "%u00e9"]),
    st.text(string.printable, max_size=4),
)


def reason(address: str) -> Unusable | None:
    try:
        canonical(address)
    except Unusable as error:
        return error
    return None


@given(st.lists(PIECES, max_size=12).map("".join))
@example("/%2%35")
@example("/%%%41%")
def test_the_result_is_legal_final_and_the_same_bytes(tail: str) -> None:
    address = "https://host/" + tail
    assume(reason(address) is None)
    found = canonical(address)
    assert found.isascii()
    assert LEGAL.fullmatch(found)
    assert canonical(found) == found
    asked = address.strip().partition("#")[0].removeprefix("https://host")
    # Escaping changes no byte of what is meant, and every escape that was there is there as it was.
    assert unquote_to_bytes(request_target(address)) == unquote_to_bytes(asked.encode())
    escapes = iter(ESCAPE.findall(found))
    assert all(escape in escapes for escape in ESCAPE.findall(asked))
    if ESCAPE.sub("", asked).isascii() and re.fullmatch("[A-Za-z0-9/._~-]*", ESCAPE.sub("", asked)):
        assert found == "https://host" + asked


@given(st.lists(PIECES, max_size=12).map("".join))
def test_keys_are_final_and_the_same_bytes(tail: str) -> None:
    assume(reason("https://host/" + tail) is None)
    found = canonical("https://host/" + tail)
    assert LEGAL.fullmatch(key(found))
    assert key(key(found)) == key(found)
    assert unquote_to_bytes(key(found)) == unquote_to_bytes(found)


@given(st.text(max_size=20))
def test_any_text_is_an_address_or_says_why_not(text: str) -> None:
    for address in (text, "http://" + text, f"http://{text}/a"):
        refused = reason(address)
        if refused is None:
            assert LEGAL.fullmatch(canonical(address))
            assert urlsplit(canonical(address)).hostname
        else:
            assert refused.outcome in (Outcome.MALFORMED_ADDRESS, Outcome.UNSAFE_ADDRESS)
            assert refused.note


def test_the_addresses_of_the_public_reports(shared_cases: Path) -> None:
    rows = json.loads((shared_cases / "F09-url-encoding" / "urls.json").read_text("utf-8"))
    found = []
    for row in rows:
        path = row["manifest_path"]
        before = path[: len(path) - len(path.lstrip())]
        address = f"{before}http://host{path.lstrip()}"
        refused = reason(address)
        assert refused is None or refused.outcome is Outcome.MALFORMED_ADDRESS
        found.append({"manifest_path": path, "request_target": None if refused else request_target(address)})
    assert found == rows
