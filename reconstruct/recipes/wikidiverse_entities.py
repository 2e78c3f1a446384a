"""WikiDiverse's entities: one key for one entity however it is written, and its page image.

A title stands raw or percent-encoded, alone or in an address that begins with a stray character or without
its h. Upstream's own evaluation takes underscores, blanks and hyphens for the same, so keys do too; where the
list of images has several entities of one key, the one that is written alike is taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from hannun.reconstruct import canonical, commons
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.archives.packed_texts import Wanted, packed_text
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.schemas.text import comparison_key
from hannun.schemas.text_file import lines_of

_LIST = Wanted(re.compile(r"(?!readme)[^/]+", re.IGNORECASE), "the list of entities and images")
_GIVE = "give WikiDiverse's 'alignment between entity names and image URLs'"

_SCHEME = re.compile(r"(?:[^/:]?https?|ttps?):(?=//)|(?=//)", re.IGNORECASE)
_ARTICLE = re.compile(r"https?://(?:en\.)?(?:m\.)?wikipedia\.org/+wiki/(?P<title>[^#]+)(?:#.*)?", re.IGNORECASE)
_COMMONS = re.compile(rf"https?://{re.escape(commons.HOST)}/", re.IGNORECASE)

INTERFACE_ICON = re.compile(
    r"(?:(?:Commons|Wiki(?:books|data|media|news|pedia|quote|source|species|versity|voyage)|Wiktionary)[-_](?:logo|emblem|icon)"
    r"|Disambig|Question_book|Text_document_with|Unbalanced_scales|Ambox_|Emblem-important|Information_icon|Info_Simple"
    r"|Edit[-_](?:clear|icon|pencil)|(?:Blue|Red)_pencil|OOjs_UI_icon|Gnome-|Crystal_Clear|Nuvola_apps|Folder_Hexagonal"
    r"|Portal-puzzle|Symbol_(?:book_class|category_class|list_class|neutral|oppose|support)|(?:Merge|Split)-arrow"
    r"|(?:Semi|Full|Move|Extended)[-_]protect|(?:Padlock|Lock)-|Loudspeaker|Speaker_icon|Sound-icon|Magnify-clip"
    r"|Star_(?:empty|full|half)|Cscr-|Translation_(?:arrow|to_)|(?:Increase|Decrease|Steady)(?=[0-9_.](?:Pos|Neg|svg|\.))"
    r"|(?:Blank|Transparent)(?=\.))[^/]*\.(?:svg|png|gif)",
    re.IGNORECASE,
)
"""File names of what pages of Wikipedia show beside their articles; a file named after the entity is none."""

_NO_PICTURE = re.compile(r"\.(?:og[agvx]|opus|flac|wav|mp[34]|mpe?g|mov|webm|midi?|pdf|djvu|stl)", re.IGNORECASE)


@dataclass(frozen=True)
class Entity:
    """An entity of Wikipedia by its title, with blanks."""

    title: str

    @cached_property
    def key(self) -> str:
        """Equal for all ways to write the entity."""
        return _capitalised(" ".join(self.title.replace("-", " ").split()))


@dataclass(frozen=True)
class EntityImage:
    """A picture by its image id, the address to ask, and its file's name."""

    image_id: str
    location: str
    name: str


def entity(text: str) -> Entity | None:
    """The entity that a title or an address names; None for nil, in any case, and for nothing.

    Examples
    --------
    >>> entity("nhttps://en.wikipedia.org/wiki/Cassini%E2%80%93Huygens#Launch")
    Entity(title='Cassini–Huygens')
    """
    text = _with_scheme(text)
    article = _ARTICLE.fullmatch(text)
    title = article["title"] if article else text
    try:
        title = unquote_to_bytes(title).decode("utf-8")
    except UnicodeDecodeError:
        # A raw title with a percent sign in it.
        pass
    title = " ".join(comparison_key(title).replace("_", " ").split())
    if not title or (article is None and title.casefold() == "nil"):
        return None
    return Entity(_capitalised(title))


def _capitalised(title: str) -> str:
    """As MediaWiki keeps titles."""
    return title[:1].upper() + title[1:]


