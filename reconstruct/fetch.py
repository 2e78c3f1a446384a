"""Fetch: the images of a plan into the store, each compared with the lock as it comes."""

from __future__ import annotations

import math
import os
import queue
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hannun.reconstruct.address import Unusable, check_address, literal_resolver
from hannun.reconstruct.canonical import canonical
from hannun.reconstruct.compare import compare, needs_decoding
from hannun.reconstruct.decide import Failure, Follow, StartOver, decide, verdict
from hannun.reconstruct.hosts import HostRule, rule_for
from hannun.reconstruct.ledger import Ledger, LedgerLine
from hannun.reconstruct.location import Local, Location, Web, local_names, read
from hannun.reconstruct.opener import Opener
from hannun.reconstruct.picture import PictureFacts, PictureProblem, examine, format_of
from hannun.reconstruct.queue import HostQueue
from hannun.reconstruct.reply import Fault, Reply
from hannun.reconstruct.store import Incoming, Received, Store, TooLarge
from hannun.reconstruct.transfer import Failed, Reach
from hannun.reconstruct.web import AT_A_TIME, Ask, WebClient
from hannun.schemas.digest import FAST, IDENTITY, digests_of_file
from hannun.schemas.errors import InputError
from hannun.schemas.instant import now
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Again, Outcome, is_accepted
from hannun.schemas.text_file import find_file

# What decodes or is exact is kept, so that a report can show what came in place of the expected picture.
_KEPT = frozenset({*(each for each in Outcome if each.again is Again.DONE), Outcome.CHANGED, Outcome.DIFFERENT})
# Pillow decodes outside Python's lock, so threads do.
_HANDS = os.cpu_count() or 1
Examined = PictureFacts | PictureProblem
# Media types that do not bear the format's own name.
_SUBTYPES = {"jpeg": "jpg", "mpo": "jpeg", "tiff": "tif", "ico": "vnd.microsoft.icon", "bmp": "x-ms-bmp"}
_MOST_SETTLING = 64
_TICK = 0.005


@dataclass(frozen=True)
class Settings:
    """How to fetch.

    `local` maps an image id's namespace to a folder of the user. `pause` gives the seconds that a wait
    really takes; tests shorten it.
    """

    reach: Reach = field(default_factory=Reach)
    local: Mapping[str, Path] = field(default_factory=dict)
    fast: bool = False
    pause: Callable[[float], float] = float


def by_host(entries: Iterable[LockEntry]) -> dict[str, list[LockEntry]]:
    """Images grouped by the host that is asked first."""
    grouped: dict[str, list[LockEntry]] = {}
    for entry in entries:
        grouped.setdefault(host_of(entry), []).append(entry)
    return grouped


def host_of(entry: LockEntry) -> str:
    """The host of an image's first location."""
    return read(entry.locations[0]).host if entry.locations else ""


def check_contact(hosts: Iterable[str], reach: Reach) -> None:
    """Refuse to ask hosts that demand a contact without one.

    Raises
    ------
    InputError
        A host demands it, and there is none.
    """
    demanding = sorted(host for host in hosts if rule_for(host).contact and host not in reach.mirrors)
    if demanding and reach.contact is None:
        raise InputError(
            f"{demanding[0]} answers only those who say how to reach them",
            where=rule_for(demanding[0]).source,
            expected="an address or page of yours in the User-Agent",
            got="none",
            todo="--contact you@lab.org (or HANNUN_CONTACT)",
        )


