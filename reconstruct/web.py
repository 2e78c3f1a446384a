"""The web client: many transfers at once by libcurl, each streamed into the store as it comes.

libcurl because it was measured (docs/performance.md), and because it asks before it connects: the IP
address of every connection is checked when its socket is made, so no name can turn into a private
address between a check and its use. TLS checks are never off, https never becomes http, and the total
deadline and the byte cap hold while reading.
"""

from __future__ import annotations

import os
import socket
import time
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import certifi
import pycurl
from hannun.reconstruct.address import PRIVATE, unsafe_kind
from hannun.reconstruct.reply import Fault, Reply, range_start
from hannun.reconstruct.store import Incoming, TooLarge
from hannun.reconstruct.transfer import Reach

CONNECT_SECONDS = 30.0
"""Most seconds to wait for a connection, within the total deadline."""
AT_A_TIME = 64
"""Most transfers at a time, over all hosts."""

_IGNORED_BODY = 1 << 16
"""Bytes of an error page that are read, so that its connection can be used again."""

_FAULTS = {
    pycurl.E_OPERATION_TIMEDOUT: Fault.DEADLINE,
    pycurl.E_COULDNT_RESOLVE_HOST: Fault.NO_HOST,
    pycurl.E_COULDNT_RESOLVE_PROXY: Fault.NO_HOST,
    pycurl.E_PARTIAL_FILE: Fault.SHORT,
    pycurl.E_PEER_FAILED_VERIFICATION: Fault.TLS,
    pycurl.E_SSL_CONNECT_ERROR: Fault.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Fault.TLS,
    pycurl.E_SSL_CIPHER: Fault.TLS,
    pycurl.E_FILESIZE_EXCEEDED: Fault.TOO_LARGE,
    pycurl.E_URL_MALFORMAT: Fault.MALFORMED,
    pycurl.E_UNSUPPORTED_PROTOCOL: Fault.PROTOCOL,
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Fault.PROTOCOL,  # libcurl gives http the same number
    pycurl.E_BAD_CONTENT_ENCODING: Fault.PROTOCOL,
}


@dataclass(frozen=True)
class Ask:
    """One request: what to ask, where its body goes, and what it may cost.

    `job` comes back with the reply. `incoming` may hold the beginning of the file already; the rest is
    then asked for, on condition that the file is still the one of `validator`. `seconds` is the time left.
    """

    job: Any
    address: str
    incoming: Incoming
    seconds: float
    validator: str | None = None
    bytes_per_second: int | None = None
    allow_private: bool = False


