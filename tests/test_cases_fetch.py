"""Servers of public bug reports, where they are at hand: right outcome, right number of requests, no file too many."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.address import Unusable, check_address, literal_resolver, system_resolver
from hannun.reconstruct.decide import StartOver, Whole, verdict
from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.reply import Reply
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Limits, Reach
from hannun.reconstruct.web import Ask, WebClient
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from test_fetch_run import plan_of


class Case:
    """One case: its right values, and what its server made of fetch."""

    def __init__(self, folder: Path, tmp_path: Path) -> None:
        self.folder = folder
        self.expected: dict[str, Any] = json.loads((folder / "case.json").read_text("utf-8"))["expected"]
        self.store = Store(tmp_path / "store")
        self.asked: list[str] = []

    def serving(self) -> Any:
        """The case's servers, running; their addresses by name."""
        spec = importlib.util.spec_from_file_location("replay", self.folder.parent / "replay.py")
        assert spec is not None
        assert spec.loader is not None
        replay = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(replay)
        return replay.serve(self.folder)

    def fetch(
        self, *paths: str, sha256: str | None = None, contact: str | None = "me@lab.example", **limits: float
    ) -> dict[str, Observation]:
        """Path -> the last observation."""
        digests = {"sha256": sha256} if sha256 else {}
        caps = Limits(**{"max_bytes": 1_000_000, "max_pixels": 1_000_000, "deadline": 20, **limits})
        settings = Settings(Reach(limits=caps, allow_private=True, contact=contact), pause=lambda s: s / 50)
        with self.serving() as urls:
            base = urls["main"]
            # White space stands around the whole address.
            addresses = {path: path.replace(path.strip(), base + path.strip()) for path in paths}
            entries = [LockEntry(f"c:{path}", (addresses[path],), digests=digests) for path in paths]
            seen = list(fetch(by_host(entries), self.store, Ledger(self.store.folder / "ledger"), settings))
            self.asked = [each["target"] for server in urls["_servers"] for each in server.log]
        return {each.image_id[2:]: each for each in seen}

    def files(self) -> list[str]:
        return sorted(path.stem for path in self.store.folder.glob("??/*"))


@pytest.fixture
def case(request: pytest.FixtureRequest, shared_cases: Path, tmp_path: Path) -> Case:
    found = list(shared_cases.glob(f"{request.param}-*"))
    if not found:
        pytest.skip(f"case {request.param} is not at hand")
    return Case(found[0], tmp_path)


@pytest.mark.parametrize("case", ["F01"], indirect=True)
def test_a_user_agent_without_contact(case: Case) -> None:
    path, sha256 = case.expected["path"], case.expected["sha256"]
    refused = case.fetch(path, sha256=sha256, contact=None)[path]
    assert (refused.outcome, refused.status) == (Outcome.REFUSED, 403)
    assert case.files() == []
    assert case.asked == [path]
    assert case.fetch(path, sha256=sha256)[path].outcome is Outcome.EXACT


@pytest.mark.parametrize("case", ["F02"], indirect=True)
def test_retry_after(case: Case) -> None:
    seen = case.fetch("/a.jpg", "/never.jpg", sha256=case.expected["a.jpg"]["sha256"])
    assert seen["/a.jpg"].outcome is Outcome.EXACT
    assert seen["/never.jpg"].outcome is Outcome.THROTTLED
    assert "86400 s, over the limit" in str(seen["/never.jpg"].note)
    assert sorted(case.asked) == ["/a.jpg", "/a.jpg", "/never.jpg"]


