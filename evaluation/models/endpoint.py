"""An OpenAI-compatible endpoint: chat completions, several at a time, patient with one that is slow or busy.

A reply that came whole is never asked for again. What may change is tried again as the server asks (Retry-After, for
all requests at once); what cannot change is not.
"""

from __future__ import annotations

import json
import queue
import random
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from hannun.evaluation.reply import AnyReply, Done, Key, Refused, Reply, Turn, Unreached
from hannun.evaluation.sampling import Sampling
from hannun.evaluation.shown_picture import PictureError, data_address
from hannun.reconstruct.decide import decide, outcome_of_status
from hannun.schemas.errors import HannunError, InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.version import version

ATTEMPTS = 6
"""Tries of one request in one run: half a minute of a server that does not say how long to wait."""

_CONNECT_SECONDS = 20.0
_MOST_BYTES = 64 << 20
_SHOWN = 300
"""Characters of a server's words that are repeated."""

_SPENT = ("insufficient_quota", "billing_hard_limit_reached")
_STOPS = frozenset({401, 402, 403, 404, 405})
"""Statuses that hold for every request: key, payment, address, model."""


class EndpointError(HannunError):
    """The endpoint refuses every request."""


@dataclass(frozen=True)
class Address:
    """Where an endpoint is.

    `base` is what `/chat/completions` is added to; `key` goes into the header alone, never into a line or a message;
    `deadline` are the seconds of one try.
    """

    base: str
    key: str | None = field(default=None, repr=False)
    deadline: float = 600.0

    @classmethod
    def of(cls, text: str, key: str | None, deadline: float) -> Address:
        """From what a user gives.

        Raises
        ------
        InputError
            No http or https address; one that holds a password; a key that no header can hold.
        """
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                "no http or https address", where="--endpoint", expected="an address such as http://localhost:8000/v1",
                got=parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(),
            )  # fmt: skip
        if parts.username or parts.password or parts.query:
            raise InputError(
                "the endpoint's address holds more than an address", where="--endpoint",
                todo="give a key in the environment variable HANNUN_API_KEY or OPENAI_API_KEY",
            )  # fmt: skip
        if key is not None and not (key.isascii() and key.isprintable()):
            raise InputError("the API key holds a character that no key has", todo="copy the key anew")
        return cls(text.rstrip("/").removesuffix("/chat/completions"), key, deadline)