class WebClient:
    """Runs transfers side by side; connections are reused."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, AT_A_TIME)
        self._idle: list[_Slot] = []
        self._busy: dict[pycurl.Curl, _Slot] = {}
        self._proxies = urllib.request.getproxies_environment()
        self._begun = False

    @property
    def active(self) -> int:
        """Number of transfers under way."""
        return len(self._busy)

    def close(self) -> None:
        self._multi.close()

    def start(self, ask: Ask) -> None:
        """Begin a transfer."""
        slot = self._idle.pop() if self._idle else _Slot(self._reach)
        slot.begin(ask, self._proxy_for(ask.address))
        self._multi.add_handle(slot.handle)
        self._busy[slot.handle] = slot
        self._begun = True

    def wait(self, seconds: float) -> list[tuple[Ask, Reply]]:
        """Move every transfer on, for at most so many seconds; those that ended.

        Raises
        ------
        IncompleteError
            The disk does not take what comes.
        """
        # What has just begun has no socket to wait for yet; neither has what waits for a name.
        if not self._begun and self._multi.select(seconds) == -1:
            time.sleep(min(seconds, 0.01))
        self._begun = False
        self._multi.perform()
        ended = []
        left = 1
        while left:
            left, good, bad = self._multi.info_read()
            for handle, code, message in [*((each, pycurl.E_OK, "") for each in good), *bad]:
                slot = self._busy.pop(handle)
                self._multi.remove_handle(handle)
                self._idle.append(slot)
                ended.append(slot.end(code, message))
        return ended

    def _proxy_for(self, address: str) -> str:
        if not self._proxies:
            return ""
        parts = urlsplit(address)
        if urllib.request.proxy_bypass_environment(parts.hostname or "", self._proxies):  # type: ignore[attr-defined]
            return ""
        return self._proxies.get(parts.scheme) or self._proxies.get("all") or ""


class _Slot:
    """One libcurl handle and what its running transfer has brought so far."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.handle = handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.FOLLOWLOCATION, 0)
        handle.setopt(pycurl.PATH_AS_IS, 1)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.CAINFO, _authorities())
        handle.setopt(pycurl.USERAGENT, reach.user_agent)
        handle.setopt(pycurl.BUFFERSIZE, 1 << 18)
        handle.setopt(pycurl.MAXFILESIZE_LARGE, reach.limits.max_bytes)
        # The header below asks for plain bytes; a server that packs all the same is unpacked.
        handle.setopt(pycurl.ACCEPT_ENCODING, "")
        handle.setopt(pycurl.HEADERFUNCTION, self._header)
        handle.setopt(pycurl.WRITEFUNCTION, self._body)
        handle.setopt(pycurl.OPENSOCKETFUNCTION, self._socket)

    def begin(self, ask: Ask, proxy: str) -> None:
        self._ask = ask
        self._proxied = bool(proxy)
        self._asked_from = ask.incoming.size if ask.validator else 0
        if not self._asked_from:
            ask.incoming.restart()
        self._headers: dict[str, str] = {}
        self._status, self._reason = 0, ""
        self._received = 0
        self._takes = False
        self._unsafe: str | None = None
        self._raised: Exception | None = None
        # What is digested are the bytes as served.
        headers = ["Accept-Encoding: identity", "Accept: */*"]
        if self._asked_from:
            headers += [f"Range: bytes={self._asked_from}-", f"If-Range: {ask.validator}"]
        handle, seconds = self.handle, ask.seconds
        handle.setopt(pycurl.URL, ask.address)
        # As it is: libcurl would write escapes in its own case, and a server may tell them apart.
        handle.setopt(pycurl.REQUEST_TARGET, _target(ask.address, proxied=self._proxied))
        handle.setopt(pycurl.HTTPHEADER, headers)
        handle.setopt(pycurl.PROXY, proxy)
        handle.setopt(pycurl.TIMEOUT_MS, max(1, int(seconds * 1000)))
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int(min(seconds, CONNECT_SECONDS) * 1000)))
        handle.setopt(pycurl.MAX_RECV_SPEED_LARGE, ask.bytes_per_second or 0)

    def end(self, code: int, message: str) -> tuple[Ask, Reply]:
        if self._raised is not None and not isinstance(self._raised, TooLarge):
            raise self._raised
        fault = self._fault(code, message)
        encoding = self._headers.get("content-encoding", "identity")
        packed = encoding.lower() not in ("identity", "")
        declared = "" if packed else self._headers.get("content-length", "")
        return self._ask, Reply(
            address=self._ask.address,
            status=self._status or None,
            reason=self._reason,
            fault=fault,
            note=self._note(fault, message),
            declared=int(declared) if declared.isdecimal() and declared.isascii() else None,
            received=self._received,
            asked_from=self._asked_from,
            location=self._headers.get("location"),
            retry_after=self._headers.get("retry-after"),
            # A part of a packed body continues no unpacked one.
            validator=None if packed else _validator(self._headers),
            content_range=self._headers.get("content-range"),
            content_type=self._headers.get("content-type"),
            content_encoding=encoding if packed else None,
        )

    def _fault(self, code: int, message: str) -> Fault | None:
        if self._unsafe is not None:
            return Fault.UNSAFE
        if isinstance(self._raised, TooLarge):
            return Fault.TOO_LARGE
        if code == pycurl.E_OK or (code == pycurl.E_WRITE_ERROR and not self._takes and self._status):
            # An error page of which enough was read is as good as whole.
            return None
        fault = _FAULTS.get(code, Fault.CONNECTION)
        if fault is Fault.TLS and any(word in message.lower() for word in ("reset", "eof", "timed out", "broken pipe")):
            return Fault.CONNECTION
        return fault

    def _note(self, fault: Fault | None, message: str) -> str | None:
        if fault is Fault.UNSAFE:
            return self._unsafe
        if fault is Fault.TOO_LARGE:
            return f"over {self._reach.limits.max_bytes} bytes"
        if fault is Fault.DEADLINE:
            return "total deadline" if self._status or self._received else f"no answer: {message[:160]}"
        if fault is Fault.SHORT:
            return f"{self._received} of {self._headers.get('content-length', 'unnamed')} bytes"
        return message[:200] if fault else None

    def _header(self, line: bytes) -> None:
        text = line.decode("latin-1").strip()
        if text.startswith("HTTP/"):
            # Interim responses come first; only the last one counts.
            _, _, rest = text.partition(" ")
            number, _, self._reason = rest.partition(" ")
            self._status = int(number) if number.isdecimal() else 0
            self._headers = {}
            return
        name, colon, value = text.partition(":")
        if colon:
            self._headers[name.lower()] = value.strip()
        elif not text and 200 <= self._status < 300:
            self._begin_body()

    def _begin_body(self) -> None:
        continues = self._status == 206 and self._asked_from > 0
        if continues and range_start(self._headers.get("content-range")) != self._asked_from:
            return
        if not continues:
            self._ask.incoming.restart()
        self._takes = True

    def _body(self, piece: bytes) -> int | None:
        self._received += len(piece)
        if not self._takes:
            return None if self._received <= _IGNORED_BODY else 0
        try:
            self._ask.incoming.write(piece)
        except Exception as error:  # noqa: BLE001  (libcurl's callbacks cannot raise: it is raised when the transfer ends)
            self._raised = error
            return 0
        return None

    def _socket(self, _: int, address: Any) -> Any:
        ip = address.addr[0]
        if isinstance(ip, bytes):
            ip = ip.decode("ascii")
        if not self._proxied:
            kind = unsafe_kind(ip)
            if kind is not None and not (self._ask.allow_private and kind in PRIVATE):
                self._unsafe = f"{urlsplit(self._ask.address).hostname} is {ip}: {kind}"
                return pycurl.SOCKET_BAD
        return socket.socket(address.family, address.socktype, address.protocol)


def _target(address: str, *, proxied: bool) -> str:
    """What the request line asks for (RFC 9112 section 3.2): path and query; of a proxy the whole address."""
    scheme, _, rest = address.partition("://")
    if proxied and scheme == "http":
        return address
    return "/" + rest.partition("/")[2]


def _authorities() -> str:
    """The file of certificate authorities that the user names, as requests and curl do, else certifi's."""
    named = (os.environ.get(name) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))
    return next((path for path in named if path), certifi.where())


def _validator(headers: dict[str, str]) -> str | None:
    """What tells that a file is still the same (RFC 9110 section 13.1.5): a strong ETag, else a date."""
    etag = headers.get("etag")
    if etag and not etag.startswith("W/"):
        return etag
    return headers.get("last-modified") if not etag else None
