"""Queues of a host's jobs, on a clock of their own."""

from __future__ import annotations

from hannun.reconstruct.hosts import HostRule
from hannun.reconstruct.queue import HostQueue
from hypothesis import given
from hypothesis import strategies as st

RULE = HostRule(("h",), concurrency=2, source="a test")


def test_no_more_run_than_the_rule_and_the_user_allow() -> None:
    queue = HostQueue(RULE, iter("abc"))
    assert [queue.take(0.0), queue.take(0.0), queue.take(0.0)] == ["a", "b", None]
    assert queue.ready_at() is None
    queue.release()
    assert queue.take(0.0) == "c"
    assert HostQueue(RULE, iter("ab"), per_host=1).concurrency == 1
    assert HostQueue(RULE, iter("ab"), per_host=9).concurrency == 2


def test_what_comes_back_waits_its_time_and_then_goes_first() -> None:
    queue = HostQueue(RULE, iter("abcd"))
    assert queue.take(0.0) == "a"
    queue.release()
    queue.put_back("a", 5.0)
    assert queue.take(1.0) == "b"
    queue.release()
    assert queue.take(5.0) == "a"


def test_a_pause_holds_for_everything_of_the_host() -> None:
    queue = HostQueue(RULE, iter("ab"))
    queue.pause(10.0)
    queue.pause(3.0)
    assert queue.take(9.9) is None
    assert queue.ready_at() == 10.0
    assert queue.take(10.0) == "a"


def test_it_is_empty_when_nothing_waits_or_runs() -> None:
    queue: HostQueue[str] = HostQueue(RULE, iter("a"))
    assert not queue.is_empty
    assert queue.take(0.0) == "a"
    assert queue.take(0.0) is None
    assert not queue.is_empty
    queue.release()
    assert queue.is_empty


@given(st.lists(st.sampled_from(["take", "end", "back", "pause"]), max_size=60), st.integers(1, 4))
def test_every_job_is_taken_and_none_twice_at_a_time(steps: list[str], concurrency: int) -> None:
    queue = HostQueue(HostRule(("h",), concurrency=concurrency, source="a test"), iter(range(5)))
    running: list[int] = []
    done: set[int] = set()
    now = 0.0
    for step in [*steps, *["take", "end"] * 40]:
        now += 1.0
        if step == "take":
            job = queue.take(now)
            if job is not None:
                assert job not in running
                assert job not in done
                running.append(job)
        elif running and step in ("end", "back"):
            job = running.pop(0)
            queue.release()
            if step == "back":
                queue.put_back(job, now + 2)
            else:
                done.add(job)
        elif step == "pause":
            queue.pause(now + 1)
        assert len(running) == queue.active <= concurrency
    assert done == set(range(5))
    assert queue.is_empty