class Endpoint:
    """Chat completions of one model.

    Parameters
    ----------
    at_once
        Requests at a time, at most.
    side
        Pixels of a picture's longer side, at most.
    """

    def __init__(self, address: Address, model: str, *, at_once: int, side: int) -> None:
        self.address, self.model = address, model
        self._at_once, self._side = at_once, side
        self._sessions: list[requests.Session] = []
        self._not_before = 0.0
        self._limit_name = "max_tokens"
        self._stopped = threading.Event()

    def answers(self, turns: Iterable[tuple[Key, Turn]], sampling: Sampling) -> Iterator[Done[Key, AnyReply]]:
        """What comes of each turn, as it comes; a few turns are taken ahead.

        Raises
        ------
        EndpointError
            The endpoint refuses every request: a wrong key, no such model, an account without means.
        """
        asked: queue.SimpleQueue[tuple[Key, dict[str, Any] | Refused] | None] = queue.SimpleQueue()
        came: queue.SimpleQueue[Done[Key, AnyReply] | Exception] = queue.SimpleQueue()

        def work() -> None:
            while (taken := asked.get()) is not None:
                begun = time.monotonic()
                try:
                    reply = self._ask(taken[1])
                except Exception as error:  # noqa: BLE001 - raised again where the replies are taken
                    came.put(error)
                else:
                    came.put(Done(taken[0], reply, time.monotonic() - begun))

        # Daemons: after Ctrl-C nobody waits for a reply that is still to come.
        for _ in range(self._at_once):
            threading.Thread(target=work, daemon=True).start()
        try:
            waiting = 0
            for key, turn in turns:
                # Pictures are read here: Pillow's switch for cut ones is not for threads.
                asked.put((key, self._body(turn, sampling)))
                waiting += 1
                if waiting > self._at_once:
                    yield _raised(came.get())
                    waiting -= 1
            for _ in range(waiting):
                yield _raised(came.get())
        except BaseException:
            self._stopped.set()
            raise
        finally:
            for _ in range(self._at_once):
                asked.put(None)

    def _body(self, turn: Turn, sampling: Sampling) -> dict[str, Any] | Refused:
        try:
            pictures = [
                {"type": "image_url", "image_url": {"url": data_address(each, self._side)}} for each in turn.pictures
            ]
        except PictureError as error:
            return Refused(error.what)
        content: Any = [*pictures, {"type": "text", "text": turn.text}] if pictures else turn.text
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
        }
        if sampling.temperature:
            # With the likeliest token each time, neither changes anything, and some servers refuse them.
            body |= {"top_p": sampling.top_p, "seed": sampling.seed}
        return body

    def _ask(self, body: dict[str, Any] | Refused) -> AnyReply:
        if isinstance(body, Refused):
            return body
        attempt = 1
        while True:
            self._wait()
            if self._stopped.is_set():
                return Unreached("stopped")
            tried = self._try(body)
            if not isinstance(tried, _Failure):
                return tried
            decision = decide(
                tried.outcome, attempt, tried.retry_after, datetime.now(UTC), random.random(),  # noqa: S311
                attempts=ATTEMPTS,
            )  # fmt: skip
            if decision.wait is None:
                return Unreached("; ".join(each for each in (tried.why, decision.note) if each))
            if tried.outcome is Outcome.THROTTLED:
                self._not_before = max(self._not_before, time.monotonic() + decision.wait)
            else:
                self._stopped.wait(decision.wait)
            attempt += 1

    def _wait(self) -> None:
        """Until no request is to hold off."""
        while (rest := self._not_before - time.monotonic()) > 0:
            if self._stopped.wait(rest):
                return

    def _try(self, body: dict[str, Any]) -> AnyReply | _Failure:
        sent = {self._limit_name if key == "max_tokens" else key: value for key, value in body.items()}
        try:
            status, retry_after, text = self._post(sent)
        except requests.exceptions.SSLError as error:
            raise EndpointError(
                "the endpoint's certificate is not trusted", where=self.address.base, got=_short(str(error)),
                todo="mend the certificate, or name its authority in REQUESTS_CA_BUNDLE",
            ) from None  # fmt: skip
        except (requests.RequestException, _TooLateError) as error:
            return _Failure(Outcome.UNREACHABLE, _short(_plainly(error)))
        if status == 200:
            return _reply(text)
        return self._refusal(status, retry_after, text, limit_name=next(iter({*sent} - {*body}), "max_tokens"))

    def _post(self, body: dict[str, Any]) -> tuple[int, str | None, str]:
        """Status, Retry-After and the whole text of one try."""
        begun = time.monotonic()
        session = self._sessions.pop() if self._sessions else self._session()
        with session.post(
            f"{self.address.base}/chat/completions", json=body, stream=True, allow_redirects=False,
            timeout=(min(_CONNECT_SECONDS, self.address.deadline), self.address.deadline),
        ) as response:  # fmt: skip
            pieces, size = [], 0
            for piece in response.iter_content(1 << 16):
                pieces.append(piece)
                size += len(piece)
                if time.monotonic() - begun > self.address.deadline:
                    raise _TooLateError(f"no whole reply in {self.address.deadline:.0f} s")
                if size > _MOST_BYTES:
                    raise _TooLateError(f"a reply of more than {_MOST_BYTES >> 20} MiB")
        self._sessions.append(session)
        return response.status_code, response.headers.get("Retry-After"), b"".join(pieces).decode(errors="replace")

    def _session(self) -> requests.Session:
        session = requests.Session()
        session.headers["User-Agent"] = f"hannun/{version()}"
        if self.address.key:
            session.headers["Authorization"] = f"Bearer {self.address.key}"
        # A .netrc would put another key in its place.
        session.auth = _as_it_is
        return session

    def _refusal(self, status: int, retry_after: str | None, text: str, *, limit_name: str) -> AnyReply | _Failure:
        said, code = _said(text)
        why = f"{status}: {said}" if said else str(status)
        if status in _STOPS or code in _SPENT or 300 <= status < 400:
            raise EndpointError(
                f"the endpoint refuses: {why}", where=self.address.base, got=f"model {self.model}",
                todo="check address, model, account, and the key in HANNUN_API_KEY or OPENAI_API_KEY",
            )  # fmt: skip
        if status == 400 and limit_name == "max_tokens" and "max_completion_tokens" in said:
            # Newer models of OpenAI have another name for it, and say so.
            self._limit_name = "max_completion_tokens"
            return _Failure(Outcome.SERVER_ERROR, why, retry_after="0")
        outcome = outcome_of_status(status) or Outcome.SERVER_ERROR
        if outcome in (Outcome.REFUSED, Outcome.GONE):
            return Refused(why)
        return _Failure(outcome, why, retry_after)


@dataclass(frozen=True)
class _Failure:
    """A try that brought no reply, and may be repeated."""

    outcome: Outcome
    why: str
    retry_after: str | None = None


class _TooLateError(Exception):
    pass


def _reply(text: str) -> Reply | _Failure:
    """The reply in a body of status 200; one that is cut or no completion may be asked for again."""
    try:
        value = json.loads(text)
        choice = value["choices"][0]
        message = choice["message"]
        content = message.get("content") or message.get("refusal") or ""
        if not isinstance(content, str):
            content = "".join(part["text"] for part in content if part.get("type") == "text")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        said = _said(text)[0]
        return _Failure(Outcome.SERVER_ERROR, f"no chat completion: {said or _short(text) or 'an empty body'}")
    server = [each for each in (value.get("model"), value.get("system_fingerprint")) if isinstance(each, str)]
    return Reply(_text(content), cut=choice.get("finish_reason") == "length", server=", ".join(server) or None)


def _text(content: str) -> str:
    """Without lone surrogates, which JSON can write and no text can hold."""
    return content.encode("utf-8", "replace").decode()


def _said(text: str) -> tuple[str, str | None]:
    """What an error's body says, in short, and its code."""
    try:
        error = json.loads(text)
        error = error.get("error", error)
        if isinstance(error, str):
            return _short(error), None
        code = error.get("code") or error.get("type")
        return _short(str(error.get("message") or error.get("detail") or "")), code if isinstance(code, str) else None
    except (ValueError, AttributeError):
        return _short(text), None


def _short(text: str) -> str:
    words = " ".join(_text(text).split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."


def _plainly(error: Exception) -> str:
    if isinstance(error, requests.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, requests.Timeout):
        return "no reply in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the reply was cut off"
    if not isinstance(error, requests.ConnectionError):
        return str(error)
    # Of requests' words, what the system said.
    return f"no connection: {str(error).rpartition(': ')[2].rstrip(chr(34) + chr(39) + ')')}"


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _raised(came: Done[Key, AnyReply] | Exception) -> Done[Key, AnyReply]:
    if isinstance(came, Exception):
        raise came
    return came
