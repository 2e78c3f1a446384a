"""Uploads to a Hub on loopback: what goes up, what is refused, and what comes back."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub import Hub, files_of, hub

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Hub]:
    with hub(tmp_path / "hub") as running:
        yield running


@pytest.fixture
def environment(tmp_path: Path, served: Hub) -> dict[str, str]:
    return {
        **os.environ,
        "HF_ENDPOINT": served.address,
        "HF_TOKEN": "hf_made_up",
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture
def push(run: Call, environment: dict[str, str]) -> Call:
    def call(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return run("hannun", "push", *arguments, env={**environment, **more})

    return call


def test_a_push_comes_back_as_it_was(built_once: Path, served: Hub, push: Call, environment: dict[str, str]) -> None:
    done = push(built_once, "me/kona")
    assert done.returncode == 0, done.stderr
    assert "/datasets/me/kona/commit/" in done.stdout
    print(files_of(served.repos["me/kona"]))
    code = """
        import sys
        from datasets import load_dataset
        for config in ("original", "explicit", "neutralized"):
            for split in ("validation", "test"):
                ours = load_dataset(sys.argv[1], config, split=split)
                theirs = load_dataset("me/kona", config, split=split)
                assert ours.features == theirs.features
                assert ours.with_format("arrow")[:] == theirs.with_format("arrow")[:]
        streamed = next(iter(load_dataset("me/kona", "explicit", split="test", streaming=True)))
        assert streamed["images"][streamed["label"]].size == (72, 72)
        print("equal")
    """
    loaded = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(built_once)], check=False, capture_output=True, text=True,
        env=environment, timeout=300,
    )  # fmt: skip
    assert loaded.returncode == 0, loaded.stderr
    assert "equal" in loaded.stdout