@pytest.mark.parametrize("case", ["F04"], indirect=True)
def test_pages_in_place_of_pictures(case: Case) -> None:
    names = [name for name in case.expected if name.endswith(".jpg")]
    seen = case.fetch(*(f"/{name}" for name in names))
    for name in names:
        wanted, got = case.expected[name], seen[f"/{name}"]
        if wanted["status"] == "ok":
            assert got.outcome is Outcome.UNVERIFIED
            assert got.digests["sha256"] == wanted["sha256"]
        else:
            assert got.outcome is Outcome.NOT_AN_IMAGE
            assert wanted["kind"].partition("/")[0] in str(got.note)
            assert str(wanted.get("final_path", "")) in str(got.note)
    assert "image/png" in str(seen["/aspng.jpg"].note)
    assert case.files() == [case.expected["octet.jpg"]["sha256"]]


@pytest.mark.parametrize("case", ["F06"], indirect=True)
def test_bodies_that_end_early(case: Case) -> None:
    sha256 = case.expected["sha256"]
    seen = case.fetch("/short.jpg", "/chunked.jpg", "/nolen.jpg", "/empty.jpg", "/flaky.jpg", sha256=sha256)
    assert {path: each.outcome for path, each in seen.items()} == {
        "/short.jpg": Outcome.TRUNCATED,
        "/chunked.jpg": Outcome.TRUNCATED,
        "/nolen.jpg": Outcome.DAMAGED,
        "/empty.jpg": Outcome.NOT_AN_IMAGE,
        "/flaky.jpg": Outcome.EXACT,
    }
    assert seen["/short.jpg"].note == "940 of 1881 bytes"
    assert seen["/empty.jpg"].note == "empty"
    assert [case.asked.count(path) for path in seen] == [
        {"/short.jpg": 3, "/chunked.jpg": 3, "/flaky.jpg": 2}.get(path, 1) for path in seen
    ]
    assert case.files() == [sha256]


@pytest.mark.parametrize("case", ["F08"], indirect=True)
def test_ranges(case: Case) -> None:
    """The `.part` of the case is what a broken-off transfer of ours holds, and the server has its rest."""
    part = (case.folder / "img.jpg.part").read_bytes()
    client = WebClient(Reach(allow_private=True))
    meant = {}
    with case.serving() as urls:
        for name in ("ignore", "from0", "short206", "good", "slice200", "s416", "changed"):
            incoming = case.store.incoming(("sha256",), max_bytes=10_000)
            incoming.write(part)
            client.start(Ask(name, urls["main"] + f"/{name}.jpg", incoming, 10, '"v1"', allow_private=True))
            ended: list[tuple[Ask, Reply]] = []
            while not ended:
                ended = client.wait(0.5)
            judged = verdict(ended[0][1], hops=0)
            meant[name] = type(judged).__name__
            if isinstance(judged, Whole):
                wanted = "sha256_now" if name == "changed" else "sha256"
                right = case.expected["changed.jpg"][wanted] if name == "changed" else case.expected["sha256"]
                assert incoming.finish().digests["sha256"] == right, name
            elif isinstance(judged, StartOver):
                assert judged.note
            incoming.discard()
    client.close()
    assert meant == {
        "ignore": "Whole",
        "from0": "StartOver",
        "short206": "Failure",
        "good": "Whole",
        "slice200": "StartOver",
        "s416": "StartOver",
        "changed": "Whole",
    }


@pytest.mark.parametrize("case", ["F09"], indirect=True)
def test_addresses_on_the_wire(case: Case) -> None:
    rows = json.loads((case.folder / "urls.json").read_text("utf-8"))
    seen = case.fetch(*(row["manifest_path"] for row in rows), sha256=case.expected["sha256"])
    for row in rows:
        got = seen[row["manifest_path"]].outcome
        assert row["request_target"] is None or row["request_target"] in case.asked, row
        assert got is (Outcome.MALFORMED_ADDRESS if row["request_target"] is None else Outcome.EXACT), row


