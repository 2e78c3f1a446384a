"""Whole runs of fetch: side by side, polite, killed and continued, behind proxies, over TLS."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from hannun.reconstruct import hosts
from hannun.reconstruct.fetch import by_host, fetch
from hannun.reconstruct.hosts import HostRule, check_contact
from hannun.reconstruct.ledger import Ledger
from hannun.reconstruct.plan_folder import PlanFolder
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Store
from hannun.reconstruct.survey import Shard, shards, survey
from hannun.reconstruct.transfer import Limits, Reach
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Outcome
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer, Server, serving
from pictures import jpeg

PROGRAM = Path(sys.executable).with_name("sage-reconstruct")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def picture(number: int) -> bytes:
    """A JPEG of its own for each number, padded behind its end as some cameras do."""
    return jpeg((number % 256, number // 256 % 256, 90)) + number.to_bytes(4, "big") * 64


def entry(server: Server, number: int, *, data: bytes | None = None) -> LockEntry:
    data = data or picture(number)
    address = server.answer(f"/{number}.jpg", Answer(data))
    return LockEntry(f"p:{number}", (address,), digests={"sha256": digests_of(data)["sha256"]}, bytes=len(data))


def plan_of(folder: Path, entries: list[LockEntry]) -> Path:
    """A plan folder with this lock; its rows play no part in fetching."""
    folder.mkdir(parents=True, exist_ok=True)
    recipe = {
        "benchmark": "kona", "recipe": "kona", "version": 1, "options": {}, "seed": 1, "sources": [], "dropped": [],
        "counts": {"rows": 0, "images": len(entries), "dropped": 0},
    }  # fmt: skip
    (folder / "recipe.json").write_text(json.dumps(recipe))
    (folder / "instances.jsonl").write_text("")
    (folder / "images.lock.jsonl").write_text("".join(json.dumps(each.to_json()) + "\n" for each in entries))
    return folder


def run(plan: Path, store: Path, *more: object, **how: Any) -> subprocess.CompletedProcess[str]:
    arguments = [PROGRAM, "fetch", plan, "--store", store, "--allow-private", *more]
    return subprocess.run(list(map(str, arguments)), check=False, capture_output=True, text=True, timeout=120, **how)


def got(entries: list[LockEntry], tmp_path: Path, reach: Reach | None = None) -> list[Observation]:
    store = Store(tmp_path / "store")
    limits = Limits(max_bytes=1_000_000, max_pixels=1_000_000, deadline=10)
    settings = Settings(reach=reach or Reach(limits=limits, allow_private=True), pause=lambda seconds: seconds / 100)
    return list(fetch(by_host(entries), store, Ledger(store.folder / "ledger"), settings))


def contents(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.glob("??/*")}


def leftovers(store: Path) -> list[Path]:
    return list(store.glob(".*.part"))


def test_images_come_side_by_side_but_no_more_than_the_host_allows(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [entry(server, number) for number in range(24)]
    for answers in server.answers.values():
        answers[0].pause = 0.05
    assert {each.outcome for each in got(entries, tmp_path)} == {Outcome.EXACT}
    assert 3 <= server.most_at_once <= 16
    server.most_at_once = 0
    strict = HostRule(("127.0.0.1",), concurrency=2, source="a test")
    monkeypatch.setattr("hannun.reconstruct.run.rule_for", lambda _: strict)
    assert len(got(entries, tmp_path / "strict")) == 24
    assert server.most_at_once == 2
    server.most_at_once = 0
    limits = Limits(max_bytes=1_000_000, max_pixels=1_000_000, deadline=10)
    got(entries, tmp_path / "one", Reach(limits=limits, allow_private=True, per_host=1))
    assert server.most_at_once == 1


def test_a_busy_host_is_left_alone_while_others_go_on(server: Server, tmp_path: Path) -> None:
    with serving() as other:
        slow = [entry(server, number) for number in range(4)]
        server.answers["/0.jpg"].insert(0, Answer(status=503, headers={"Retry-After": "20"}))
        # localhost is another name, so it is another host.
        fast = [
            LockEntry(f"q:{n}", (other.answer(f"/{n}.jpg", Answer(picture(n))).replace("127.0.0.1", "localhost"),))
            for n in range(6)
        ]
        seen = got(slow + fast, tmp_path)
    assert {each.outcome for each in seen} == {Outcome.EXACT, Outcome.UNVERIFIED}
    assert server.count("/0.jpg") == 2
    assert [each.image_id[0] for each in seen][-1] == "p"


def test_every_rule_says_where_it_is_known_from() -> None:
    for rule in hosts.rules():
        assert rule.source
        assert rule.concurrency >= 1
    assert hosts.rules()[-1].hosts == (hosts.ANY,)
    commons = hosts.rule_for("upload.wikimedia.org")
    assert (commons.concurrency, commons.contact, commons.bytes_per_second) == (2, True, 3_125_000)
    assert hosts.rule_for("example.org") is hosts.rules()[-1]


def test_a_host_that_demands_a_contact_is_not_asked_without_one(tmp_path: Path) -> None:
    address = "https://upload.wikimedia.org/wikipedia/commons/a/a0/X.jpg"
    with pytest.raises(InputError, match="how to reach them") as caught:
        check_contact(by_host([LockEntry("c:1", (address,))]), Reach())
    assert "--contact" in str(caught.value.todo)
    plan = plan_of(tmp_path / "plan", [LockEntry("c:1", (address,))])
    refused = run(plan, tmp_path / "store")
    assert refused.returncode == 2
    assert "--contact" in refused.stderr
    assert not (plan / "observed.jsonl").exists()


def test_a_mirror_stands_for_its_host_and_only_there(server: Server, tmp_path: Path) -> None:
    data = picture(1)
    server.answer("/m/a%20b.jpg?x=1", Answer(data))
    server.answer("/m/away.jpg", Answer(status=302, headers={"Location": server.address + "/m/a%20b.jpg?x=1"}))
    digests = {"sha256": digests_of(data)["sha256"]}
    entries = [
        LockEntry("p:1", ("https://images.invalid/a b.jpg?x=1",), digests=digests),
        LockEntry("p:2", ("https://images.invalid/away.jpg",), digests=digests),
    ]
    reach = Reach(mirrors={"images.invalid": server.address + "/m/"})
    [first] = got(entries[:1], tmp_path, reach)
    assert (first.outcome, first.location) == (Outcome.EXACT, "https://images.invalid/a b.jpg?x=1")
    # Where the mirror redirects to is not the user's word any more.
    [second] = got(entries[1:], tmp_path / "second", reach)
    assert second.outcome is Outcome.UNSAFE_ADDRESS
    assert "redirected to" in str(second.note)


def test_a_name_of_this_machine_is_not_connected_to(server: Server, tmp_path: Path) -> None:
    address = server.answer("/a.jpg", Answer(picture(1))).replace("127.0.0.1", "localhost")
    [seen] = got([LockEntry("p:1", (address,))], tmp_path, Reach())
    assert seen.outcome is Outcome.UNSAFE_ADDRESS
    assert "localhost is" in str(seen.note)
    assert "loopback" in str(seen.note)
    assert server.asked == []


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("http://10.0.0.5/a.jpg", "private"),
        ("http://2130706433/a.jpg", "loopback"),
        ("http://[::ffff:192.168.1.1]/a.jpg", "private"),
        ("ftp://example.org/a.jpg", "scheme"),
    ],
)
def test_what_is_allowed_does_not_hold_after_a_redirect(server: Server, tmp_path: Path, target: str, kind: str) -> None:
    address = server.answer("/a.jpg", Answer(status=302, headers={"Location": target}))
    [seen] = got([LockEntry("p:1", (address,))], tmp_path)
    assert seen.outcome is Outcome.UNSAFE_ADDRESS
    assert kind in str(seen.note)
    assert server.count("/a.jpg") == 1


def test_a_link_local_address_is_never_asked(tmp_path: Path) -> None:
    [seen] = got([LockEntry("p:1", ("http://169.254.169.254/latest",))], tmp_path)
    assert seen.outcome is Outcome.UNSAFE_ADDRESS


def test_a_broken_off_transfer_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    data = picture(7) * 40
    tail = {"ETag": '"v1"', "Content-Range": f"bytes 9000-{len(data) - 1}/{len(data)}"}
    address = server.answer(
        "/a.jpg",
        Answer(data[:9000], length=len(data), headers={"ETag": '"v1"'}),
        Answer(data[9000:], status=206, headers=tail),
    )
    locked = LockEntry("p:1", (address,), digests={"sha256": digests_of(data)["sha256"]})
    [seen] = got([locked], tmp_path)
    assert (seen.outcome, seen.bytes) == (Outcome.EXACT, len(data))
    second = server.asked[1][1]
    assert (second["range"], second["if-range"]) == ("bytes=9000-", '"v1"')


@pytest.mark.parametrize(
    "second",
    [
        Answer(b"x" * 50, status=206, headers={"ETag": '"v1"', "Content-Range": "bytes 0-49/18000"}),
        Answer(b"x" * 50, status=206, headers={"ETag": '"v1"'}),
        Answer(status=416),
        Answer(b"x" * 50, headers={"ETag": '"v1"', "Content-Range": "bytes 9000-9049/18000"}),
        Answer(b"x" * 50, status=206, headers={"Content-Range": "bytes 9000-9049/99999"}),
        Answer(picture(8) * 40, headers={"ETag": '"v2"'}),
    ],
)
def test_what_does_not_continue_is_not_appended(server: Server, tmp_path: Path, second: Answer) -> None:
    data = picture(8) * 40
    cut = Answer(data[:9000], length=len(data), headers={"ETag": '"v1"'})
    address = server.answer("/a.jpg", cut, second, Answer(data))
    [seen] = got([LockEntry("p:1", (address,), digests={"sha256": digests_of(data)["sha256"]})], tmp_path)
    assert seen.outcome is Outcome.EXACT
    assert list(contents(tmp_path / "store").values()) == [data]


def test_the_deadline_counts_all_tries(server: Server, tmp_path: Path) -> None:
    address = server.answer("/a.jpg", Answer(picture(1), drip=0.05))
    limits = Limits(max_bytes=1_000_000, max_pixels=1_000_000, deadline=0.4)
    [seen] = got([LockEntry("p:1", (address,))], tmp_path, Reach(limits=limits, allow_private=True))
    assert (seen.outcome, seen.note) == (Outcome.UNREACHABLE, "total deadline")
    assert server.count("/a.jpg") == 1
    assert contents(tmp_path / "store") == {}
    assert leftovers(tmp_path / "store") == []


def test_a_proxy_of_the_environment_is_used_and_trusted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A proxy is asked for the whole address.
    server.answer("http://images.invalid/a.jpg", Answer(picture(1)))
    monkeypatch.setenv("http_proxy", server.address)
    [seen] = got([LockEntry("p:1", ("http://images.invalid/a.jpg",))], tmp_path, Reach())
    assert seen.outcome is Outcome.UNVERIFIED
    [inner] = got([LockEntry("p:2", ("http://10.0.0.1/a.jpg",))], tmp_path, Reach())
    assert inner.outcome is Outcome.UNSAFE_ADDRESS
    assert [asked for asked, _ in server.asked] == ["http://images.invalid/a.jpg"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def tls_of(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def test_certificates_are_checked(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with (
        serving(tls_of(authority.issue_cert("127.0.0.1"))) as good,
        serving(tls_of(authority.issue_cert("other.invalid"))) as other,
    ):
        entries = [entry(good, 1), entry(other, 2)]
        untrusted = got(entries, tmp_path / "none")
        assert {each.outcome for each in untrusted} == {Outcome.TLS}
        assert good.asked == other.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        outcomes = {each.image_id: (each.outcome, each.note) for each in got(entries, tmp_path / "own")}
    assert outcomes["p:1"] == (Outcome.EXACT, None)
    assert outcomes["p:2"][0] is Outcome.TLS
    assert "127.0.0.1" in str(outcomes["p:2"][1])


def test_https_never_becomes_http(
    authority: trustme.CA, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    plain = server.answer("/a.jpg", Answer(picture(1)))
    with serving(tls_of(authority.issue_cert("127.0.0.1"))) as secure:
        address = secure.answer("/a.jpg", Answer(status=301, headers={"Location": plain}))
        [seen] = got([LockEntry("p:1", (address,))], tmp_path)
    assert (seen.outcome, seen.note) == (Outcome.REDIRECTED, "from https to http")
    assert server.asked == []


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 1000), max_size=30), st.integers(1, 8))
def test_every_host_falls_to_one_shard_and_the_load_is_even(counts: dict[str, int], of: int) -> None:
    parts = shards(counts, of)
    assert set(parts) == set(counts)
    assert set(parts.values()) <= set(range(1, of + 1))
    assert parts == shards(dict(reversed(counts.items())), of)
    loads = [sum(counts[host] for host, part in parts.items() if part == n) for n in range(1, of + 1)]
    assert max(loads) - min(loads) <= max(counts.values(), default=0)


def test_shards_together_make_the_whole(server: Server, tmp_path: Path) -> None:
    with serving() as other:
        entries = [entry(server, n) for n in range(5)]
        entries += [
            LockEntry(
                f"q:{n}", (other.answer(f"/q{n}.jpg", Answer(picture(100 + n))).replace("127.0.0.1", "localhost"),)
            )
            for n in range(3)
        ]
        plan = plan_of(tmp_path / "plan", entries)
        for part, count in (("1/2", 5), ("2/2", 3)):
            done = run(plan, tmp_path / "store", "--shard", part, "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["images"] == count
        assert len(contents(tmp_path / "store")) == 8
        for wrong in ("0/2", "3/2", "2", "a/b"):
            assert run(plan, tmp_path / "store", "--shard", wrong).returncode == 2
    both = PlanFolder.at(plan), Store(tmp_path / "store")
    assert survey(*both).open == survey(*both, shard=Shard(1, 2)).open == 0


def test_the_summary_names_hosts_and_outcomes(server: Server, tmp_path: Path) -> None:
    entries = [entry(server, 1), LockEntry("p:9", (server.address + "/nowhere.jpg",))]
    done = run(plan_of(tmp_path / "plan", entries), tmp_path / "store")
    assert done.returncode == 1
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["host", "exact", "gone"] in lines
    assert ["127.0.0.1", "1", "1"] in lines
    assert "1 of 2 verified" in done.stdout


IMAGES, KILLS = 500, 20


def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(server: Server, tmp_path: Path) -> None:
    entries = [entry(server, number) for number in range(IMAGES)]
    for answers in server.answers.values():
        answers[0].pause = 0.02
    plan, store = plan_of(tmp_path / "plan", entries), tmp_path / "store"
    of_digest = {each.digests["sha256"]: f"/{each.image_id[2:]}.jpg" for each in entries}
    arguments = [PROGRAM, "fetch", plan, "--store", store, "--allow-private", "--quiet"]
    rng = random.Random(20)
    disturbed = 0
    for _ in range(KILLS):
        before = {of_digest[path.stem]: server.count(of_digest[path.stem]) for path in store.glob("??/*")}
        process = subprocess.Popen(list(map(str, arguments)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The program takes a while to start; a kill shall fall somewhere into its work.
        deadline, asked = time.monotonic() + 20, len(server.asked)
        while len(server.asked) == asked and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        disturbed += process.wait() == -signal.SIGKILL
        for path in store.glob("??/*"):
            assert digests_of(path.read_bytes())["sha256"] == path.stem
        for asked_path, count in before.items():
            assert server.count(asked_path) == count, "what was complete is not asked for again"
    assert disturbed >= KILLS // 2
    done = run(plan, store)
    assert done.returncode == 0, done.stderr
    assert contents(store) == {f"{each.digests['sha256']}.jpg": picture(n) for n, each in enumerate(entries)}
    assert leftovers(store) == []
    counted = len(server.asked)
    assert run(plan, store).returncode == 0
    assert len(server.asked) == counted, "a complete plan asks nothing"


def test_two_processes_on_one_store_do_not_harm_each_other(server: Server, tmp_path: Path) -> None:
    entries = [entry(server, number) for number in range(120)]
    plan, store = plan_of(tmp_path / "plan", entries), tmp_path / "store"
    # What dead processes left blocks nobody.
    store.mkdir()
    (store / "img.jpg.lock").write_text("4711")
    (store / ".elsewhere-1-abc.part").write_bytes(b"half")
    arguments = list(map(str, [PROGRAM, "fetch", plan, "--store", store, "--allow-private", "--quiet"]))
    both = [subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert set(contents(store)) == {f"{each.digests['sha256']}.jpg" for each in entries}
    assert [path.name for path in leftovers(store)] == [".elsewhere-1-abc.part"]
    assert survey(PlanFolder.at(plan), Store(store)).open == 0


def test_a_full_disk_is_told_and_breaks_nothing(server: Server, tmp_path: Path) -> None:
    small, big = entry(server, 1), entry(server, 2, data=picture(2) * 200)
    plan, store = plan_of(tmp_path / "plan", [small, big]), tmp_path / "store"
    limit = 100_000

    def cramp() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    full = run(plan, store, preexec_fn=cramp)
    assert full.returncode == 3, full.stderr
    assert "cannot be written" in full.stderr
    assert "Traceback" not in full.stderr
    assert leftovers(store) == []
    assert all(digests_of(data)["sha256"] == name.partition(".")[0] for name, data in contents(store).items())
    assert run(plan, store).returncode == 0
    assert len(contents(store)) == 2


def test_ctrl_c_keeps_what_is_done(server: Server, tmp_path: Path) -> None:
    entries = [entry(server, number) for number in range(200)]
    for answers in server.answers.values():
        answers[0].pause = 0.02
    plan, store = plan_of(tmp_path / "plan", entries), tmp_path / "store"
    arguments = list(map(str, [PROGRAM, "fetch", plan, "--store", store, "--allow-private"]))
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(server.asked) < 40 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "what is done is kept" in errors
    assert contents(store)
    assert leftovers(store) == []


def test_a_damaged_file_is_fetched_again_and_fast_does_not_look(server: Server, tmp_path: Path) -> None:
    entries = [entry(server, number) for number in range(6)]
    plan, store = plan_of(tmp_path / "plan", entries), tmp_path / "store"
    assert run(plan, store).returncode == 0
    victim = next(store.glob("??/*"))
    whole = victim.read_bytes()
    victim.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    asked = len(server.asked)
    assert run(plan, store, "--fast").returncode == 0
    assert len(server.asked) == asked
    assert run(plan, store).returncode == 0
    assert len(server.asked) == asked + 1
    assert victim.read_bytes() == whole
    shutil.rmtree(store)
    assert run(plan, store, "--fast").returncode == 0
    assert len(contents(store)) == 6


def test_a_lock_line_that_is_none_is_named(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "plan", [LockEntry("p:1", ("https://h.invalid/a",))])
    with (plan / "images.lock.jsonl").open("a") as lock:
        lock.write('{"image_id": "p:2"}\n')
    done = run(plan, tmp_path / "store")
    assert done.returncode == 2
    assert "line 2" in done.stderr
    (plan / "images.lock.jsonl").unlink()
    assert run(plan, tmp_path / "store").returncode == 2


def test_environment_names_no_secret_in_the_records(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = server.address.replace("http://", "http://user:secret@")
    server.answer("http://images.invalid/a.jpg", Answer(status=404))
    plan = plan_of(tmp_path / "plan", [LockEntry("p:1", ("http://images.invalid/a.jpg",))])
    environment = {**os.environ, "http_proxy": proxy}
    done = run(plan, tmp_path / "store", env=environment)
    assert done.returncode == 1
    assert "secret" not in done.stdout + done.stderr + (plan / "observed.jsonl").read_text()
