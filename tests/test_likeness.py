"""Likeness of pictures: which copies are known again and which pictures are not taken for each other."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.compare import compare
from hannun.reconstruct.likeness import INSTALL, MAX_BITS, MAX_COLOUR, Likeness, distance, is_similar, likeness
from hannun.reconstruct.picture import PictureFacts, as_seen, channel_difference, examine
from hannun.schemas import json_schema
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from hypothesis import given
from hypothesis import strategies as st
from pictures import encoded, jpeg, png
from PIL import Image, ImageDraw, ImageFilter

TIME = "2026-01-01T00:00:00Z"


def photograph(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """Something with a photograph's large shapes, soft edges, colours and grain; another one for each seed."""
    import numpy as np

    random = np.random.default_rng(seed)
    image = Image.new("RGB", size, tuple(map(int, random.integers(0, 255, 3))))
    draw = ImageDraw.Draw(image)
    for _ in range(14):
        x, y, w, h = (int(n) for n in random.integers(0, 400, 4))
        colour = tuple(map(int, random.integers(0, 255, 3)))
        (draw.ellipse if random.random() < 0.5 else draw.rectangle)((x, y, x + w, y + h), fill=colour)
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(9))).astype(float)
    return Image.fromarray((soft + random.normal(0, 6, soft.shape)).clip(0, 255).astype("uint8"))


def seen(data: bytes) -> Likeness:
    facts = examine(data, likeness=True)
    assert isinstance(facts, PictureFacts)
    assert facts.likeness is not None
    return Likeness(**facts.likeness)


