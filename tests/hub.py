"""A Hugging Face Hub on loopback that holds dataset repositories, to read from and to write to.

Each branch of a repository is a folder at one commit. Cards are refused where their YAML has licences, sizes or
tasks that the Hub does not have, as its own check refuses them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

LICENCES = frozenset(
    (
        "apache-2.0", "mit", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0",
        "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0",
        "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "unknown", "other",
    )
)  # fmt: skip
TASKS = frozenset(
    ("visual-question-answering", "zero-shot-image-classification", "image-text-to-text", "image-classification")
)


def card_problems(text: str) -> list[str]:
    """What the Hub's check of a dataset card would refuse, as far as it can be told without the Hub."""
    found = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    head = yaml.safe_load(found.group(1)) if found else None
    if not isinstance(head, dict):
        return ["no front matter"]
    problems = [f"license {each}" for each in head.get("license", ()) if each not in LICENCES]
    problems += [f"task {each}" for each in head.get("task_categories", ()) if each not in TASKS]
    problems += [f"language {each}" for each in head.get("language", ()) if not re.fullmatch("[a-z]{2,3}", each)]
    sizes = r"n<1K|1K<n<10K|10K<n<100K|100K<n<1M|1M<n<10M|10M<n<100M"
    problems += [f"size {each}" for each in head.get("size_categories", ()) if not re.fullmatch(sizes, each)]
    problems += [f"{key}: text" for key in ("pretty_name",) if not isinstance(head.get(key, ""), str)]
    problems += [f"{key}: texts" for key in ("tags", "arxiv") if not all(isinstance(e, str) for e in head.get(key, ()))]
    names = [each["config_name"] for each in head.get("configs", ())]
    problems += [] if len(set(names)) == len(names) else ["configs: a name twice"]
    return problems