def fetch(
    work: Mapping[str, Iterable[LockEntry]], store: Store, ledger: Ledger, settings: Settings
) -> Iterator[Observation]:
    """Get images, many at a time; yields every attempt as it ends.

    An image's locations are tried in order, the user's own folders first, until one gives the locked
    bytes, or an acceptable picture where the lock holds no digest.

    Parameters
    ----------
    work
        Host -> its images (`by_host`); each host's are taken one by one as there is room.

    Raises
    ------
    InputError
        A host demands a contact, and there is none.
    IncompleteError
        The disk does not take what comes.
    """
    check_contact(work, settings.reach)
    store.sweep()
    with Opener(settings.reach) as opener, ThreadPoolExecutor(_HANDS) as hands, ledger:
        run = _Run(opener, store, ledger, settings, hands)
        try:
            yield from run.attempts(work)
        finally:
            run.close()


@dataclass(eq=False)
class _Job:
    """One image on its way: what is left to try, and where it stands now."""

    entry: LockEntry
    locations: deque[Location]
    location: Location | None = None
    asked: Web | None = None
    ends_at: float = 0.0
    hops: int = 0
    tries: int = 1
    incoming: Incoming | None = None
    validator: str | None = None

    def next_location(self) -> bool:
        self.location = self.locations.popleft() if self.locations else None
        self.asked, self.hops, self.tries, self.validator = None, 0, 1, None
        return self.location is not None


