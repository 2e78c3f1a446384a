"""A run of fetch: starts what may start, takes what has ended, and decides what comes next."""

from __future__ import annotations

import math
import os
import queue
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Self

from hannun.reconstruct.address import Unusable
from hannun.reconstruct.compare import needs_decoding
from hannun.reconstruct.decide import Failure, Follow, StartOver, decide, verdict
from hannun.reconstruct.hosts import HostRule, check_contact, rule_for
from hannun.reconstruct.job import Job
from hannun.reconstruct.judge import Examined, decoded, failed, joined, judged, reused, with_notes
from hannun.reconstruct.ledger import Ledger, LedgerLine
from hannun.reconstruct.local import LocalImages
from hannun.reconstruct.location import Location, Web
from hannun.reconstruct.opener import Opener
from hannun.reconstruct.queue import HostQueue
from hannun.reconstruct.reply import Fault, Reply
from hannun.reconstruct.settings import Settings
from hannun.reconstruct.store import Received, Store, TooLarge
from hannun.reconstruct.transfer import Failed
from hannun.reconstruct.web import AT_A_TIME, Ask, WebClient
from hannun.schemas.digest import FAST, IDENTITY
from hannun.schemas.lock import LockEntry
from hannun.schemas.observation import Observation
from hannun.schemas.outcome import Again, Outcome, is_accepted

# What decodes or is exact is kept, so that a report can show what came in place of the expected picture.
_KEPT = frozenset({*(each for each in Outcome if each.again is Again.DONE), Outcome.CHANGED, Outcome.DIFFERENT})
# Pillow decodes outside Python's lock, so threads do.
_DECODERS = os.cpu_count() or 1
_MOST_DECODING = 64
_TICK = 0.005


