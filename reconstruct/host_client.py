"""The client for what hosts publish of files: Wikimedia's API, and the headers of S3."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
import requests.utils
from hannun.reconstruct import commons
from hannun.reconstruct.address import Unusable, check_address, literal_resolver, system_resolver
from hannun.reconstruct.decide import Failure, Follow, decide, verdict
from hannun.reconstruct.published import Published, revisions, stored_object
from hannun.reconstruct.reply import Reply
from hannun.reconstruct.transfer import Failed, Reach
from hannun.schemas.outcome import Outcome

_MAX_ANSWER = 64 << 20
"""Bytes of one answer of an API."""
_PIECE = 1 << 16
_CONNECT_SECONDS = 30.0

_QUERY = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "prop": "imageinfo",
    "iiprop": "url|size|sha1|mime|timestamp|archivename|extmetadata",
    "iilimit": "max",
    "redirects": "1",
    # Wikimedia asks programs to step back while its database replicas lag more than five seconds.
    "maxlag": "5",
}
_BUSY = frozenset({"maxlag", "ratelimited"})
_AILING = ("internal_api_error", "readonly")
_FORM = "an answer of another form than the API's"

_T = TypeVar("_T")
Revisions = tuple[Published, ...]


@dataclass(frozen=True)
class _Answer:
    """A success: headers, by names in any case, and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HostClient:
    """Asks hosts, politely: one request at a time, pauses as asked for, and no more once a host has had enough."""

    def __init__(self, reach: Reach, sleep: Callable[[float], None]) -> None:
        self._reach = reach
        self._sleep = sleep
        self._session = requests.Session()
        self._session.headers["User-Agent"] = reach.user_agent
        self._closed: dict[str, Failed] = {}

    def close(self) -> None:
        self._session.close()

    def object(self, address: str) -> Published | Failed:
        """What an S3 host says of an object, or why it does not."""
        host = urlsplit(address).netloc
        if host in self._closed:
            return self._closed[host]
        try:
            return stored_object(address, self._tried(partial(self._ask, "HEAD", address)).headers)
        except Failed as failure:
            if failure.outcome is Outcome.THROTTLED:
                self._closed[host] = failure
            return failure

    def files(self, api: str, titles: Sequence[str]) -> dict[str, Revisions | Failed]:
        """Revisions of files by title, the present one first, none for a file that is not there; or why unknown."""
        if api in self._closed:
            return dict.fromkeys(titles, self._closed[api])
        try:
            return self._files(api, titles)
        except Failed as failure:
            if failure.outcome is Outcome.GONE:
                # An API that is not there says nothing of the files.
                failure = Failed(Outcome.REFUSED, f"no API at {api}: {failure.note}")
            if failure.outcome in (Outcome.THROTTLED, Outcome.REFUSED):
                self._closed[api] = failure
            return dict.fromkeys(titles, failure)

    def _files(self, api: str, titles: Sequence[str]) -> dict[str, Revisions | Failed]:
        pages: dict[str, Revisions | Failed] = {}
        renamed: dict[str, str] = {}
        more: dict[str, str] = {}
        while True:
            answer = self._tried(partial(self._query, api, {**_QUERY, "titles": "|".join(titles), **more}))
            try:
                _collect(answer, pages, renamed)
                following = dict(answer.get("continue", {}))
            except (AttributeError, KeyError, TypeError, ValueError):
                raise Failed(Outcome.SERVER_ERROR, _FORM) from None
            if not following:
                break
            if following == more:
                raise Failed(Outcome.SERVER_ERROR, "the API goes on from the same place again")
            more = following
        unnamed = Failed(Outcome.SERVER_ERROR, "the answer does not name the file")
        return {title: pages.get(_final(title, renamed), unnamed) for title in titles}

    def _query(self, api: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        answer = self._ask("GET", api, parameters)
        try:
            value = json.loads(answer.body)
        except ValueError:
            raise Failed(Outcome.SERVER_ERROR, "the answer is not JSON", status=answer.status) from None
        if not isinstance(value, dict):
            raise Failed(Outcome.SERVER_ERROR, _FORM, status=answer.status)
        error = value.get("error")
        if isinstance(error, dict):
            code, info = str(error.get("code")), commons.plain_text(str(error.get("info")))
            raise Failed(
                _outcome_of_code(code),
                f"{code}: {info[:200]}",
                status=answer.status,
                retry_after=answer.headers.get("Retry-After"),
            )
        return value

    def _tried(self, ask: Callable[[], _T]) -> _T:
        tries = 1
        while True:
            try:
                return ask()
            except Failed as failure:
                # random only spreads waiting times.
                jitter = random.random()  # noqa: S311
                decision = decide(failure.outcome, tries, failure.retry_after, datetime.now(UTC), jitter)
                if decision.wait is None:
                    note = "; ".join(each for each in (failure.note, decision.note) if each) or None
                    raise Failed(failure.outcome, note, status=failure.status) from None
                self._sleep(decision.wait)
                tries += 1

    def _ask(self, method: str, address: str, parameters: Mapping[str, str] | None = None) -> _Answer:
        """One try, that succeeds or raises `Failed`; redirects are followed on the same host only."""
        named = urlsplit(address).hostname or ""
        # The user names the mirror, so it may be a private address.
        allow_private = self._reach.allow_private or named in self._reach.mirrors
        address = self._reach.mirrored(address, named)
        host, hops = urlsplit(address).hostname, 0
        while True:
            response, body = self._request(method, address, parameters, allow_private=allow_private)
            reply = Reply(
                address=address,
                status=response.status_code,
                reason=response.reason or "",
                location=response.headers.get("Location"),
            )
            match verdict(reply, hops=hops):
                case Follow(following):
                    if urlsplit(following).hostname != host:
                        raise Failed(Outcome.REDIRECTED, f"to another host: {urlsplit(following).hostname}")
                    address, parameters, hops = following, None, hops + 1
                case Failure(outcome, note):
                    # A refusal says to a person what it is about.
                    refused = outcome is Outcome.REFUSED
                    said = commons.plain_text(body.decode("utf-8", "replace"))[:200] if refused else ""
                    raise Failed(
                        outcome,
                        ": ".join(each for each in (note, said) if each),
                        status=response.status_code,
                        retry_after=response.headers.get("Retry-After"),
                    )
                case _:
                    return _Answer(response.status_code, response.headers, body)

    def _request(
        self, method: str, address: str, parameters: Mapping[str, str] | None, *, allow_private: bool
    ) -> tuple[requests.Response, bytes]:
        deadline = self._reach.limits.deadline
        end = time.monotonic() + deadline
        try:
            # Behind a proxy names are the proxy's to resolve.
            resolve = literal_resolver if requests.utils.get_environ_proxies(address) else system_resolver
            check_address(address, allow_private=allow_private, resolve=resolve)
            with self._session.request(
                method,
                address,
                params=parameters,
                allow_redirects=False,
                stream=True,
                timeout=min(_CONNECT_SECONDS, deadline),
            ) as response:
                return response, _body(response, end)
        except Unusable as error:
            raise Failed(error.outcome, error.note) from None
        except requests.exceptions.SSLError as error:
            raise Failed(Outcome.TLS, _cause(error)) from None
        except requests.exceptions.ChunkedEncodingError as error:
            raise Failed(Outcome.TRUNCATED, _cause(error)) from None
        except requests.exceptions.RequestException as error:
            raise Failed(Outcome.UNREACHABLE, _cause(error)) from None


def _outcome_of_code(code: str) -> Outcome:
    """The outcome of an error that the API names."""
    if code in _BUSY:
        return Outcome.THROTTLED
    return Outcome.SERVER_ERROR if code.startswith(_AILING) else Outcome.REFUSED


def _collect(answer: Mapping[str, Any], pages: dict[str, Revisions | Failed], renamed: dict[str, str]) -> None:
    """Take in one answer of the API: which titles became which, and what it says of each page."""
    query = answer["query"]
    for each in (*query.get("normalized", ()), *query.get("redirects", ())):
        renamed[each["from"]] = each["to"]
    for page in query.get("pages", ()):
        title = page["title"]
        if page.get("invalid"):
            pages[title] = Failed(Outcome.MALFORMED_ADDRESS, commons.plain_text(str(page.get("invalidreason"))))
            continue
        # A continued answer adds revisions to a page that came before.
        before = pages.get(title, ())
        pages[title] = (*(() if isinstance(before, Failed) else before), *revisions(page))


def _final(title: str, renamed: Mapping[str, str]) -> str:
    seen = set()
    while title in renamed and title not in seen:
        seen.add(title)
        title = renamed[title]
    return title


def _body(response: requests.Response, end: float) -> bytes:
    pieces, size = [], 0
    for piece in response.iter_content(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_ANSWER:
            raise Failed(Outcome.TOO_LARGE, f"an answer of more than {_MAX_ANSWER} bytes", status=response.status_code)
        if time.monotonic() > end:
            raise Failed(Outcome.UNREACHABLE, "total deadline", status=response.status_code)
    return b"".join(pieces)


def _cause(error: Exception) -> str:
    return str(error).rpartition("(Caused by ")[2][:200] or type(error).__name__