class _Run:
    """One run over a plan: starts what may start, takes what has ended."""

    def __init__(
        self, opener: Opener, store: Store, ledger: Ledger, settings: Settings, hands: ThreadPoolExecutor
    ) -> None:
        self._opener, self._store, self._ledger, self._settings, self._hands = opener, store, ledger, settings, hands
        self._web = WebClient(settings.reach)
        self._queues: dict[str, HostQueue[_Job]] = {}
        self._running: set[_Job] = set()
        self._settling = 0
        self._settled: queue.SimpleQueue[tuple[_Job, Received, Reply, Examined | Exception]] = queue.SimpleQueue()
        self._given: dict[str, LedgerLine] | None = None

    def close(self) -> None:
        self._hands.shutdown(wait=True)
        for job in self._running:
            if job.incoming is not None:
                job.incoming.discard()
        self._web.close()

    def attempts(self, work: Mapping[str, Iterable[LockEntry]]) -> Iterator[Observation]:
        for host, entries in work.items():
            self._queues[host] = self._new_queue(host, (self._new_job(entry) for entry in entries))
        try:
            while not self._is_done():
                yield from self._start_what_may()
                for ask, reply in self._web.wait(self._longest_wait()):
                    yield from self._replied(ask.job, reply)
                yield from self._take_settled()
        except KeyboardInterrupt:
            # What has come whole is recorded before the run stops.
            self._hands.shutdown(wait=True)
            yield from self._take_settled()
            raise

    def _is_done(self) -> bool:
        return not self._web.active and not self._settling and all(each.is_empty for each in self._queues.values())

    def _new_queue(self, host: str, feed: Iterator[_Job]) -> HostQueue[_Job]:
        return HostQueue(rule_for(host), feed, per_host=self._settings.reach.per_host)

    def _new_job(self, entry: LockEntry) -> _Job:
        return _Job(entry, deque(_locations(entry, self._settings.local)))

    def _longest_wait(self) -> float:
        if self._settling:
            return _TICK
        if self._web.active >= AT_A_TIME:
            return 1.0
        ready = [at for at in (each.ready_at() for each in self._queues.values()) if at is not None]
        return max(0.0, min(1.0, min(ready, default=1.0 + time.monotonic()) - time.monotonic()))

    def _start_what_may(self) -> Iterator[Observation]:
        for waiting in list(self._queues.values()):
            while self._web.active < AT_A_TIME and self._settling < _MOST_SETTLING:
                job = waiting.take(time.monotonic())
                if job is None:
                    break
                self._running.add(job)
                if job.location is None:
                    reused = self._from_store(job.entry)
                    if reused is not None:
                        yield reused
                        self._end(job, waiting)
                        continue
                yield from self._advance(job, waiting)

    def _advance(self, job: _Job, waiting: HostQueue[_Job]) -> Iterator[Observation]:
        """Try a job's present location, or its next ones, until it runs on the web or has ended."""
        while job.location is not None or job.next_location():
            location = job.location
            assert location is not None
            if isinstance(location, Web):
                try:
                    if self._began(job, location, waiting):
                        return
                    continue
                except Unusable as error:
                    where = f"redirected to {str(job.asked)[:120]}: " if job.hops else ""
                    attempt = self._failed(job, Failure(error.outcome, where + error.note))
            else:
                attempt = self._opened(job.entry, location)
            yield attempt
            job.location = None
            if is_accepted(attempt.outcome):
                break
        self._end(job, waiting)

    def _began(self, job: _Job, location: Web, waiting: HostQueue[_Job]) -> bool:
        """Start a transfer, or hand the job to its host's queue."""
        reach = self._settings.reach
        if job.asked is None:
            job.asked = Web(canonical(_mirrored(location, reach.mirrors)))
            job.ends_at = time.monotonic() + reach.limits.deadline
        mirrored = location.host in reach.mirrors and job.hops == 0
        # What the user allows holds for the hosts of the plan and for mirrors, not for where these redirect to.
        own_host = job.hops == 0 or job.asked.host == location.host
        allow_private = own_host and (reach.allow_private or mirrored)
        check_address(job.asked.address, allow_private=allow_private, resolve=literal_resolver)
        host = location.host if mirrored else job.asked.host
        own = self._queues.get(host)
        if own is None:
            own = self._queues[host] = self._new_queue(host, iter(()))
        if own is not waiting:
            check_contact([host], reach)
            waiting.release()
            own.put_back(job, 0.0)
            return True
        if job.incoming is None:
            job.incoming = self._store.incoming(_algorithms(job.entry, own.rule), max_bytes=reach.limits.max_bytes)
        speed = own.rule.bytes_per_second
        self._web.start(
            Ask(
                job,
                job.asked.address,
                job.incoming,
                seconds=max(0.001, job.ends_at - time.monotonic()),
                validator=job.validator,
                bytes_per_second=speed // own.concurrency if speed else None,
                allow_private=allow_private,
            )
        )
        return True

    def _replied(self, job: _Job, reply: Reply) -> Iterator[Observation]:
        waiting = self._queue_of(job)
        meant = verdict(reply, hops=job.hops)
        match meant:
            case Follow(address):
                job.hops += 1
                try:
                    job.asked = Web(canonical(address))
                except Unusable as error:
                    failure = Failure(error.outcome, f"redirected to {address[:120]}: {error.note}")
                    yield from self._gave_up(job, waiting, failure, reply)
                    return
                yield from self._advance(job, waiting)
            case StartOver():
                job.validator = None
                yield from self._again(job, waiting, Failure(Outcome.TRUNCATED, meant.note), reply)
            case Failure():
                may_continue = meant.outcome in (Outcome.TRUNCATED, Outcome.UNREACHABLE) and job.incoming is not None
                job.validator = reply.validator if may_continue and reply.status in (200, 206) else None
                yield from self._again(job, waiting, meant, reply)
            case _:
                waiting.release()
                yield from self._came(job, reply)

    def _again(self, job: _Job, waiting: HostQueue[_Job], failure: Failure, reply: Reply) -> Iterator[Observation]:
        """Ask again after a wait, or give this location up."""
        # random only spreads waiting times; it never reaches what is chosen or written.
        jitter = random.random()  # noqa: S311
        decision = decide(
            failure.outcome,
            job.tries,
            reply.retry_after,
            datetime.now(UTC),
            jitter,
            first_wait=waiting.rule.first_wait,
        )
        ready_at = math.inf
        if decision.wait is not None and reply.fault is not Fault.DEADLINE:
            ready_at = time.monotonic() + self._settings.pause(decision.wait)
        if ready_at >= job.ends_at:
            note = _joined(failure.note, decision.note)
            yield from self._gave_up(job, waiting, Failure(failure.outcome, note), reply)
            return
        job.tries += 1
        waiting.release()
        if failure.outcome is Outcome.THROTTLED:
            waiting.pause(ready_at)
        waiting.put_back(job, ready_at)

    def _gave_up(self, job: _Job, waiting: HostQueue[_Job], failure: Failure, reply: Reply) -> Iterator[Observation]:
        yield self._failed(job, failure, status=reply.status)
        if job.incoming is not None:
            job.incoming.restart()
        job.location = None
        yield from self._advance(job, waiting)

    def _came(self, job: _Job, reply: Reply) -> Iterator[Observation]:
        """A whole body: settled at once where the digest decides, in a thread where it must be decoded."""
        assert job.incoming is not None
        received = job.incoming.finish()
        if needs_decoding(job.entry, received.digests):
            self._settling += 1
            self._hands.submit(self._examine, job, received, reply)
        else:
            yield from self._settle(job, received, reply, None)

    def _examine(self, job: _Job, received: Received, reply: Reply) -> None:
        """In a thread: decode what came."""
        examined: Examined | Exception
        try:
            examined = self._decoded(job.entry, received)
        except Exception as error:  # noqa: BLE001  (raised again where the run goes on)
            examined = error
        self._settled.put((job, received, reply, examined))

    def _take_settled(self) -> Iterator[Observation]:
        while self._settling:
            try:
                job, received, reply, examined = self._settled.get_nowait()
            except queue.Empty:
                return
            self._settling -= 1
            if isinstance(examined, Exception):
                raise examined
            yield from self._settle(job, received, reply, examined)

    def _settle(self, job: _Job, received: Received, reply: Reply, picture: Examined | None) -> Iterator[Observation]:
        """Judge and keep what came; where it is not right, the next location is tried."""
        location = job.location
        assert job.incoming is not None
        assert location is not None
        observation = self._judged(job.entry, location, received, picture, status=reply.status)
        observation = replace(observation, note=_joined(observation.note, *_notes(job, reply, observation.format)))
        if observation.outcome in _KEPT:
            self._store.keep(received, observation.format)
            if isinstance(location, Web):
                self._ledger.append(_ledger_line(location, observation, reply.validator))
        job.incoming.discard()
        yield observation
        job.incoming = None
        if not is_accepted(observation.outcome) and job.next_location():
            self._queue_of(job).put_back(job, 0.0)
        else:
            self._running.discard(job)

    def _opened(self, entry: LockEntry, location: Location) -> Observation:
        """Try a location that is not on the web."""
        limits = self._settings.reach.limits
        try:
            with self._opener.open(location) as transfer:
                try:
                    algorithms = _algorithms(entry, None)
                    with self._store.receive(transfer.pieces, algorithms, max_bytes=limits.max_bytes) as received:
                        picture = self._decoded(entry, received) if needs_decoding(entry, received.digests) else None
                        observation = self._judged(entry, location, received, picture, status=None)
                        if observation.outcome in _KEPT:
                            self._store.keep(received, observation.format)
                        return replace(observation, note=_joined(observation.note, transfer.note))
                except TooLarge:
                    raise Failed(Outcome.TOO_LARGE, f"over {limits.max_bytes} bytes") from None
        except Failed as failure:
            return Observation(entry.image_id, str(location), failure.outcome, now(), note=failure.note)

    def _decoded(self, entry: LockEntry, received: Received) -> Examined:
        limits = self._settings.reach.limits
        return examine(received.path, max_pixels=limits.max_pixels, likeness=entry.likeness is not None)

    def _judged(
        self, entry: LockEntry, location: Location, received: Received, picture: Examined | None, *, status: int | None
    ) -> Observation:
        outcome, why = compare(entry, received.digests, picture)
        facts = picture if isinstance(picture, PictureFacts) else None
        return Observation(
            image_id=entry.image_id,
            location=str(location),
            outcome=outcome,
            time=now(),
            status=status,
            digests=received.digests,
            bytes=received.bytes,
            note=why,
            **_facts(facts, received.path),
        )

    def _failed(self, job: _Job, failure: Failure, *, status: int | None = None) -> Observation:
        return Observation(
            image_id=job.entry.image_id,
            location=str(job.location),
            outcome=failure.outcome,
            time=now(),
            status=status,
            note=failure.note,
        )

    def _queue_of(self, job: _Job) -> HostQueue[_Job]:
        location = job.location
        host = location.host if location is not None else host_of(job.entry)
        if job.asked is not None and host not in self._settings.reach.mirrors:
            host = job.asked.host
        found = self._queues.get(host)
        if found is None:
            found = self._queues[host] = self._new_queue(host, iter(()))
        return found

    def _end(self, job: _Job, waiting: HostQueue[_Job]) -> None:
        waiting.release()
        self._running.discard(job)

    def _from_store(self, entry: LockEntry) -> Observation | None:
        """An image that another plan already brought: by its locked digest, or by what its address gave."""
        sha256 = entry.digests.get(IDENTITY)
        if not entry.digests and entry.pixels is None:
            if self._given is None:
                self._given = self._ledger.latest()
            line = next((self._given[each] for each in entry.locations if each in self._given), None)
            sha256 = line.sha256 if line else None
        path = self._store.find(sha256) if sha256 else None
        if sha256 is None or path is None or not self._store.is_intact(path):
            return None
        return Observation(
            image_id=entry.image_id,
            location="store",
            outcome=Outcome.EXACT if entry.digests else Outcome.UNVERIFIED,
            time=now(),
            digests=digests_of_file(path),
            bytes=path.stat().st_size,
            note="already in the store",
            **_facts(None, path),
        )