@dataclass
class Hub:
    """`repos` are folders by repository, and by `OWNER/NAME@BRANCH` for other branches than main.

    Those of `gated` are shown to whoever has a token. A token of `readers` may not write; `owners` are whom
    repositories may be made for.
    """

    address: str
    root: Path | None = None
    repos: dict[str, Path] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=lambda: {"me"})
    asked: list[str] = field(default_factory=list)
    large: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)

    def commit(self, repo: str) -> str:
        """The commit of a repository: a digest of what it holds."""
        folder = self.repos[repo]
        whole = hashlib.sha1(usedforsecurity=False)
        for name in files_of(folder):
            whole.update(name.encode() + b"\0" + (folder / name).read_bytes())
        return whole.hexdigest()

    def at(self, repo: str, revision: str) -> str | None:
        """The key of a repository at a revision: a branch, or a branch's commit; None where there is none."""
        branches = [key for key in self.repos if key.partition("@")[0] == repo]
        for key in branches:
            if revision in (key.partition("@")[2] or "main", self.commit(key)):
                return key
        return None


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@contextmanager
def hub(root: Path | None = None) -> Iterator[Hub]:
    """A Hub; repositories that are made lie below `root`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            served.asked.append(f"{self.command} {path}")
            kind, _, rest = path.removeprefix("/").partition("datasets/")
            owner, name, action, revision, *more = [*rest.split("/"), "", "", ""]
            repo = f"{owner}/{name}"
            if kind not in ("api/", "") or not self._may_see(repo):
                return
            key = served.at(repo, revision or "main")
            if key is None:
                self._refuse(404, "RevisionNotFound")
            elif kind:
                self._describe(key, action, "/".join(more).rstrip("/"))
            else:
                self._file(key, "/".join(more).rstrip("/"))

        def do_PUT(self) -> None:
            served.large[self.path.rpartition("/")[2]] = self._body()
            self._send({})

        def do_POST(self) -> None:
            path = unquote(urlsplit(self.path).path)
            served.asked.append(f"POST {path}")
            body = self._body()
            status = served.answers.get(path.rpartition("/")[2])
            if status is not None:
                self._refuse(status, "Injected")
                return
            if path == "/api/validate-yaml":
                problems = card_problems(json.loads(body)["content"])
                self._send(
                    {"errors": [{"message": each} for each in problems], "warnings": []}, 400 if problems else 200
                )
                return
            token = self.headers.get("authorization", "").removeprefix("Bearer ")
            named = re.match(r"/(api/)?datasets/([^/]+/[^/.]+)", path)
            if named and path.endswith("paths-info/" + path.rpartition("/")[2]):
                if self._may_see(named[2]):
                    self._paths(named[2], path.rpartition("/")[2], body)
            elif not token:
                self._refuse(401, "Unauthorized")
            elif token in served.readers:
                self._refuse(403, "Forbidden")
            elif path == "/api/repos/create":
                self._create(json.loads(body))
            elif path.endswith(".git/info/lfs/objects/batch"):
                self._batch(json.loads(body))
            elif named and self._may_see(named[2]):
                self._write(named[2], path.split("/")[5:], body)

        def _may_see(self, repo: str) -> bool:
            known = "authorization" in self.headers
            if repo not in served.repos or (repo in served.private and not known):
                self._refuse(404 if known else 401, "RepoNotFound")
            elif repo in served.gated and not known:
                self._refuse(401, "GatedRepo")
            else:
                return True
            return False

        def _create(self, wanted: dict[str, Any]) -> None:
            owner = wanted.get("organization") or "me"
            repo = f"{owner}/{wanted['name']}"
            if owner not in served.owners:
                self._refuse(403, "Forbidden")
            elif repo in served.repos:
                self._send({"url": f"{served.address}/datasets/{repo}", "error": "exists"}, 409)
            else:
                assert served.root is not None
                served.repos[repo] = served.root / repo
                served.repos[repo].mkdir(parents=True)
                if wanted.get("private") or wanted.get("visibility") == "private":
                    served.private.add(repo)
                self._send({"url": f"{served.address}/datasets/{repo}", "id": repo, "name": repo})

        def _batch(self, wanted: dict[str, Any]) -> None:
            objects = []
            for each in wanted["objects"]:
                href = {"href": f"{served.address}/large/{each['oid']}"}
                actions = {} if each["oid"] in served.large else {"actions": {"upload": href}}
                objects.append({"oid": each["oid"], "size": each["size"], "authenticated": True, **actions})
            self._send({"transfer": "basic", "objects": objects})

        def _write(self, repo: str, action: list[str], body: bytes) -> None:
            if action[0] == "branch":
                key = f"{repo}@{action[1]}"
                if key in served.repos:
                    self._refuse(409, "Exists")
                    return
                assert served.root is not None
                served.repos[key] = served.root / key
                served.repos[key].mkdir(parents=True)
                self._send({})
                return
            key = served.at(repo, action[1]) or ""
            if not key:
                self._refuse(404, "RevisionNotFound")
            elif action[0] == "preupload":
                files = json.loads(body)["files"]
                self._send(
                    {
                        "files": [
                            {"path": e["path"], "uploadMode": "lfs" if _is_large(e["path"]) else "regular",
                             "shouldIgnore": False, "oid": None}
                            for e in files
                        ]
                    }
                )  # fmt: skip
            else:
                self._commit(key, body)

        def _commit(self, key: str, body: bytes) -> None:
            folder = served.repos[key]
            for line in filter(bytes.strip, body.splitlines()):
                change = json.loads(line)
                kind, value = change["key"], change["value"]
                if kind == "deletedFile":
                    (folder / value["path"]).unlink()
                elif kind in ("file", "lfsFile"):
                    to = folder / value["path"]
                    to.parent.mkdir(parents=True, exist_ok=True)
                    small = kind == "file"
                    to.write_bytes(base64.b64decode(value["content"]) if small else served.large[value["oid"]])
            commit = served.commit(key)
            url = f"{served.address}/datasets/{key.partition('@')[0]}/commit/{commit}"
            self._send({"success": True, "commitOid": commit, "commitUrl": url, "hookOutput": ""})

        def _paths(self, repo: str, revision: str, body: bytes) -> None:
            key = served.at(repo, revision)
            if key is None:
                self._refuse(404, "RevisionNotFound")
                return
            is_json = "json" in self.headers.get("content-type", "")
            paths = json.loads(body)["paths"] if is_json else parse_qs(body.decode()).get("paths", [])
            self._send([each for path in paths for each in _entries(served.repos[key], path, only=True)])

        def _describe(self, key: str, action: str, below: str) -> None:
            folder = served.repos[key]
            repo = key.partition("@")[0]
            if action == "tree":
                recursive = "recursive" in self.path and "recursive=false" not in self.path.lower()
                found = _entries(folder, below, recursive=recursive)
                if below and not found:
                    self._refuse(404, "EntryNotFound")
                else:
                    self._send(found)
                return
            if action == "refs":
                branches = [
                    {"name": name, "ref": f"refs/heads/{name}", "targetCommit": served.commit(each)}
                    for each in served.repos
                    if each.partition("@")[0] == repo
                    for name in [each.partition("@")[2] or "main"]
                ]
                self._send({"branches": branches, "tags": [], "converts": []})
                return
            self._send(
                {
                    "id": repo,
                    "sha": served.commit(key),
                    "private": repo in served.private,
                    "gated": repo in served.gated,
                    "tags": [],
                    "downloads": 0,
                    "likes": 0,
                    "siblings": [{"rfilename": name} for name in files_of(folder)],
                }
            )

        def _file(self, key: str, name: str) -> None:
            path = served.repos[key] / name
            if not path.is_file():
                self._refuse(404, "EntryNotFound")
                return
            data = path.read_bytes()
            etag = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            headers = {"ETag": f'"{etag}"', "X-Repo-Commit": served.commit(key), "Accept-Ranges": "bytes"}
            part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
            if part and self.command == "GET":
                first, last = int(part[1]), min(int(part[2] or len(data) - 1), len(data) - 1)
                headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
                self._send(data[first : last + 1], 206, headers)
                return
            self._send(data, headers=headers)

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("transfer-encoding", ""):
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            whole = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole

        def _refuse(self, status: int, code: str) -> None:
            self._send({"error": code}, status, {"X-Error-Code": code, "X-Error-Message": code})

        def _send(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    served = Hub(f"http://127.0.0.1:{http.server_address[1]}", root)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def _is_large(path: str) -> bool:
    return path.endswith((".parquet", ".webp"))


def _entries(folder: Path, below: str, *, recursive: bool = True, only: bool = False) -> list[dict[str, Any]]:
    """Files and folders of a repository below a path, or what stands at it, as the Hub describes them."""
    names = files_of(folder)
    folders = sorted({"/".join(name.split("/")[:depth]) for name in names for depth in range(1, name.count("/") + 1)})
    described = [{"type": "directory", "path": name, "size": 0, "oid": "0" * 40} for name in folders]
    for name in names:
        data = (folder / name).read_bytes()
        oid = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        described.append({"type": "file", "path": name, "size": len(data), "oid": oid})
    if only:
        return [each for each in described if each["path"] == below]
    inside = [each for each in described if not below or each["path"].startswith(f"{below}/")]
    depth = below.count("/") + 1 if below else 0
    return [each for each in inside if recursive or each["path"].count("/") == depth]
