"""All of SAGE, from sources to the folder that load_dataset reads, against stand-ins for its hosts on loopback."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import test_sage_verse
import test_sage_vwsd
import test_sage_wikidiverse
from hannun.schemas import json_schema
from hannun.schemas.digest import digests_of
from hannun.validate.target import validate
from loopback import Answer, Server, serving
from pictures import encoded
from PIL import Image, ImageDraw

CONFIGS = ["vwsd", "verse-original", "verse-spis", "verse-spis-neutralized", "wikidiverse"]
RELEASE = "/asahi417/visual-wsd-baseline/releases/download/dataset-test/test_images_resized.zip"
HOSTS = ("s3.amazonaws.com", "images.cocodataset.org", "upload.wikimedia.org", "commons.wikimedia.org", "github.com")


def photograph(name: str, kind: str = "JPEG", **options: Any) -> bytes:
    """A picture that no other name has: a slanting ramp between two colours, and the name on it."""
    digest = hashlib.sha256(name.encode()).digest()
    ramp = Image.linear_gradient("L").rotate(digest[6] * 360 / 256, expand=False).resize((160, 120))
    picture = Image.composite(*(Image.new("RGB", ramp.size, tuple(digest[n : n + 3])) for n in (0, 3)), ramp)
    ImageDraw.Draw(picture).text(
        (6, 50), name.rpartition("/")[2][-24:], fill="white", stroke_fill="black", stroke_width=1
    )
    return encoded(picture, kind, **options)


class Stand:
    """SAGE's sources as files of the user, and its hosts on one loopback port."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.sources: list[object] = []
        self.environment = {**os.environ, "HANNUN_HOME": str(folder / "home")}
        rows = test_sage_verse.verse_rows()
        data, gold = test_sage_vwsd.files()
        texts: dict[str, bytes] = {
            "verse-annotations": test_sage_verse.annotations(rows),
            "verse-senses": test_sage_verse.senses(),
            "coco-captions": json.dumps(_with_photographs(test_sage_verse.captions(rows))).encode(),
            "vwsd-data": data.encode(),
            "vwsd-gold": gold.encode(),
            "wikidiverse-candidates": json.dumps(test_sage_wikidiverse.town_rows(24)).encode(),
            "wikidiverse-entity-images": test_sage_wikidiverse.listing(test_sage_wikidiverse.town_images()).encode(),
        }
        for name, text in texts.items():
            (folder / name).write_bytes(text)
            self.sources += ["--source", f"{name}={folder / name}"]
        names = sorted({name for line in data.splitlines() for name in line.split("\t")[2:]})
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name in names:
                archive.writestr(f"test_images_resized/{name}", photograph(name))
        server.answer(RELEASE, Answer(packed.getvalue()))
        self.mirrors: list[object] = [word for host in HOSTS for word in ("--mirror", f"{host}={server.address}")]
        self.files: dict[str, bytes] = {}
        server.made["/w/api.php"] = self._api
        self.asked_titles: list[str] = []

    def serve(self, lock: list[dict[str, Any]]) -> None:
        """Put every picture of a lock at its addresses."""
        for entry in lock:
            for location in entry["locations"]:
                if location.startswith("http"):
                    path = urlsplit(location).path
                    kind = "PNG" if path.lower().endswith("png") else "JPEG"
                    self.files[path] = photograph(unquote(path.rpartition("/")[2]), kind)
                    self.server.answer(path, Answer(self.files[path]))

    def _api(self, query: dict[str, str]) -> Answer:
        """As Commons answers: licence, author and sha1 of each file that it has."""
        pages = []
        for title in query["titles"].split("|"):
            self.asked_titles.append(title)
            name = title.removeprefix("File:").replace(" ", "_")
            path = urlsplit(test_sage_wikidiverse.commons(name)).path
            licence = "cc0" if "7" in name else "cc-by-sa-4.0"
            pages.append(
                {
                    "title": title,
                    "imageinfo": [
                        {
                            "url": test_sage_wikidiverse.commons(name),
                            "sha1": digests_of(self.files[path], ["sha1"])["sha1"],
                            "size": len(self.files[path]),
                            "mime": "image/png",
                            "timestamp": "2020-01-02T03:04:05Z",
                            "extmetadata": {
                                "License": {"value": licence},
                                "LicenseShortName": {"value": licence.upper()},
                                "Artist": {"value": f"<a href='//x'>Photographer of {name}</a>"},
                            },
                        }
                    ],
                }
            )
        return Answer(json.dumps({"query": {"pages": pages}}).encode())


