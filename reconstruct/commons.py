"""Wikimedia's files: what their addresses say, and what their licence metadata says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

from hannun.reconstruct.address import Unusable
from hannun.reconstruct.canonical import canonical
from hannun.reconstruct.hosts import rule_for
from hannun.schemas.outcome import Outcome

HOST = "upload.wikimedia.org"
_COMMONS = "wikipedia/commons"

# WikiDiverse's addresses begin with a stray character, or without their h; the host leaves no doubt.
_SCHEME = re.compile(r"(?:[^/:]?https?:|ttps?:)?(?=//upload\.wikimedia\.org/)", re.IGNORECASE)
_PATH = re.compile(
    r"/(?P<project>wik(?:ipedia|inews|ibooks|iquote|isource|iversity|ivoyage|tionary)/[a-z][a-z0-9-]*)"
    r"(?P<thumb>/thumb)?(?P<archive>/archive)?/(?P<folders>[0-9a-f]/[0-9a-f]{2})/(?P<name>[^/]+)(?:/(?P<thumbnail>[^/]+))?"
)
_ARCHIVED = re.compile(r"(?P<timestamp>[0-9]{14})!(?P<name>.+)")
# Characters that no title of MediaWiki holds.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f#<>\[\]|{}/]")


@dataclass(frozen=True)
class CommonsFile:
    """A file of Wikimedia Commons, or of another project's own files, as one address names it.

    `project` is the path of its wiki as in `wikipedia/commons` or `wikinews/en`, `name` the file's name with
    underscores. `width` in pixels and `parameters` (as `lossy-page1`, `seek=68`) are those of a thumbnail;
    `archived` is the timestamp that tells an old revision from the present one.
    """

    project: str
    name: str
    width: int | None = None
    parameters: str | None = None
    archived: str | None = None

    @property
    def original(self) -> str:
        """The address of the full-size bytes: of the old revision where one is named, else of the present one."""
        folders, name = _folders(self.name), quote(self.name, safe="")
        if self.archived is not None:
            return f"https://{HOST}/{self.project}/archive/{folders}/{self.archived}%21{name}"
        return f"https://{HOST}/{self.project}/{folders}/{name}"

    @property
    def title(self) -> str:
        """The title of the file's page."""
        return "File:" + self.name.replace("_", " ")

    @property
    def image_id(self) -> str:
        """The image id of the original, as `commons:Name.jpg`, `commons:Name.jpg@TIMESTAMP`, `wikinews-en:Name.png`."""
        namespace = "commons" if self.project == _COMMONS else self.project.replace("/", "-")
        return f"{namespace}:{self.name}" + (f"@{self.archived}" if self.archived else "")

    @property
    def api(self) -> str:
        """The address of the API of its wiki."""
        family, _, wiki = self.project.partition("/")
        host = "commons.wikimedia.org" if self.project == _COMMONS else f"{wiki}.{family}.org"
        return f"https://{host}/w/api.php"


def width_allowed(width: int) -> bool:
    """Whether thumbnails so many pixels wide are served."""
    return width in rule_for(HOST).widths


def read(address: str) -> CommonsFile:
    """What an address of upload.wikimedia.org says: an original, a thumbnail, or an archived revision.

    Repaired are a stray character before `http`, a lost `h`, blanks for underscores, decomposed Unicode, and
    a thumbnail's path without `/thumb`. The two folders must be those that the name's md5 gives, so a name
    that was spoilt on its way is not taken for another file.

    Raises
    ------
    Unusable
        `malformed-address`: not an address of a file there, or spoilt.

    Examples
    --------
    >>> read("nhttps://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/Example.jpg/250px-Example.jpg")
    CommonsFile(project='wikipedia/commons', name='Example.jpg', width=250, parameters=None, archived=None)
    """
    scheme = _SCHEME.match(address.strip())
    if scheme is None:
        raise _unusable(f"not an address of {HOST}")
    parts = _PATH.fullmatch(urlsplit(canonical("https:" + address.strip()[scheme.end() :])).path)
    if parts is None:
        raise _unusable("not a file's path: /PROJECT/WIKI/[thumb/][archive/]X/XY/NAME[/WIDTHpx-NAME] is expected")
    name, archived = _name(parts["name"]), None
    if parts["archive"]:
        revision = _ARCHIVED.fullmatch(name)
        if revision is None:
            raise _unusable(f"an archived revision is TIMESTAMP!NAME, not {name}")
        name, archived = revision["name"], revision["timestamp"]
    if parts["folders"] != _folders(name):
        raise _unusable(f"the name {name} belongs into {_folders(name)}, not {parts['folders']}: it was changed")
    if parts["thumbnail"] is None:
        if parts["thumb"]:
            raise _unusable("a thumbnail without its width")
        return CommonsFile(parts["project"], name, archived=archived)
    width, parameters = _thumbnail(name, _name(parts["thumbnail"]))
    return CommonsFile(parts["project"], name, width, parameters, archived)


