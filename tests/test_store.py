from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hannun.reconstruct.store import Store, TooLarge
from hannun.schemas.errors import IncompleteError


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def put(store: Store, data: bytes, kind: str | None = "PNG") -> Path:
    with store.receive(iter([data[:3], data[3:]])) as received:
        assert received.digests["sha256"] == sha256(data)
        assert received.bytes == len(data)
        return store.keep(received, kind)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.endswith(".part")]


def test_content_lies_under_its_digest_with_its_true_extension(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    path = put(store, b"picture", "JPEG")
    assert path.read_bytes() == b"picture"
    assert path.name == sha256(b"picture") + ".jpg"
    assert store.find(sha256(b"picture")) == path
    assert store.find(sha256(b"other")) is None
    assert store.is_intact(path)
    path.write_bytes(b"Picture")
    assert not store.is_intact(path)
    assert store.is_intact(path, fast=True)
    assert put(store, b"picture", "JPEG").read_bytes() == b"picture"
    assert leftovers(tmp_path) == []


def test_nothing_stays_of_what_was_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(TooLarge), store.receive(iter([b"12345", b"678"]), max_bytes=7):
        raise AssertionError("not reached")
    with pytest.raises(RuntimeError, match="broken off"), store.receive(iter([b"x"])):
        raise RuntimeError("broken off")

    def failing() -> object:
        yield b"some"
        raise ConnectionError

    with pytest.raises(ConnectionError), store.receive(failing()):
        raise AssertionError("not reached")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_full_disk_is_explained_and_harmless(tmp_path: Path) -> None:
    code = """
        import resource, sys
        from pathlib import Path
        from hannun.reconstruct.store import Store
        from hannun.schemas.errors import IncompleteError
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        store = Store(Path(sys.argv[1]))
        try:
            with store.receive(iter([b"x" * 5000])) as received:
                store.keep(received, "PNG")
        except IncompleteError as error:
            print(error)
            sys.exit(error.exit_code)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path], check=False, capture_output=True, text=True
    )
    assert run.returncode == 3, run.stderr
    assert "cannot be written" in run.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_may_not_be_written_is_explained(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(IncompleteError, match="cannot be written"), Store(tmp_path / "s").receive(iter([b"x"])):
        pass


WRITER = """
import hashlib, sys
from pathlib import Path
from hannun.reconstruct.store import Store

store = Store(Path(sys.argv[1]))
print("ready", flush=True)
for n in range(10**6):
    data = (str(n % 40) * 5000).encode()
    with store.receive(data[i : i + 512] for i in range(0, len(data), 512)) as received:
        store.keep(received, "PNG")
"""


def test_killed_writers_leave_no_half_file_under_a_final_name(tmp_path: Path) -> None:
    random.seed(4)
    for _ in range(8):
        writers = [subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(random.uniform(0.01, 0.2))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
    final = [path for path in tmp_path.glob("*/*") if path.suffix == ".png"]
    assert final
    for path in final:
        assert sha256(path.read_bytes()) == path.stem