def _with_photographs(document: dict[str, Any]) -> dict[str, Any]:
    for image in document["images"]:
        image["flickr_url"] = f"http://farm4.staticflickr.com/1/{image['id']}_z.jpg"
    return document


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with serving() as server:
        yield Stand(tmp_path, server)


@pytest.fixture
def planned(stand: Stand, run: Callable[..., Any]) -> Path:
    """A plan of all of SAGE whose images are all served."""
    folder = stand.folder / "plan"
    done = run(
        "sage-reconstruct", "plan", "sage", *stand.sources, *stand.mirrors, "--out", folder, env=stand.environment
    )
    assert done.returncode == 0, done.stderr
    stand.serve(lines(folder / "images.lock.jsonl"))
    return folder


def fetching(stand: Stand) -> list[object]:
    return [*stand.mirrors, "--contact", "me@lab.example", "--store", stand.folder / "store"]


def test_all_of_sage_comes_out_whole(stand: Stand, planned: Path, run: Callable[..., Any]) -> None:
    import datasets

    out = stand.folder / "sage"
    done = run("sage-reconstruct", "run", "sage", *stand.sources, *fetching(stand), "--out", out, env=stand.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "licence and author of " in done.stdout
    found = validate(str(out))
    assert [(each.message, str(each.place)) for each in found.findings] == []
    rows = lines(planned / "instances.jsonl")
    counts = Counter(row["id"].split("/")[1] for row in rows)
    assert found.rows == len(rows)
    assert set(counts) == set(CONFIGS)
    assert counts["verse-original"] == counts["verse-spis"] == counts["verse-spis-neutralized"]
    for config in CONFIGS:
        loaded = datasets.load_dataset(str(out), config, split="test", cache_dir=str(stand.folder / "cache"))
        assert len(loaded) == counts[config]
        assert loaded[0]["images"][loaded[0]["label"]].size == (160, 120)
    # Every address was asked once, and the zip of the release came by itself.
    asked = Counter(path for path, _ in stand.server.asked)
    assert asked[RELEASE] == 1
    assert max(count for path, count in asked.items() if "api.php" not in path) == 1
    assert len(stand.asked_titles) == len(set(stand.asked_titles))
    again = run(
        "sage-reconstruct", "run", "sage", *stand.sources, *fetching(stand), "--out", out, env=stand.environment
    )
    assert again.returncode == 0, again.stderr
    assert Counter(path for path, _ in stand.server.asked) == asked

    lock = {entry["image_id"]: entry for entry in lines(out / "images.lock.jsonl")}
    for image_id, entry in lock.items():
        licence = entry["licence"]["spdx"] if entry["licence"] else None
        if image_id.startswith("commons:"):
            assert licence == ("CC0-1.0" if "7" in image_id else "CC-BY-SA-4.0")
            assert entry["attribution"] == f"Photographer of {image_id.removeprefix('commons:')}"
        elif image_id.startswith("coco:"):
            assert entry["attribution"] == f"Flickr: http://farm4.staticflickr.com/1/{int(image_id[-12:])}_z.jpg"
        else:
            # The set is under CC BY-NC 4.0; whose its images are is not stated.
            assert (licence, entry["licence"]["url"]) == (None, "https://creativecommons.org/licenses/by-nc/4.0/")
    described = {row["source"]["image"] for row in rows if row["source"]["image"]}
    assert described <= set(lock)
    report = json.loads((out / "plan" / "report.json").read_text())
    assert json_schema.problems("report", report) == []
    shares = {each["licence"]: each for each in report["licences"]}
    assert shares["CC-BY-SA-4.0"]["images"] == shares["CC-BY-SA-4.0"]["attributed"] > 20
    assert sum(each["images"] for each in report["licences"]) == report["counts"]["images"]
    card = (out / "README.md").read_text("utf-8")
    for words in ("CC BY-NC 4.0", "whom to name", "see images.lock.jsonl", "Text of sage-wikidiverse"):
        assert words in card


@pytest.mark.parametrize("layout", ["embedded", "by-id"])
def test_losses_are_named_and_take_only_their_rows(
    stand: Stand, planned: Path, run: Callable[..., Any], layout: str
) -> None:
    known = lines(planned / "images.lock.jsonl")
    by_id = {entry["image_id"]: entry for entry in known}
    rows = lines(planned / "instances.jsonl")
    used = Counter(candidate["image_id"] for row in rows for candidate in row["candidates"])
    coco = sorted((each for each in used if each.startswith("coco:")), key=lambda each: (used[each], each))
    towns = sorted((each for each in used if each.startswith("commons:")), key=lambda each: (used[each], each))
    gone, refused, slow = coco[0], towns[0], coco[2]
    changed, again, broken = towns[1], coco[1], towns[2]
    paths = {each: [urlsplit(where).path for where in by_id[each]["locations"]] for each in by_id}
    by_id[changed]["digests"] = {"sha1": "0" * 40}
    # The lock knows the picture; the host serves the same one compressed once more.
    whole = stand.files[paths[again][0]]
    from hannun.reconstruct.picture import examine

    facts = examine(whole, likeness=True)
    by_id[again] |= {
        "digests": {"sha256": digests_of(whole)["sha256"]},
        "pixels": facts.pixels,
        "likeness": facts.likeness,
    }
    with Image.open(io.BytesIO(whole)) as picture:
        for path in paths[again]:
            stand.server.answer(path, Answer(encoded(picture, "JPEG", quality=60)))
    for image_id, answers in (
        (gone, [Answer(status=404)]),
        (refused, [Answer(status=403)]),
        (broken, [Answer(b"<html>Sign in</html>", headers={"Content-Type": "text/html"})]),
        (slow, [Answer(status=503, headers={"Retry-After": "0"}), Answer(stand.files[paths[slow][0]])]),
    ):
        for path in dict.fromkeys(paths[image_id]):
            stand.server.answer(path, *answers)
    (stand.folder / "lock.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in known))
    out = stand.folder / "sage"
    done = run(
        "sage-reconstruct", "run", "sage", *stand.sources, *fetching(stand), "--lock", stand.folder / "lock.jsonl",
        "--accept", "similar", "--layout", layout, "--out", out, env=stand.environment,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((out / "plan" / "report.json").read_text())
    outcomes = {each["image_id"]: each["outcome"] for each in report["images"]}
    lost = {gone: "gone", refused: "refused", changed: "changed", broken: "not-an-image"}
    assert {each: outcomes[each] for each in lost} == lost
    assert outcomes[again] == "similar"
    assert outcomes[slow] == "unverified"
    kept = [row["id"] for row in rows if not lost.keys() & {each["image_id"] for each in row["candidates"]}]
    assert [row["id"] for row in lines(out / "instances.jsonl")] == kept
    assert {each["id"] for each in report["dropped"]} == {row["id"] for row in rows} - set(kept)
    assert [(each.message, str(each.place)) for each in validate(str(out)).findings] == []
    substitutions = lines(out / "substitutions.jsonl")
    assert [each["image_id"] for each in substitutions if each["what"] == "bytes"] == [again]
    for command in (["gallery", out], ["report", out]):
        assert run("sage-reconstruct", *command, "--store", stand.folder / "store").returncode in (0, 1)
    page = (out / "gallery.html").read_text("utf-8")
    assert page.count('class="described') == len({row for row in kept if "/verse-spis/" in row})


def test_somebody_elses_plan_is_enough(stand: Stand, planned: Path, run: Callable[..., Any]) -> None:
    first = run("sage-reconstruct", "fetch", planned, *fetching(stand), env=stand.environment)
    assert first.returncode == 0, first.stderr
    shared = stand.folder / "completed.jsonl"
    assert run("sage-reconstruct", "lock", planned, "--store", stand.folder / "store", "--out", shared).returncode == 0
    theirs = stand.folder / "theirs"
    theirs.mkdir()
    for name in ("recipe.json", "instances.jsonl"):
        shutil.copy(planned / name, theirs / name)
    shutil.copy(shared, theirs / "images.lock.jsonl")
    # One file was overwritten since.
    town = next(entry for entry in lines(shared) if entry["image_id"].startswith("commons:"))
    stand.server.answer(urlsplit(town["locations"][0]).path, Answer(photograph("another", "PNG")))
    environment = {**os.environ, "HANNUN_HOME": str(stand.folder / "their-home")}
    arguments = [*stand.mirrors, "--contact", "me@lab.example"]
    done = run("sage-reconstruct", "fetch", theirs, *arguments, env=environment)
    assert done.returncode == 1, done.stderr
    outcomes = Counter(each["outcome"] for each in lines(theirs / "observed.jsonl"))
    assert outcomes == {"exact": len(lines(shared)) - 1, "different": 1}
    assert {path.name for path in theirs.iterdir()} <= {
        "recipe.json", "instances.jsonl", "images.lock.jsonl", "observed.jsonl", "published.jsonl",
    }  # fmt: skip


def test_coco_on_disk_is_not_downloaded(stand: Stand, planned: Path, run: Callable[..., Any]) -> None:
    disk = stand.folder / "coco"
    layouts = ("val2014/COCO_val2014_{}.jpg", "train2017/{}.jpg", "COCO_val2014_{}.jpg", "val2017/{}.jpg")
    at = 0
    for entry in lines(planned / "images.lock.jsonl"):
        if entry["image_id"].startswith("coco:"):
            path = disk / layouts[at % 4].format(entry["image_id"][-12:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(stand.files[urlsplit(entry["locations"][0]).path])
            at += 1
    arguments = ["fetch", planned, *fetching(stand), "--local", f"coco={disk}"]
    done = run("sage-reconstruct", *arguments, env=stand.environment)
    assert done.returncode == 0, done.stderr
    assert not [path for path, _ in stand.server.asked if "COCO_" in path]
    assert str(disk) not in (planned / "observed.jsonl").read_text()


def test_licences_are_asked_again_where_the_wiki_was_busy(stand: Stand, planned: Path, run: Callable[..., Any]) -> None:
    api = stand.server.made.pop("/w/api.php")
    stand.server.answer("/w/api.php", Answer(status=404))
    first = run("sage-reconstruct", "fetch", planned, *fetching(stand), env=stand.environment)
    assert first.returncode == 0, first.stderr
    assert "licence and author of 0 of " in first.stdout
    (planned / "published.jsonl").unlink()
    stand.server.made["/w/api.php"] = api
    second = run("sage-reconstruct", "fetch", planned, *fetching(stand), env=stand.environment)
    asked = len(stand.asked_titles)
    assert f"licence and author of {asked:,} of {asked:,} images" in second.stdout
    for row in lines(planned / "published.jsonl"):
        assert json_schema.problems("published", row) == []
        assert row["outcome"] == "exact"
    third = run("sage-reconstruct", "fetch", planned, *fetching(stand), env=stand.environment)
    assert third.returncode == 0
    assert len(stand.asked_titles) == asked
    # Without a contact nobody is asked, and that is no failure.
    (planned / "published.jsonl").unlink()
    fourth = run("sage-reconstruct", "fetch", planned, "--store", stand.folder / "store", env=stand.environment)
    assert fourth.returncode == 0, fourth.stderr
    assert not (planned / "published.jsonl").exists()