def _locations(entry: LockEntry, local: Mapping[str, Path]) -> Iterator[Location]:
    namespace = entry.image_id.partition(":")[0]
    if namespace in local:
        for name in local_names(entry.image_id, entry.locations):
            found = find_file(local[namespace], name)
            if found is not None:
                yield Local(namespace, found[0])
                break
    yield from map(read, entry.locations)


def _algorithms(entry: LockEntry, rule: HostRule | None) -> tuple[str, ...]:
    """Digests to take: our two, those of the lock, and the one that the host itself publishes."""
    published = (rule.publishes,) if rule is not None and rule.publishes else ()
    return tuple(dict.fromkeys((IDENTITY, FAST, *entry.digests, *published)))


def _mirrored(location: Web, mirrors: Mapping[str, str]) -> str:
    """The address at the mirror that the user named for its host, else the address itself."""
    if location.host not in mirrors:
        return location.address
    _, _, rest = location.address.partition("://")
    _, slash, path = rest.partition("/")
    return mirrors[location.host].rstrip("/") + slash + path


def _ledger_line(location: Web, observation: Observation, validator: str | None) -> LedgerLine:
    return LedgerLine(
        location=str(location),
        sha256=observation.digests[IDENTITY],
        bytes=observation.bytes or 0,
        format=observation.format,
        etag=validator,
        time=observation.time,
    )


def _notes(job: _Job, reply: Reply, format_name: str | None) -> Iterator[str]:
    """What is worth knowing beside the bytes, which decide: a Content-Type that says otherwise, a redirect."""
    kind = (reply.content_type or "").partition(";")[0].strip().lower()
    known = (format_name or "").lower()
    if kind and kind not in (f"image/{known}", f"image/{_SUBTYPES.get(known, known)}"):
        yield f"sent as {kind[:60]}"
    if job.hops:
        yield f"at {job.asked}"


def _facts(picture: PictureFacts | None, path: Path) -> dict[str, Any]:
    """What decoding told; where the digest made it needless, the format alone."""
    return dict(picture.__dict__) if picture else {"format": format_of(path)}


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None
