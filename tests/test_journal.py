from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hannun.reconstruct.journal import Journal, read_journal
from hannun.reconstruct.ledger import Ledger, LedgerLine
from hannun.schemas.errors import InputError


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a" / "j.jsonl"
    assert list(read_journal(path)) == []
    for n in range(3):
        with Journal(path) as journal:
            journal.append({"n": n, "글": "눈"})
    assert [row["n"] for row in read_journal(path)] == [0, 1, 2]


def test_a_torn_last_line_is_ignored_also_after_more_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":1,"te')
    assert list(read_journal(path)) == [{"n": 0}]
    with Journal(path) as journal:
        journal.append({"n": 2})
    assert list(read_journal(path)) == [{"n": 0}, {"n": 2}]


def test_damage_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":\n{"n":2}\n')
    with pytest.raises(InputError, match="not JSON") as caught:
        list(read_journal(path))
    assert "line 2" in str(caught.value.where)


def test_a_kill_at_any_moment_loses_at_most_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    code = (
        "import sys; from pathlib import Path; from hannun.reconstruct.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(10**9):\n"
        "    journal.append({'n': n, 'pad': 'x' * 3000})\n"
        "    if n == 20: print('ready', flush=True)\n"
    )
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.05)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    counts = [row["n"] for row in read_journal(path)]
    assert counts.count(0) == 3
    for start in [place for place, n in enumerate(counts) if n == 0]:
        assert counts[start : start + 21] == list(range(21))


def test_the_ledger_merges_every_process_and_keeps_the_newest(tmp_path: Path) -> None:
    def line(location: str, sha256: str, instant: str) -> LedgerLine:
        return LedgerLine(location, sha256, 3, "PNG", None, instant)

    first, second = Ledger(tmp_path), Ledger(tmp_path)
    first.append(line("https://h/a", "old", "2026-01-01T00:00:00Z"))
    second.append(line("https://h/a", "new", "2026-02-01T00:00:00Z"))
    second.append(line("https://h/b", "b", "2026-01-01T00:00:00Z"))
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert {where: each.sha256 for where, each in Ledger(tmp_path).latest().items()} == {
        "https://h/a": "new",
        "https://h/b": "b",
    }