class Run:
    """One run over a plan's open images; a context manager that leaves no half file behind."""

    def __init__(self, store: Store, ledger: Ledger, settings: Settings) -> None:
        self._store, self._ledger, self._settings = store, ledger, settings
        self._reach = settings.reach
        self._local = LocalImages(settings.local)
        self._stack = ExitStack()
        self._web = WebClient(settings.reach)
        self._decoders = ThreadPoolExecutor(_DECODERS)
        self._opener = Opener(settings.reach, settings.downloads)
        self._queues: dict[str, HostQueue[Job]] = {}
        self._running: dict[Job, HostQueue[Job]] = {}
        self._decoding = 0
        self._decoded: queue.SimpleQueue[tuple[Job, Received, Reply, Examined | Exception]] = queue.SimpleQueue()
        self._given: dict[str, LedgerLine] | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(self._ledger)
        self._stack.enter_context(self._opener)
        self._stack.callback(self._web.close)
        self._stack.callback(self._discard)
        self._stack.callback(self._decoders.shutdown)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def attempts(self, work: Mapping[str, Iterable[LockEntry]]) -> Iterator[Observation]:
        """Work on every image; yields each attempt as it ends."""
        for host, entries in work.items():
            self._queues[host] = self._new_queue(host, (Job.of(each, self._local) for each in entries))
        try:
            while not self._is_done():
                yield from self._start_what_may()
                for ask, reply in self._web.wait(self._longest_wait()):
                    yield from self._replied(ask.job, reply)
                yield from self._take_decoded()
        except KeyboardInterrupt:
            # What has come whole is recorded before the run stops.
            for ask, reply in self._web.wait(0.0):
                yield from self._replied(ask.job, reply)
            self._decoders.shutdown()
            yield from self._take_decoded()
            raise

    def _discard(self) -> None:
        for job in self._running:
            if job.incoming is not None:
                job.incoming.discard()

    def _is_done(self) -> bool:
        return not self._web.active and not self._decoding and all(each.is_empty for each in self._queues.values())

    def _new_queue(self, host: str, feed: Iterator[Job]) -> HostQueue[Job]:
        return HostQueue(rule_for(host), feed, per_host=self._reach.per_host)

    def _queue_of(self, host: str) -> HostQueue[Job]:
        found = self._queues.get(host)
        if found is None:
            check_contact([host], self._reach)
            found = self._queues[host] = self._new_queue(host, iter(()))
        return found

    def _longest_wait(self) -> float:
        if self._decoding:
            return _TICK
        if self._web.active >= AT_A_TIME:
            return 1.0
        ready = [at for at in (each.ready_at() for each in self._queues.values()) if at is not None]
        return max(0.0, min(1.0, min(ready, default=math.inf) - time.monotonic()))

    def _start_what_may(self) -> Iterator[Observation]:
        for waiting in list(self._queues.values()):
            while self._web.active < AT_A_TIME and self._decoding < _MOST_DECODING:
                job = waiting.take(time.monotonic())
                if job is None:
                    break
                self._running[job] = waiting
                known = reused(job.entry, self._sha256_of(job.entry), self._store) if job.location is None else None
                if known is not None:
                    yield known
                    self._end(job)
                else:
                    yield from self._advance(job)

    def _advance(self, job: Job) -> Iterator[Observation]:
        """Try a job's present location, or its next ones, until it runs on the web or has ended."""
        while job.location is not None or job.next_location():
            location = job.location
            assert location is not None
            if isinstance(location, Web):
                try:
                    self._begin(job)
                except Unusable as error:
                    attempt = failed(job.entry, location, error.outcome, error.note)
                else:
                    return
            else:
                attempt = self._opened(job.entry, location)
            yield attempt
            job.location = None
            if is_accepted(attempt.outcome):
                break
        self._end(job)

    def _begin(self, job: Job) -> None:
        """Start a transfer, or hand the job to the queue of the host that is asked."""
        host, allow_private = job.ask(self._reach)
        own = self._queue_of(host)
        if own is not self._running[job]:
            self._leave(job)
            own.put_back(job, 0.0)
            return
        if job.incoming is None:
            algorithms = _algorithms(job.entry, own.rule)
            job.incoming = self._store.incoming(algorithms, max_bytes=self._reach.limits.max_bytes)
        assert job.asked is not None
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

    def _replied(self, job: Job, reply: Reply) -> Iterator[Observation]:
        meant = verdict(reply, hops=job.hops)
        match meant:
            case Follow(address):
                job.follow(address)
                yield from self._advance(job)
            case StartOver():
                job.validator = None
                yield from self._again(job, Failure(Outcome.TRUNCATED, meant.note), reply)
            case Failure():
                may_continue = meant.outcome in (Outcome.TRUNCATED, Outcome.UNREACHABLE)
                job.validator = reply.validator if may_continue and reply.status in (200, 206) else None
                yield from self._again(job, meant, reply)
            case _:
                self._leave(job)
                yield from self._came(job, reply)

    def _again(self, job: Job, failure: Failure, reply: Reply) -> Iterator[Observation]:
        """Ask again after a wait, or give this location up."""
        # random only spreads waiting times; it never reaches what is chosen or written.
        jitter = random.random()  # noqa: S311
        asked = datetime.now(UTC)
        own = self._running[job]
        decision = decide(failure.outcome, job.tries, reply.retry_after, asked, jitter, first_wait=own.rule.first_wait)
        ready_at = math.inf
        if decision.wait is not None and reply.fault is not Fault.DEADLINE:
            ready_at = time.monotonic() + self._settings.pause(decision.wait)
        if ready_at < job.ends_at:
            job.tries += 1
            if failure.outcome is Outcome.THROTTLED:
                own.pause(ready_at)
            self._leave(job)
            own.put_back(job, ready_at)
            return
        assert job.location is not None
        note = joined(failure.note, decision.note)
        yield failed(job.entry, job.location, failure.outcome, note, status=reply.status)
        if job.incoming is not None:
            job.incoming.restart()
        job.location = None
        yield from self._advance(job)

    def _came(self, job: Job, reply: Reply) -> Iterator[Observation]:
        """A whole body: settled at once where the digest decides, in a thread where it must be decoded."""
        assert job.incoming is not None
        received = job.incoming.finish()
        if needs_decoding(job.entry, received.digests):
            self._decoding += 1
            self._decoders.submit(self._decode, job, received, reply)
        else:
            yield from self._settle(job, received, reply, None)

    def _decode(self, job: Job, received: Received, reply: Reply) -> None:
        """In a thread."""
        result: Examined | Exception
        try:
            settings = self._settings
            result = decoded(received, self._reach.limits.max_pixels, any_file=settings.any_file)
        except Exception as error:  # noqa: BLE001  (raised again where the run goes on)
            result = error
        self._decoded.put((job, received, reply, result))

    def _take_decoded(self) -> Iterator[Observation]:
        while self._decoding:
            try:
                job, received, reply, result = self._decoded.get_nowait()
            except queue.Empty:
                return
            self._decoding -= 1
            if isinstance(result, Exception):
                raise result
            yield from self._settle(job, received, reply, result)

    def _settle(self, job: Job, received: Received, reply: Reply, picture: Examined | None) -> Iterator[Observation]:
        """Judge and keep what came; where it is not right, the next location is tried."""
        assert job.incoming is not None
        assert isinstance(job.location, Web)
        observation = judged(job.entry, job.location, received, picture, status=reply.status)
        observation = with_notes(observation, job, reply)
        if observation.outcome in _KEPT:
            self._store.keep(received, observation.format)
            self._ledger.append(_ledger_line(observation, reply.validator))
        job.incoming.discard()
        job.incoming = None
        yield observation
        if not is_accepted(observation.outcome) and job.next_location():
            self._queue_of(job.host).put_back(job, 0.0)
        else:
            self._running.pop(job, None)

    def _opened(self, entry: LockEntry, location: Location) -> Observation:
        """Try a location that is not on the web."""
        assert not isinstance(location, Web)
        limits = self._reach.limits
        try:
            with self._opener.open(location) as transfer:
                try:
                    algorithms = _algorithms(entry, None)
                    with self._store.receive(transfer.pieces, algorithms, max_bytes=limits.max_bytes) as received:
                        open_question = needs_decoding(entry, received.digests)
                        picture = decoded(received, limits.max_pixels) if open_question else None
                        observation = judged(entry, location, received, picture)
                        if observation.outcome in _KEPT:
                            self._store.keep(received, observation.format)
                        return replace(observation, note=joined(observation.note, transfer.note))
                except TooLarge:
                    raise Failed(Outcome.TOO_LARGE, f"over {limits.max_bytes} bytes") from None
        except Failed as failure:
            return failed(entry, location, failure.outcome, failure.note)

    def _leave(self, job: Job) -> None:
        """A job no longer takes a place of its host."""
        self._running[job].release()

    def _end(self, job: Job) -> None:
        self._leave(job)
        self._running.pop(job, None)

    def _sha256_of(self, entry: LockEntry) -> str | None:
        """What the store may hold it under: its locked digest, or what its address gave before."""
        if entry.digests or entry.pixels is not None:
            return entry.digests.get(IDENTITY)
        if self._given is None:
            self._given = self._ledger.latest()
        return next((self._given[each].sha256 for each in entry.locations if each in self._given), None)


def _algorithms(entry: LockEntry, rule: HostRule | None) -> tuple[str, ...]:
    """Digests to take: our two, those of the lock, and the one that the host itself publishes."""
    published = (rule.publishes,) if rule is not None and rule.publishes else ()
    return tuple(dict.fromkeys((IDENTITY, FAST, *entry.digests, *published)))


def _ledger_line(observation: Observation, validator: str | None) -> LedgerLine:
    return LedgerLine(
        location=observation.location,
        sha256=observation.digests[IDENTITY],
        bytes=observation.bytes or 0,
        format=observation.format,
        etag=validator,
        time=observation.time,
    )
