"""An OpenAI-compatible endpoint on loopback, which can be slow, busy, rude or broken."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Trouble:
    """What is done in place of a whole reply: a status with headers and a body, or a reply that is cut off."""

    status: int = 200
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    seconds: float = 0.0


def error(status: int, message: str, code: str | None = None, **headers: str) -> Trouble:
    return Trouble(status, json.dumps({"error": {"message": message, "code": code}}), headers)


Say = Callable[[str, list[dict[str, Any]]], str]
"""Text of the turn and its pictures -> what the model says."""


@dataclass
class Chat:
    """`trouble` decides for each request, by its text and how often that text was asked, what goes wrong."""

    address: str
    say: Say
    trouble: Callable[[str, int], Trouble | None] = lambda _text, _times: None
    finish: str = "stop"
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)
    replied: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0


def text_of(body: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content, []
    pictures = [part["image_url"] for part in content if part["type"] == "image_url"]
    return next(part["text"] for part in content if part["type"] == "text"), pictures


@contextmanager
def chatting(say: Say) -> Iterator[Chat]:
    lock = threading.Lock()
    now = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            nonlocal now
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, pictures = text_of(body)
            key = text + "".join(each["url"] for each in pictures)
            with lock:
                now += 1
                chat.most_at_once = max(chat.most_at_once, now)
                chat.tries[key] += 1
                times = chat.tries[key]
                chat.asked.append(body)
                chat.headers.append(dict(self.headers))
                chat.times.append(time.monotonic())
            try:
                self._reply(body, text, pictures, key, times)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with lock:
                    now -= 1

        def _reply(self, body: dict[str, Any], text: str, pictures: list[dict[str, Any]], key: str, times: int) -> None:
            trouble = chat.trouble(text, times)
            if self.path != "/v1/chat/completions":
                trouble = error(404, f"no {self.path}")
            if trouble is not None and trouble.seconds:
                time.sleep(trouble.seconds)
                trouble = None if trouble.body is None and not trouble.cut else trouble
            reply = (
                trouble.body
                if trouble is not None and trouble.body is not None
                else self._completion(body, text, pictures)
            )
            data = reply.encode()
            self.send_response(200 if trouble is None else trouble.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in ({} if trouble is None else trouble.headers).items():
                self.send_header(name, value)
            self.end_headers()
            if trouble is not None and trouble.cut:
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
                return
            if trouble is None:
                with lock:
                    chat.replied[key] += 1
            self.wfile.write(data)

        def _completion(self, body: dict[str, Any], text: str, pictures: list[dict[str, Any]]) -> str:
            message = {"role": "assistant", "content": chat.say(text, pictures)}
            return json.dumps(
                {
                    "id": "chatcmpl-1", "object": "chat.completion", "model": f"{body['model']}-2026-11-01",
                    "system_fingerprint": "fp_1", "choices": [{"index": 0, "message": message, "finish_reason": chat.finish}],
                }
            )  # fmt: skip

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    chat = Chat(f"http://127.0.0.1:{server.server_address[1]}/v1", say)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
