"""Remote verification: hosts are asked for digests of a lock's images, and nothing is downloaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from urllib.parse import quote_plus, urlsplit

from hannun.reconstruct import commons
from hannun.reconstruct.address import Unusable
from hannun.reconstruct.canonical import canonical
from hannun.reconstruct.commons import CommonsFile
from hannun.reconstruct.host_client import HostClient
from hannun.reconstruct.hosts import rule_for
from hannun.reconstruct.location import Web
from hannun.reconstruct.location import read as read_location
from hannun.reconstruct.published import RemoteVerdict, judge, judge_thumbnail
from hannun.reconstruct.store import Store
from hannun.reconstruct.transfer import Failed, Reach
from hannun.schemas.digest import IDENTITY, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry, filled
from hannun.schemas.outcome import Outcome, best

TITLES = 50
"""Titles that Wikimedia's API takes in one call."""
_TITLES_LENGTH = 6000
"""Characters of escaped titles in one call: servers refuse longer addresses."""


def wiki_api(file: CommonsFile) -> str:
    """The address of the API that knows a file."""
    return file.api


def published_algorithm(host: str) -> str | None:
    """Which digest a host publishes."""
    return rule_for(host).publishes


def verify_remote(
    lock: Iterable[LockEntry],
    reach: Reach,
    *,
    endpoint: Callable[[CommonsFile], str] = wiki_api,
    publishes: Callable[[str], str | None] = published_algorithm,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[RemoteVerdict]:
    """Ask the hosts of a lock's images for digests, and compare; verdicts come as they are known.

    Files of Wikimedia are asked for 50 at a time, so verdicts are not in the lock's order.

    Parameters
    ----------
    endpoint
        The address of the API to ask about a file.
    publishes
        Which digest a host publishes: `md5` for one that answers as S3 does.

    Raises
    ------
    InputError
        The lock has files of Wikimedia and `reach` no contact, which Wikimedia demands; or the contact
        cannot stand in a header.
    """
    questions = [(entry, _question(entry, publishes)) for entry in lock]
    wikis = {urlsplit(endpoint(each)).hostname for _, each in questions if isinstance(each, CommonsFile)}
    _check_contact(reach.contact, demanded=not wikis <= reach.mirrors.keys())
    return _verdicts(questions, HostClient(reach, sleep), endpoint)


def comparable(entry: LockEntry, store: Store) -> LockEntry:
    """The entry with the sha1 and md5 of its stored bytes, where the store holds what its sha256 says.

    Hosts publish no sha256; this is how a lock that holds nothing else can be compared.
    """
    path = store.find(entry.digests[IDENTITY]) if IDENTITY in entry.digests else None
    if path is None:
        return entry
    digests = digests_of_file(path, (IDENTITY, "sha1", "md5"))
    return filled(entry, {"digests": digests}) if digests[IDENTITY] == entry.digests[IDENTITY] else entry


_Question = CommonsFile | list[str] | str
"""Whom to ask about an image: Wikimedia about a file, S3 at addresses, or nobody, and why."""


def _question(entry: LockEntry, publishes: Callable[[str], str | None]) -> _Question:
    objects: list[str] = []
    silent: dict[str, None] = {}
    for location in map(read_location, entry.locations):
        host = location.host
        if isinstance(location, Web):
            try:
                address = canonical(location.address)
                if host == commons.HOST and not objects:
                    return commons.read(address)
                if publishes(host) == "md5":
                    objects.append(address)
                    continue
            except Unusable as error:
                host = f"{host} ({error.note})"
        silent[host] = None
    return objects or f"no digest is published by {', '.join(silent)}"


def _check_contact(contact: str | None, *, demanded: bool) -> None:
    if contact is None and demanded:
        raise InputError(
            "Wikimedia answers only programs that say whom to write to",
            expected="a contact for the User-Agent",
            got="none",
            todo="add --contact you@lab.org",
        )
    if contact is not None and not (contact.isascii() and contact.isprintable()):
        raise InputError("the contact goes into a header", expected="plain ASCII text", got=ascii(contact))


def _verdicts(
    questions: Iterable[tuple[LockEntry, _Question]], hosts: HostClient, endpoint: Callable[[CommonsFile], str]
) -> Iterator[RemoteVerdict]:
    batches: dict[str, _Batch] = {}
    with closing(hosts):
        for entry, question in questions:
            if isinstance(question, CommonsFile):
                api = endpoint(question)
                batch = batches.setdefault(api, _Batch())
                if not batch.takes(question.title):
                    yield from _of_batch(hosts, api, batch)
                    batch = batches[api] = _Batch()
                batch.add(entry, question)
            elif isinstance(question, list):
                yield _of_objects(hosts, entry, question)
            else:
                yield RemoteVerdict(entry.image_id, None, question)
        for api, batch in batches.items():
            yield from _of_batch(hosts, api, batch)


class _Batch:
    """Files that one call asks for, by title."""

    def __init__(self) -> None:
        self.asked: dict[str, list[tuple[LockEntry, CommonsFile]]] = {}
        self._length = 0

    def takes(self, title: str) -> bool:
        fits = self._length + len(quote_plus(title)) <= _TITLES_LENGTH and len(self.asked) < TITLES
        return title in self.asked or fits or not self.asked

    def add(self, entry: LockEntry, file: CommonsFile) -> None:
        if file.title not in self.asked:
            self._length += len(quote_plus("|" + file.title))
        self.asked.setdefault(file.title, []).append((entry, file))


def _of_batch(hosts: HostClient, api: str, batch: _Batch) -> Iterator[RemoteVerdict]:
    answers = hosts.files(api, list(batch.asked))
    for title, asked in batch.asked.items():
        answer = answers[title]
        for entry, file in asked:
            if isinstance(answer, Failed):
                yield RemoteVerdict(entry.image_id, answer.outcome, answer.note, file.original)
            elif file.width is not None:
                yield judge_thumbnail(entry.image_id, file, answer)
            else:
                yield judge(entry, file.original, answer)


def _of_objects(hosts: HostClient, entry: LockEntry, addresses: list[str]) -> RemoteVerdict:
    """The best verdict of an object's addresses, which are asked until one has the locked bytes."""
    verdicts: dict[Outcome, RemoteVerdict] = {}
    for address in addresses:
        answer = hosts.object(address)
        if isinstance(answer, Failed):
            verdicts.setdefault(answer.outcome, RemoteVerdict(entry.image_id, answer.outcome, answer.note, address))
            continue
        found = judge(entry, address, [answer])
        assert found.outcome is not None  # it was asked
        verdicts.setdefault(found.outcome, found)
        if found.outcome is Outcome.EXACT:
            break
    return verdicts[best(list(verdicts))]
