"""An HTTP or HTTPS server on loopback that answers as a table says, and remembers what it was asked."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl


@dataclass
class Answer:
    """How one request is answered.

    `length` declares another Content-Length than the body's (None: none at all); `drip` sends a byte
    every so many seconds; `reset` breaks the connection after the body; `pause` waits so many seconds
    before anything is sent.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | str | None = "true"
    drip: float = 0.0
    reset: bool = False
    chunked_cut: bool = False
    pause: float = 0.0


class Server:
    """Answers by path; the last answer of a path repeats. A path of `made` is answered by its function of the query."""

    def __init__(self, port: int, scheme: str) -> None:
        self.address = f"{scheme}://127.0.0.1:{port}"
        self.at_once = 0
        self.most_at_once = 0
        self._counting = threading.Lock()
        self.answers: dict[str, list[Answer]] = {}
        self.made: dict[str, Callable[[dict[str, str]], Answer]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

    def answer(self, path: str, *answers: Answer) -> str:
        """Set the answers of a path; its address."""
        self.answers[path] = list(answers)
        return self.address + path

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self._counting:
                self.at_once -= 1

    def count(self, path: str) -> int:
        return sum(1 for asked, _ in self.asked if asked == path)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            answers = server.answers.get(self.path)
            path, _, query = self.path.partition("?")
            if path in server.made:
                answers = [server.made[path](dict(parse_qsl(query)))]
            answer = Answer(status=404) if not answers else answers.pop(0) if len(answers) > 1 else answers[0]
            # What follows is sent while the client may ask for more already.
            with server.counted():
                time.sleep(answer.pause)
            with suppress(BrokenPipeError, ConnectionResetError):
                self._send(answer)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.chunked_cut:
                self.send_header("Transfer-Encoding", "chunked")
            elif answer.length == "true":
                self.send_header("Content-Length", str(len(answer.body)))
            elif answer.length is not None:
                self.send_header("Content-Length", str(answer.length))
            self.send_header("Connection", "close")
            self.end_headers()
            if answer.chunked_cut:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(answer.body), answer.body))
            elif answer.drip:
                for n in range(len(answer.body)):
                    self.wfile.write(answer.body[n : n + 1])
                    time.sleep(answer.drip)
            else:
                self.wfile.write(answer.body)
            if answer.reset:
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
    server = Server(http.server_address[1], "http" if tls is None else "https")
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
