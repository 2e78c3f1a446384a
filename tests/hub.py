"""A Hugging Face Hub on loopback that holds dataset repositories, each at one commit, to read from."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Hub:
    """`repos` are folders by repository; those of `gated` are shown to whoever has a token."""

    address: str
    repos: dict[str, Path] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def commit(self, repo: str) -> str:
        """The commit of a repository: a digest of what it holds."""
        folder = self.repos[repo]
        whole = hashlib.sha1(usedforsecurity=False)
        for name in files_of(folder):
            whole.update(name.encode() + b"\0" + (folder / name).read_bytes())
        return whole.hexdigest()


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@contextmanager
def hub() -> Iterator[Hub]:
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
            if kind not in ("api/", "") or repo not in served.repos:
                self._refuse(404 if "authorization" in self.headers else 401, "RepoNotFound")
            elif repo in served.gated and "authorization" not in self.headers:
                self._refuse(401, "GatedRepo")
            elif revision and revision not in ("main", served.commit(repo)):
                self._refuse(404, "RevisionNotFound")
            elif kind:
                self._describe(repo, action)
            else:
                self._file(repo, "/".join(more).rstrip("/"))

        def _describe(self, repo: str, action: str) -> None:
            folder = served.repos[repo]
            if action == "tree":
                sizes = {name: (folder / name).stat().st_size for name in files_of(folder)}
                self._send([{"type": "file", "path": n, "size": s, "oid": "0" * 40} for n, s in sizes.items()])
                return
            self._send(
                {
                    "id": repo,
                    "sha": served.commit(repo),
                    "private": False,
                    "gated": repo in served.gated,
                    "tags": [],
                    "downloads": 0,
                    "likes": 0,
                    "siblings": [{"rfilename": name} for name in files_of(folder)],
                }
            )

        def _file(self, repo: str, name: str) -> None:
            path = served.repos[repo] / name
            if not path.is_file():
                self._refuse(404, "EntryNotFound")
                return
            data = path.read_bytes()
            etag = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            self._send(data, headers={"ETag": f'"{etag}"', "X-Repo-Commit": served.commit(repo)})

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
    served = Hub(f"http://127.0.0.1:{http.server_address[1]}")
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
