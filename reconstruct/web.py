"""The plain and careful web client, one address at a time.

It is the seam behind which a faster engine can stand: whatever opens a `Web` location gives a `Transfer`
or raises `Failed`. TLS checks are never off, https never becomes http, and the total deadline and the
byte cap hold while reading.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

import requests
import urllib3.exceptions
from hannun.reconstruct.address import Unusable, check_address
from hannun.reconstruct.decide import outcome_of_status
from hannun.reconstruct.location import Web
from hannun.reconstruct.transfer import Failed, Limits, Reach, Transfer
from hannun.schemas.outcome import Outcome

_PIECE = 1 << 16
_REDIRECTS = 5


class WebClient:
    """Opens addresses over one session, so that connections are reused."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._session = requests.Session()
        self._session.headers["User-Agent"] = reach.user_agent
        # What is digested are the bytes as served.
        self._session.headers["Accept-Encoding"] = "identity"

    def close(self) -> None:
        self._session.close()

    @contextmanager
    def open(self, location: Web) -> Iterator[Transfer]:
        """The bytes at an address; raises `Failed` when they cannot be had or end short."""
        limits = self._reach.limits
        end = time.monotonic() + limits.deadline
        address = location.address
        try:
            for _ in range(_REDIRECTS + 1):
                check_address(address, allow_private=self._reach.allow_private)
                wait = max(0.1, min(30.0, end - time.monotonic()))
                with self._session.get(address, stream=True, allow_redirects=False, timeout=wait) as response:
                    if response.is_redirect:
                        address = _next_address(address, response.headers["Location"])
                        continue
                    yield _transfer(response, limits, end)
                    return
            raise Failed(Outcome.REDIRECTED, f"more than {_REDIRECTS} redirects")
        except Unusable as error:
            raise Failed(error.outcome, error.note) from None
        except requests.exceptions.SSLError as error:
            raise Failed(Outcome.TLS, _tls_reason(error)) from None
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None
        except urllib3.exceptions.ProtocolError as error:
            # The body is read from urllib3 itself, so its own errors come through.
            raise Failed(Outcome.TRUNCATED, _short(error)) from None
        except (requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise Failed(Outcome.MALFORMED_ADDRESS, _short(error)) from None
        except requests.exceptions.RequestException as error:
            raise Failed(Outcome.UNREACHABLE, _short(error)) from None


def _transfer(response: Any, limits: Limits, end: float) -> Transfer:
    failed = outcome_of_status(response.status_code)
    if failed is not None:
        raise Failed(
            failed,
            f"{response.status_code} {response.reason}",
            status=response.status_code,
            retry_after=response.headers.get("Retry-After"),
        )
    declared = response.headers.get("Content-Length", "")
    length = int(declared) if declared.isdecimal() and declared.isascii() else None
    if length is not None and length > limits.max_bytes:
        raise Failed(Outcome.TOO_LARGE, f"{length} bytes declared, cap {limits.max_bytes}", status=response.status_code)
    return Transfer(_body(response, length, end), status=response.status_code, etag=response.headers.get("ETag"))


def _body(response: Any, length: int | None, end: float) -> Iterator[bytes]:
    got = 0
    # read1 gives what has come, so that a drip is seen while it drips.
    while piece := response.raw.read1(_PIECE):
        got += len(piece)
        if time.monotonic() > end:
            raise Failed(Outcome.UNREACHABLE, "total deadline", status=response.status_code)
        yield piece
    if length is not None and got < length:
        raise Failed(Outcome.TRUNCATED, f"{got} of {length} bytes", status=response.status_code)


def _next_address(address: str, target: str) -> str:
    following = urljoin(address, target)
    if address.lower().startswith("https:") and following.lower().startswith("http:"):
        raise Failed(Outcome.REDIRECTED, "from https to http")
    return following


def _tls_reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return _short(error)


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
