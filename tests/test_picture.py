from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hannun.reconstruct.compare import compare, needs_decoding
from hannun.reconstruct.picture import PictureFacts, PictureProblem, examine, format_of
from hannun.schemas.digest import digests_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome, best, is_accepted
from pictures import encoded, jpeg, png
from PIL import Image


def pixels(data: bytes) -> str:
    facts = examine(data)
    assert isinstance(facts, PictureFacts)
    assert facts.pixels is not None
    return facts.pixels["sha256"]


def test_the_pixel_digest_is_the_stated_one() -> None:
    expected = hashlib.sha256(b"RGB 12 8\n" + bytes([200, 30, 30]) * 96).hexdigest()
    assert pixels(png()) == expected
    facts = examine(png())
    assert isinstance(facts, PictureFacts)
    assert (facts.width, facts.height, facts.format) == (12, 8, "PNG")
    assert facts.pixels is not None
    assert facts.pixels["decoder"].startswith("Pillow ")


def test_transparency_lies_on_white_and_orientation_is_applied() -> None:
    assert pixels(png((0, 0, 0, 0), mode="RGBA")) == pixels(png((255, 255, 255)))
    palette = Image.new("P", (12, 8), 0)
    palette.putpalette([9, 9, 9] * 256)
    assert pixels(encoded(palette, "PNG", transparency=0)) == pixels(png((255, 255, 255)))
    wide = Image.new("RGB", (4, 2), (1, 2, 3))
    wide.putpixel((0, 0), (250, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = encoded(wide, "PNG", exif=exif)
    assert pixels(turned) == pixels(encoded(wide.transpose(Image.Transpose.ROTATE_270), "PNG"))
    facts = examine(turned)
    assert isinstance(facts, PictureFacts)
    assert (facts.width, facts.height) == (4, 2), "as stored, before orientation"


def test_the_first_bytes_tell_the_format(tmp_path: Path) -> None:
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "ICO"):
        path = tmp_path / kind
        path.write_bytes(encoded(Image.new("RGB", (16, 16)), kind))
        assert format_of(path) == kind
    for data in (b"", b"<svg></svg>", b"\xff\xd8", b"text"):
        path.write_bytes(data)
        assert format_of(path) is None


@pytest.mark.parametrize(
    ("data", "outcome", "note"),
    [
        (b"", Outcome.NOT_AN_IMAGE, "empty"),
        (b"<!DOCTYPE html><html>", Outcome.NOT_AN_IMAGE, "html"),
        (b"\n  <HTML><body>", Outcome.NOT_AN_IMAGE, "html"),
        (b'{"error": "gone"}', Outcome.NOT_AN_IMAGE, "json"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", Outcome.NOT_AN_IMAGE, "LFS"),
        (b'<?xml version="1.0"?><Error/>', Outcome.NOT_AN_IMAGE, "xml"),
        (b'<?xml version="1.0"?>\n<svg xmlns="x">', Outcome.UNSUPPORTED_FORMAT, "svg"),
        (b"<svg>", Outcome.UNSUPPORTED_FORMAT, "svg"),
        (b"random bytes of nothing", Outcome.DAMAGED, "no decoder"),
        (jpeg()[:-300], Outcome.DAMAGED, "cannot be decoded"),
        (png()[:-30], Outcome.DAMAGED, "cannot be decoded"),
    ],
)
def test_what_is_no_picture_is_named(data: bytes, outcome: Outcome, note: str) -> None:
    problem = examine(data)
    assert isinstance(problem, PictureProblem)
    assert problem.outcome is outcome
    assert note in problem.note


def test_nothing_over_the_pixel_cap_is_decoded() -> None:
    problem = examine(png(size=(100, 101)), max_pixels=10_000)
    assert isinstance(problem, PictureProblem)
    assert problem.outcome is Outcome.TOO_LARGE
    assert isinstance(examine(png(size=(100, 100)), max_pixels=10_000), PictureFacts)


def entry(**facts: object) -> LockEntry:
    return LockEntry("p:1", ("https://h/1",), **facts)


def facts_of(data: bytes) -> PictureFacts | PictureProblem:
    return examine(data)


ORIGINAL = png()
REENCODED = encoded(Image.new("RGB", (12, 8), (200, 30, 30)), "BMP")
OTHER = png((1, 2, 3))
KNOWN = examine(ORIGINAL)
assert isinstance(KNOWN, PictureFacts)


@pytest.mark.parametrize(
    ("locked", "data", "outcome"),
    [
        ({"digests": digests_of(ORIGINAL)}, ORIGINAL, Outcome.EXACT),
        ({"digests": {"md5": hashlib.md5(ORIGINAL).hexdigest()}}, ORIGINAL, Outcome.EXACT),
        ({"digests": digests_of(ORIGINAL)}, REENCODED, Outcome.CHANGED),
        ({"digests": digests_of(ORIGINAL), "pixels": KNOWN.pixels}, REENCODED, Outcome.SAME_PIXELS),
        ({"digests": digests_of(ORIGINAL), "pixels": KNOWN.pixels}, OTHER, Outcome.DIFFERENT),
        ({"digests": {}, "pixels": KNOWN.pixels}, OTHER, Outcome.DIFFERENT),
        ({"digests": digests_of(ORIGINAL), "pixels": {"sha256": "0", "decoder": "Pillow 1"}}, OTHER, Outcome.CHANGED),
        ({}, OTHER, Outcome.UNVERIFIED),
        ({}, b"<html>", Outcome.NOT_AN_IMAGE),
        ({"digests": digests_of(ORIGINAL)}, ORIGINAL[:-30], Outcome.DAMAGED),
        # A locked picture that was cut when it was locked is exact.
        ({"digests": digests_of(ORIGINAL[:-30])}, ORIGINAL[:-30], Outcome.EXACT),
    ],
)
def test_the_digest_decides_first(locked: dict[str, object], data: bytes, outcome: Outcome) -> None:
    digests = {**digests_of(data), "md5": hashlib.md5(data).hexdigest()}
    expected = entry(**locked)
    assert compare(expected, digests, examine(data))[0] is outcome
    assert needs_decoding(expected, digests) is (outcome is not Outcome.EXACT)
    if outcome is Outcome.EXACT:
        assert compare(expected, digests, None)[0] is outcome


def test_an_images_outcome_is_its_best_attempt() -> None:
    assert best([]) is Outcome.PENDING
    assert best([Outcome.GONE, Outcome.EXACT, Outcome.THROTTLED]) is Outcome.EXACT
    assert best([Outcome.SERVER_ERROR, Outcome.GONE]) is Outcome.GONE


def test_what_is_accepted() -> None:
    accepted = {each for each in Outcome if is_accepted(each)}
    assert accepted == {Outcome.EXACT, Outcome.UNVERIFIED}
    assert not is_accepted(Outcome.UNVERIFIED, locked=True)
    assert is_accepted(Outcome.SAME_PIXELS, accept=frozenset({Outcome.SAME_PIXELS}))