def drop(colour: tuple[int, int, int]) -> bytes:
    image = Image.new("RGBA", (72, 72), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.polygon([(36, 4), (14, 44), (58, 44)], fill=colour)
    draw.ellipse((12, 26, 60, 70), fill=colour)
    return encoded(image, "PNG")


COPIES = {
    "jpeg 90": lambda image: encoded(image, "JPEG", quality=90),
    "jpeg 20": lambda image: encoded(image, "JPEG", quality=20),
    "webp 40": lambda image: encoded(image, "WEBP", quality=40),
    "256 colours": lambda image: encoded(image.quantize(256), "GIF"),
    "half": lambda image: encoded(image.resize((320, 240)), "JPEG", quality=80),
    "a quarter": lambda image: encoded(image.resize((160, 120)), "PNG"),
    "twice": lambda image: encoded(image.resize((1280, 960)), "JPEG", quality=80),
}


@pytest.mark.parametrize("seed", range(5))
def test_copies_of_a_photograph_are_known_again_and_other_ones_are_not(seed: int) -> None:
    original = photograph(seed)
    known = seen(encoded(original, "PNG"))
    for name, copy in COPIES.items():
        assert is_similar(known, seen(copy(original))), (name, distance(known, seen(copy(original))))
    for other in range(5, 25):
        assert not is_similar(known, seen(encoded(photograph(other), "PNG")))


def test_the_hash_alone_is_colour_blind() -> None:
    blue, red = seen(drop((85, 172, 238))), seen(drop((190, 25, 49)))
    bits, colour = distance(blue, red)
    assert bits <= MAX_BITS
    assert colour > MAX_COLOUR
    assert not is_similar(blue, red)
    grey = encoded(photograph(1).convert("L"), "PNG")
    assert distance(seen(encoded(photograph(1), "PNG")), seen(grey))[0] <= MAX_BITS
    assert not is_similar(seen(encoded(photograph(1), "PNG")), seen(grey))
    # One surface of one colour has no shapes at all.
    assert not is_similar(seen(png((200, 30, 30))), seen(png((30, 30, 200))))


def test_it_is_that_of_the_picture_as_seen() -> None:
    wide = photograph(3)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = encoded(wide, "PNG", exif=exif)
    assert seen(turned) == seen(encoded(wide.transpose(Image.Transpose.ROTATE_270), "PNG"))
    assert not is_similar(seen(turned), seen(encoded(wide, "PNG")))
    frames = io.BytesIO()
    photograph(1).save(frames, "PNG", save_all=True, append_images=[photograph(2)])
    assert seen(frames.getvalue()) == seen(encoded(photograph(1), "PNG"))
    assert seen(png((0, 0, 0, 0), mode="RGBA")) == seen(png((255, 255, 255)))
    assert seen(png((200, 30, 40))).colour == "c81e28" * 16
    halves = Image.new("RGB", (40, 40), (0, 0, 0))
    halves.paste((255, 255, 255), (20, 0, 40, 40))
    assert seen(encoded(halves, "PNG")).colour == ("000000" * 2 + "ffffff" * 2) * 4


HEX = st.sampled_from("0123456789abcdef")
LIKENESSES = st.builds(
    Likeness,
    st.text(HEX, min_size=16, max_size=16),
    st.text(HEX, min_size=96, max_size=96),
)


@given(LIKENESSES, LIKENESSES)
def test_distance_is_one(a: Likeness, b: Likeness) -> None:
    bits, colour = distance(a, b)
    assert distance(b, a) == (bits, colour)
    assert 0 <= bits <= 64
    assert 0 <= colour <= 255
    assert ((bits, colour) == (0, 0)) is (a == b)


def test_distance_counts_bits_and_the_worst_channel() -> None:
    black = Likeness("0" * 16, "0" * 96)
    assert distance(black, Likeness("8000000000000001", "0" * 96)) == (2, 0)
    assert distance(black, Likeness("0" * 16, "05" + "0" * 92 + "11")) == (0, 17)
    edge = Likeness(f"{2**MAX_BITS - 1:016x}", f"{MAX_COLOUR:02x}" + "0" * 94)
    assert is_similar(black, edge)
    assert not is_similar(black, Likeness(f"{2 ** (MAX_BITS + 1) - 1:016x}", "0" * 96))
    assert not is_similar(black, Likeness("0" * 16, f"{MAX_COLOUR + 1:02x}" + "0" * 94))


def locked(data: bytes, **more: Any) -> LockEntry:
    facts = examine(data, likeness=True)
    assert isinstance(facts, PictureFacts)
    return LockEntry("p:1", ("https://h/1",), digests=digests_of(data), **{**facts.__dict__, **more})


def outcome(expected: LockEntry, data: bytes, *, likeness: bool = True) -> tuple[Outcome, str | None]:
    return compare(expected, digests_of(data), examine(data, likeness=likeness))


ORIGINAL = encoded(photograph(7), "JPEG", quality=95)
RECOMPRESSED = encoded(photograph(7), "JPEG", quality=40)
RESIZED = encoded(photograph(7).resize((320, 240)), "JPEG", quality=90)
OTHER = encoded(photograph(8, (320, 200)), "JPEG", quality=90)


def test_what_looks_the_same_is_similar_and_what_does_not_is_different() -> None:
    expected = locked(ORIGINAL)
    assert outcome(expected, ORIGINAL) == (Outcome.EXACT, None)
    pixels = encoded(as_seen(Image.open(io.BytesIO(ORIGINAL))), "PNG")
    assert outcome(expected, pixels) == (Outcome.SAME_PIXELS, None)
    same, note = outcome(expected, RECOMPRESSED)
    assert same is Outcome.SIMILAR
    assert note is not None
    assert "resized" not in note
    same, note = outcome(expected, RESIZED)
    assert same is Outcome.SIMILAR
    assert str(note).startswith("resized 640 x 480 expected, 320 x 240 got; ")
    other, note = outcome(expected, OTHER)
    assert other is Outcome.DIFFERENT
    assert str(note).startswith("640 x 480 expected, 320 x 200 got; ")
    assert "colour steps apart" in str(note)
    assert outcome(expected, b"<html>")[0] is Outcome.NOT_AN_IMAGE
    # Likeness tells also where pixels are not known, or were decoded by something else.
    for pixels_known in (None, {"sha256": "0" * 64, "decoder": "Pillow 1"}):
        assert outcome(locked(ORIGINAL, pixels=pixels_known), RESIZED)[0] is Outcome.SIMILAR
        assert outcome(locked(ORIGINAL, pixels=pixels_known), OTHER)[0] is Outcome.DIFFERENT


def test_what_the_lock_does_not_know_is_judged_as_before() -> None:
    no_likeness = locked(ORIGINAL, likeness=None)
    assert outcome(no_likeness, RESIZED) == (Outcome.DIFFERENT, "640 x 480 expected, 320 x 240 got")
    assert outcome(locked(ORIGINAL, likeness=None, pixels=None), RESIZED)[0] is Outcome.CHANGED
    assert outcome(LockEntry("p:1", ("https://h/1",)), OTHER) == (Outcome.UNVERIFIED, None)


def test_without_imagehash_nothing_breaks_and_the_note_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = locked(ORIGINAL)
    monkeypatch.setitem(sys.modules, "imagehash", None)
    assert likeness(photograph(7)) is None
    facts = examine(RESIZED, likeness=True)
    assert isinstance(facts, PictureFacts)
    assert facts.likeness is None
    assert facts.pixels is not None
    # Nobody can say now that it is another picture.
    got, note = outcome(expected, RESIZED)
    assert got is Outcome.CHANGED
    assert str(note).startswith("640 x 480 expected, 320 x 240 got; ")
    assert INSTALL in str(note)
    assert outcome(expected, ORIGINAL)[0] is Outcome.EXACT


def test_it_is_told_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import imagehash

    asked: list[object] = []
    real = imagehash.phash
    monkeypatch.setattr(imagehash, "phash", lambda image: asked.append(image) or real(image))
    facts = examine(ORIGINAL)
    assert isinstance(facts, PictureFacts)
    assert facts.likeness is None
    # Where it was not asked for, nothing is to be installed either.
    assert outcome(locked(ORIGINAL), RESIZED, likeness=False) == (Outcome.CHANGED, "640 x 480 expected, 320 x 240 got")
    assert len(asked) == 1  # by `locked`


def test_locks_and_observations_carry_it() -> None:
    entry = locked(ORIGINAL)
    row = json.loads(json.dumps(entry.to_json()))
    assert json_schema.problems("lock", row) == []
    assert LockEntry.from_json(row) == entry
    plan = LockEntry("p:1", ("https://h/1",))
    assert filled(plan, row).likeness == entry.likeness
    assert filled(entry, {"likeness": {"phash": "0" * 16, "colour": "0" * 96}}).likeness == entry.likeness
    # Another picture's likeness, where it is not known, is not the old one's.
    replaced = filled(entry, {"digests": digests_of(OTHER), "bytes": 5}, overwrite=True)
    assert (replaced.likeness, replaced.pixels, replaced.width, replaced.bytes) == (None, None, None, 5)
    attempt = Observation("p:1", "https://h/1", Outcome.SIMILAR, TIME, likeness=entry.likeness)
    row = json.loads(json.dumps(attempt.to_json()))
    assert json_schema.problems("observed", row) == []
    assert Observation.from_json(row) == attempt


@pytest.mark.parametrize("schema", ["lock", "observed"])
def test_records_without_it_stay_valid_and_wrong_ones_are_refused(schema: str) -> None:
    entry = {
        "lock": LockEntry("p:1", ("https://h/1",)).to_json(),
        "observed": Observation("p:1", "https://h/1", Outcome.GONE, TIME).to_json(),
    }[schema]
    assert json_schema.problems(schema, entry) == []
    older = {name: value for name, value in entry.items() if name != "likeness"}
    assert json_schema.problems(schema, older) == []
    right = {"phash": "0" * 16, "colour": "0" * 96}
    assert json_schema.problems(schema, {**entry, "likeness": right}) == []
    for wrong in (
        {**right, "phash": "0" * 15},
        {**right, "phash": "G" * 16},
        {**right, "colour": "0" * 95},
        {"phash": "0" * 16},
        {**right, "more": 1},
        "0" * 16,
    ):
        assert json_schema.problems(schema, {**entry, "likeness": wrong}) != []


def test_channel_difference(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (10, 10), (10, 20, 30)), Image.new("RGB", (10, 10), (10, 20, 30))
    second.putpixel((3, 3), (110, 20, 0))
    path = tmp_path / "b.png"
    path.write_bytes(encoded(second, "PNG"))
    assert channel_difference(encoded(first, "PNG"), path) == (100, 130 / 300)
    assert channel_difference(path, path) == (0, 0.0)
    with pytest.raises(InputError, match="different sizes") as sizes:
        channel_difference(path, png(size=(11, 10)))
    assert (sizes.value.expected, sizes.value.got) == ("10 x 10", "11 x 10")
    with pytest.raises(InputError, match="not a picture") as broken:
        channel_difference(path, jpeg()[:-300])
    assert "cannot be decoded" in str(broken.value.got)


def test_reported_files_that_drifted(shared_cases: Path) -> None:
    [case] = shared_cases.glob("F21-*")
    wanted = json.loads((case / "case.json").read_text("utf-8"))["expected"]
    exact = case / "exact.jpg"
    expected = locked(exact.read_bytes())
    assert expected.digests["sha256"] == wanted["recorded_sha256"]
    outcomes = {"ok": Outcome.EXACT, "equal": Outcome.SAME_PIXELS, "near": Outcome.SIMILAR, "resized": Outcome.SIMILAR}
    for name, result in wanted["results"].items():
        got, note = outcome(expected, (case / name).read_bytes())
        assert got is outcomes.get(result.get("pixels", result["status"]), Outcome.DIFFERENT), name
        if "size" in result:
            assert str(note).startswith("resized 128 x 96 expected, {} x {} got".format(*result["size"]))
        if "max_channel_difference" in result:
            largest, mean = channel_difference(exact, case / name)
            assert (largest, round(mean, 2)) == (result["max_channel_difference"], result["mean_channel_difference"])


def test_reported_false_negatives(shared_cases: Path) -> None:
    [case] = shared_cases.glob("B02-*")
    pool = [json.loads(line) for line in (case / "pool.jsonl").read_text("utf-8").splitlines()]
    wanted = json.loads((case / "case.json").read_text("utf-8"))["expected"]
    known = seen((case / "pos.jpg").read_bytes())
    # x16 is another picture under the same caption, which no look at the pictures can tell.
    same = {each["id"] for each in pool if is_similar(known, seen((case / each["file"]).read_bytes()))}
    assert same - {"x0"} == {image_id for image_id, why in wanted["exclude"].items() if why != "same caption"}