def licence_of(metadata: Mapping[str, Any]) -> dict[str, str | None] | None:
    """The licence that a file's `extmetadata` states, as a lock entry holds it; None when it states none.

    `spdx` only where the stated code is one of SPDX's; `url` only where it is one of the web.
    """
    url = _value(metadata, "LicenseUrl")
    licence = {
        "spdx": _spdx(_value(metadata, "License") or ""),
        "name": _value(metadata, "LicenseShortName") or _value(metadata, "UsageTerms"),
        "url": url if url and re.match(r"https?://", url) else None,
    }
    return licence if any(licence.values()) else None


def attribution_of(metadata: Mapping[str, Any]) -> str | None:
    """Who is to be named, as plain text: the wording that the author asks for, else the author; None when unknown."""
    return _value(metadata, "Attribution") or _value(metadata, "Artist")


def plain_text(html: str) -> str:
    """The text of a piece of HTML on one line, without what a browser would not show."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.pieces).split())


def _unusable(why: str) -> Unusable:
    return Unusable(Outcome.MALFORMED_ADDRESS, why[:300])


def _folders(name: str) -> str:
    digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[0]}/{digest[:2]}"


def _name(escaped: str) -> str:
    try:
        name = unquote_to_bytes(escaped).decode("utf-8")
    except UnicodeDecodeError:
        raise _unusable(f"a name is UTF-8, not {escaped}") from None
    # MediaWiki keeps names composed and with underscores.
    name = unicodedata.normalize("NFC", name).replace(" ", "_")
    if _FORBIDDEN.search(name):
        raise _unusable(f"no file can have the name {name!r}")
    return name


def _thumbnail(name: str, thumbnail: str) -> tuple[int, str | None]:
    """Width and other parameters of a thumbnail's name; long names of files are replaced by `thumbnail`."""
    parts = re.fullmatch(
        r"(?P<before>(?:[A-Za-z0-9]+-)*?)(?P<width>[1-9][0-9]{0,5})px-(?:(?P<seek>seek=[0-9.:]+)?-)?"
        rf"(?:{re.escape(name)}|thumbnail(?:\.[A-Za-z0-9]+)?)(?:\.[A-Za-z0-9]+)?",
        thumbnail,
    )
    if parts is None:
        raise _unusable(f"not a thumbnail of {name}: WIDTHpx-NAME is expected, not {thumbnail}")
    parameters = [each for each in (parts["before"].rstrip("-"), parts["seek"]) if each]
    return int(parts["width"]), "-".join(parameters) or None


_SPDX = re.compile(
    r"cc-by-(1\.0|2\.0|2\.5(-au)?|3\.0(-at|-au|-de|-igo|-nl|-us)?|4\.0)"
    r"|cc-by-sa-(1\.0|2\.0(-uk)?|2\.1-jp|2\.5|3\.0(-at|-de|-igo)?|4\.0)"
)
"""Codes that are SPDX identifiers in lower case; of the ported licences SPDX lists these only."""


def _spdx(code: str) -> str | None:
    code = code.lower()
    if code == "cc0":
        return "CC0-1.0"
    return code.upper() if _SPDX.fullmatch(code) else None


def _value(metadata: Mapping[str, Any], name: str) -> str | None:
    """One value of `extmetadata` as plain text; None when it is not there, empty, or no text."""
    field = metadata.get(name)
    value = field.get("value") if isinstance(field, dict) else None
    return (plain_text(value) or None) if isinstance(value, str) else None


_VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
_UNSEEN = frozenset({"script", "style", "template"})
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "s", "small", "span", "strong", "sub", "sup", "u"}
)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.pieces.append(" ")
        if tag in _VOID:
            return
        style = (dict(attrs).get("style") or "").replace(" ", "").lower()
        # Everything inside a hidden element is hidden too.
        if self._hidden or tag in _UNSEEN or "display:none" in style:
            self._hidden += 1

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append(" ")
        if self._hidden and tag not in _VOID:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)
