"""Addresses as they must be asked: repaired where nothing has to be guessed, and one key for one resource.

Lists of images hold addresses as people wrote them: raw, escaped, and half escaped. What is legal stays
as it is, since a server may tell `%ea` from `%EA`, and `a/../b` from `b`.
"""

from __future__ import annotations

import re

import idna
from hannun.reconstruct.address import Unusable, check_address
from hannun.schemas.outcome import Outcome

_UNRESERVED = r"A-Za-z0-9._~\-"
_PATH = rf"{_UNRESERVED}!$&'()*+,;=:@/"
"""What a path may hold unescaped (RFC 3986 section 3.3); a query may hold `?` too."""
_TO_ESCAPE = {
    part: re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^{legal}%]") for part, legal in (("path", _PATH), ("query", _PATH + "?"))
}
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ESCAPED_UTF_16 = re.compile(r"%[uU][0-9A-Fa-f]{4}")

# Controls, what is not seen (joiners apart: words need them), direction marks (RFC 3987 section 4.1), and
# what stands for text that was lost.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]"
)

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#.*)?")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:@\[\]]+)(?::([0-9]*))?")
_NAME = re.compile(r"(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def canonical(address: str) -> str:
    """The address as it must be asked: ASCII, legal, and the same resource.

    White space around it is dropped, and so are the fragment and a default port. Scheme and host are in
    lower case, the host in punycode, an empty path is `/`. What is not legal is escaped as UTF-8; a `%`
    that begins no escape is `%25`. Escapes, dot segments and the form of Unicode stay as they are.

    Raises
    ------
    Unusable
        `malformed-address` where only a guess could repair it: no scheme or host, control or invisible
        characters, `%uXXXX`; `unsafe-address` for credentials and schemes other than http and https.

    Examples
    --------
    >>> canonical(" HTTP://Host:80/75%/a b%2f.jpg#top")
    'http://host/75%25/a%20b%2f.jpg'
    """
    origin, target = _origin_and_target(address)
    return origin + target


def request_target(address: str) -> str:
    """What the request line holds: path and query of the canonical address; raises `Unusable` as it does."""
    return _origin_and_target(address)[1]


def key(address: str) -> str:
    """One key for one resource, to find duplicates; not an address to ask.

    The canonical address with its escapes in upper case, and unescaped where they stand for an unreserved
    character (RFC 3986 section 6.2.2). Raises `Unusable` as `canonical` does.

    Examples
    --------
    >>> key("https://host/%7ea%2fb") == key("https://HOST/~a%2Fb")
    True
    """
    return _ESCAPE.sub(_settled, canonical(address))


def _origin_and_target(address: str) -> tuple[str, str]:
    text = address.strip()
    unprintable = _UNPRINTABLE.search(text)
    if unprintable:
        raise Unusable(
            Outcome.MALFORMED_ADDRESS, f"U+{ord(unprintable[0]):04X} at character {unprintable.start()} of the address"
        )
    parts = _ADDRESS.fullmatch(text)
    if parts is None:
        raise Unusable(Outcome.MALFORMED_ADDRESS, "no scheme")
    check_address(text, allow_private=False, resolve=_unresolved)
    scheme, authority, path, query = parts[1].lower(), parts[2] or "", parts[3], parts[4] or ""
    if _ESCAPED_UTF_16.search(path + query):
        raise Unusable(Outcome.MALFORMED_ADDRESS, "%uXXXX is no escape of an address")
    return f"{scheme}://{_host_and_port(scheme, authority)}", _escaped("path", path or "/") + _escaped("query", query)


def _unresolved(host: str, port: int) -> list[str]:  # noqa: ARG001  (a resolver's form)
    """No IP address: only the form of an address is looked at here."""
    return []


def _host_and_port(scheme: str, authority: str) -> str:
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise Unusable(Outcome.MALFORMED_ADDRESS, f"not a host: {authority[:80]!r}")
    host = parts[1].lower()
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError as error:
            raise Unusable(Outcome.MALFORMED_ADDRESS, f"not a host: {error}") from None
    if not _NAME.fullmatch(host):
        raise Unusable(Outcome.MALFORMED_ADDRESS, f"not a host: {host[:80]!r}")
    port = int(parts[2]) if parts[2] else _DEFAULT_PORTS[scheme]
    return host if port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"


def _escaped(part: str, text: str) -> str:
    return _TO_ESCAPE[part].sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def _settled(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if re.fullmatch(f"[{_UNRESERVED}]", character) else escape[0].upper()