@pytest.mark.parametrize("case", ["F12"], indirect=True)
def test_a_bucket_that_slows_down(case: Case) -> None:
    sha256 = case.expected["sha256"]
    seen = case.fetch("/s.jpg", "/r.jpg", "/dead.jpg", "/gone.jpg", "/ok.jpg", sha256=sha256)
    assert {path: each.outcome for path, each in seen.items()} == {
        "/s.jpg": Outcome.EXACT,
        "/r.jpg": Outcome.EXACT,
        "/dead.jpg": Outcome.UNREACHABLE,
        "/gone.jpg": Outcome.GONE,
        "/ok.jpg": Outcome.EXACT,
    }
    assert case.files() == [sha256]
    tries = {"/s.jpg": 3, "/r.jpg": 2, "/dead.jpg": 3, "/gone.jpg": 1, "/ok.jpg": 1}
    assert {path: case.asked.count(path) for path in tries} == tries


@pytest.mark.parametrize("case", ["F16"], indirect=True)
def test_bodies_without_end(case: Case) -> None:
    limits = case.expected["suggested_limits"]
    seen = case.fetch(
        "/live.jpg", "/drip.jpg", "/slowhead.jpg", "/huge.jpg",
        deadline=limits["deadline_s"], max_bytes=limits["max_bytes"],
    )  # fmt: skip
    assert seen["/live.jpg"].outcome in (Outcome.UNREACHABLE, Outcome.TOO_LARGE)
    assert seen["/drip.jpg"].outcome is seen["/slowhead.jpg"].outcome is Outcome.UNREACHABLE
    assert seen["/huge.jpg"].outcome is Outcome.TOO_LARGE
    assert case.files() == []


@pytest.mark.parametrize("case", ["F17"], indirect=True)
def test_two_processes_and_what_dead_ones_left(case: Case, tmp_path: Path) -> None:
    store = tmp_path / "shared-store"
    shutil.copytree(case.folder / "cache", store)
    before = {path.name for path in store.iterdir()}
    program = Path(sys.executable).with_name("sage-reconstruct")
    with case.serving() as urls:
        entry = LockEntry("c:1", (urls["main"] + "/img.jpg",), digests={"sha256": case.expected["sha256"]})
        plan = plan_of(tmp_path / "plan", [entry])
        arguments = list(map(str, [program, "fetch", plan, "--store", store, "--allow-private", "--quiet"]))
        both = [subprocess.Popen(arguments) for _ in range(2)]
        assert [process.wait(60) for process in both] == [0, 0]
    [stored] = store.glob("??/*")
    assert (stored.stem, stored.stat().st_size) == (case.expected["sha256"], case.expected["bytes"])
    assert {path.name for path in store.iterdir()} - before == {stored.parent.name, "ledger"}


@pytest.mark.parametrize("case", ["F19"], indirect=True)
def test_addresses_inside(case: Case) -> None:
    for row in json.loads((case.folder / "urls.json").read_text("utf-8")):
        if row["verdict"] == "allowed":
            check_address(row["url"], allow_private=False, resolve=_as_public)
        else:
            with pytest.raises(Unusable) as caught:
                check_address(row["url"], allow_private=False, resolve=_as_public)
            assert caught.value.outcome in (Outcome.UNSAFE_ADDRESS, Outcome.MALFORMED_ADDRESS)
    seen = case.fetch("/meta.jpg", "/file.jpg", "/inner.jpg", "/loop.jpg", "/rel.jpg")
    assert seen["/loop.jpg"].outcome is Outcome.REDIRECTED
    assert seen["/rel.jpg"].outcome is Outcome.UNVERIFIED
    for path, kind in (("/meta.jpg", "link-local"), ("/file.jpg", "scheme"), ("/inner.jpg", "private")):
        assert seen[path].outcome is Outcome.UNSAFE_ADDRESS
        assert kind in str(seen[path].note)


def _as_public(host: str, port: int) -> list[str]:
    """Numbers as they are, names of this machine as the system has them, all others as a public address."""
    return literal_resolver(host, port) or (system_resolver(host, port) if host == "localhost" else ["93.184.216.34"])