def image_at(address: str) -> EntityImage:
    """The picture that an address names; of Wikimedia's files the original.

    Raises
    ------
    Unusable
        No request can help: `malformed-address`, `unsafe-address`, or `unsupported-format` for what is no
        picture, such as a video's still.
    """
    text = _with_scheme(address)
    if _COMMONS.match(text):
        file = commons.read(text)
        _, dot, extension = file.name.rpartition(".")
        if _NO_PICTURE.fullmatch(dot + extension):
            raise Unusable(Outcome.UNSUPPORTED_FORMAT, f"the original is no picture: {file.name}")
        return EntityImage(file.image_id, file.original, file.name)
    location = canonical.canonical(text)
    name = unquote(urlsplit(location).path.rpartition("/")[2])
    return EntityImage(f"web:{canonical.key(text)}", location, name)


def page_image(title: str, addresses: Iterable[str]) -> EntityImage | str:
    """The first picture of an entity's page that is no icon of the interface; why there is none, else."""
    # On the pages of Wikinews and Wikimedia Commons their logos are no icons.
    own = tuple(each.replace(" ", "_") for each in (title, f"{title.rsplit(maxsplit=1)[-1]}-logo"))
    problems = []
    for address in addresses:
        try:
            image = image_at(address)
        except Unusable as error:
            problems.append(error.outcome.value)
            continue
        name = image.name.replace(" ", "_")
        if name.startswith(own) or not INTERFACE_ICON.fullmatch(name):
            return image
    return f"has no address that can be asked: {problems[0]}" if problems else "has no image"


class EntityImages:
    """The page image of each entity, from the official list.

    Parameters
    ----------
    source
        One line an entity: title or address, then the pictures' addresses; separated by tabs or `@@@@`;
        or an archive that holds the list.
    wanted
        Keys of the entities to read; the list has millions of others.

    Raises
    ------
    InputError
        No line of the file is of that form, or none is of a wanted entity.
    """

    def __init__(self, source: Source, wanted: Collection[str]) -> None:
        listed: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for name, addresses in _entries(source):
            known = entity(name)
            if known is not None and known.key in wanted:
                titles = listed[known.key]
                # Lines of one title: the order of lines must not matter.
                titles[known.title] = min(titles.get(known.title, ()), addresses, key=lambda each: (not each, each))
        if wanted and not listed:
            raise InputError(
                "the list names no entity of the candidates",
                where=source.where,
                expected=f"lines that begin with an entity, as {min(wanted)!r}, and a tab or @@@@",
                got=f"a last line that begins with {name[:80]!r}",
                todo=_GIVE,
            )
        self._images: Mapping[str, Mapping[str, EntityImage | str]] = {
            key: {title: page_image(title, titles[title]) for title in sorted(titles)} for key, titles in listed.items()
        }

    def of(self, wanted: Entity) -> EntityImage | str:
        """The entity's page image, or why there is none."""
        titles = self._images.get(wanted.key, {})
        if wanted.title in titles:
            return titles[wanted.title]
        found = list(titles.values())
        return next((each for each in found if isinstance(each, EntityImage)), found[0] if found else "has no image")


def _entries(source: Source) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each line's name and addresses; InputError at the end when no line had an address."""
    entries = 0
    has_address = False
    text, where = packed_text(source.data, source.where, _LIST)
    for entries, line in enumerate(lines_of(text), 1):  # noqa: B007
        name, *addresses = line.replace("\t", "@@@@").split("@@@@")
        found = tuple(each.strip() for each in addresses if each.strip())
        has_address = has_address or any(map(_SCHEME.match, found))
        yield name, found
    if not has_address:
        raise InputError(
            "not the list of entities and images",
            where=where,
            expected="one line an entity: its name, a tab or @@@@, then addresses of images joined by @@@@",
            got=f"{entries:,} lines, none with an address",
            todo=_GIVE,
        )


def _with_scheme(text: str) -> str:
    text = text.strip()
    scheme = _SCHEME.match(text)
    if scheme is None:
        return text
    return ("http:" if scheme[0].lower().endswith("ttp:") else "https:") + text[scheme.end() :]
