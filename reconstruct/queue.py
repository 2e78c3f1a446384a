"""Queues: the work of one host, and when the next piece of it may start."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Generic, TypeVar

from hannun.reconstruct.hosts import HostRule

Job = TypeVar("Job")


class HostQueue(Generic[Job]):
    """Jobs of one host: those that came back first, then those of the feed.

    Times are seconds of a clock that the caller reads.

    Parameters
    ----------
    feed
        The host's jobs, taken one by one when there is room for them.
    per_host
        The user's own cap on requests at a time.
    """

    def __init__(self, rule: HostRule, feed: Iterator[Job], *, per_host: int | None = None) -> None:
        self.rule = rule
        self.concurrency = rule.concurrency if per_host is None else min(rule.concurrency, per_host)
        self.active = 0
        self._feed: Iterator[Job] | None = feed
        self._back: list[tuple[float, int, Job]] = []
        self._order = itertools.count()
        self._paused_until = 0.0

    def take(self, now: float) -> Job | None:
        """The next job that may start now, or None; whoever takes one calls `release` when it has ended."""
        if self.active >= self.concurrency or now < self._paused_until:
            return None
        job: Job | None = None
        if self._back and self._back[0][0] <= now:
            job = heapq.heappop(self._back)[2]
        elif self._feed is not None:
            job = next(self._feed, None)
            if job is None:
                self._feed = None
        if job is not None:
            self.active += 1
        return job

    def release(self) -> None:
        self.active -= 1

    def put_back(self, job: Job, ready_at: float) -> None:
        """A job that may start again at that time."""
        heapq.heappush(self._back, (ready_at, next(self._order), job))

    def pause(self, until: float) -> None:
        """Start nothing before that time: the host asked for a pause."""
        self._paused_until = max(self._paused_until, until)

    def ready_at(self) -> float | None:
        """When something may start; None while nothing waits or no place is free."""
        if self.active >= self.concurrency or (self._feed is None and not self._back):
            return None
        first = 0.0 if self._feed is not None else self._back[0][0]
        return max(first, self._paused_until)

    @property
    def is_empty(self) -> bool:
        return self._feed is None and not self._back and self.active == 0
