"""HAERAE-Vision from a Hub on loopback: what comes is pinned, what does not come is explained."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from haerae_source import upstream_rows, write_parquet
from hub import Hub, hub

REPO = "HAERAE-HUB/HAERAE-VISION"

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Hub]:
    """A Hub that holds the table, and files that nobody needs."""
    folder = write_parquet(tmp_path / "repo", upstream_rows(12), files=2)
    (folder / "data/notes.txt").write_text("아무도 읽지 않는다", encoding="utf-8")
    with hub() as serving:
        serving.repos[REPO] = folder
        yield serving


@pytest.fixture
def call(tmp_path: Path, served: Hub, run: Call) -> Call:
    """Run a command whose Hub is the loopback one, with a cache of its own."""

    def with_hub(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {
            "HF_ENDPOINT": served.address,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
            "HF_HOME": str(tmp_path / "hf"),
            "HANNUN_HOME": str(tmp_path / "home"),
            **environment,
        }
        kept = {name: value for name, value in os.environ.items() if name not in ("HF_TOKEN", "HF_HUB_CACHE")}
        return run("sage-reconstruct", *arguments, env={**kept, **own})

    return with_hub


def recipe(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "recipe.json").read_text())
    return value


def explained(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_the_table_comes_from_the_hub_at_a_commit(tmp_path: Path, served: Hub, call: Call) -> None:
    made = call("run", "haerae-vision", "--out", tmp_path / "b")
    assert made.returncode == 0, made.stderr
    [source] = recipe(tmp_path / "b")["sources"]
    assert source["revision"] == served.commit(REPO)
    files = {line.rpartition("/")[2] for line in served.asked if "/resolve/" in line}
    assert {name.rpartition(".")[2] for name in files} == {"parquet"}
    by_hand = call("plan", "haerae-vision", "--out", tmp_path / "p", "--source", f"haerae-vision={served.repos[REPO]}")
    assert by_hand.returncode == 0
    assert recipe(tmp_path / "p")["sources"] == [{"name": "haerae-vision", "digest": source["digest"]}]
    for name in ("rows.jsonl", "images.lock.jsonl"):
        assert (tmp_path / "p" / name).read_bytes() == (tmp_path / "b/plan" / name).read_bytes()


def test_a_table_at_the_top_of_the_repository_is_found_too(tmp_path: Path, served: Hub, call: Call) -> None:
    for path in served.repos[REPO].glob("data/*.parquet"):
        path.rename(served.repos[REPO] / path.name)
    assert call("plan", "haerae-vision", "--out", tmp_path / "p").returncode == 0
    assert recipe(tmp_path / "p")["counts"]["rows"] == 36


def test_offline_the_cache_answers(tmp_path: Path, call: Call) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    explained(
        call("run", "haerae-vision", "--out", tmp_path / "a", **offline), 3, "unreachable", "unset HF_HUB_OFFLINE"
    )
    assert not (tmp_path / "a").exists()
    assert call("plan", "haerae-vision", "--out", tmp_path / "p").returncode == 0
    again = call("run", "haerae-vision", "--out", tmp_path / "b", **offline)
    assert again.returncode == 0, again.stderr
    assert recipe(tmp_path / "b") == recipe(tmp_path / "p")


def test_a_gated_repository_wants_a_token(tmp_path: Path, served: Hub, call: Call) -> None:
    served.gated.add(REPO)
    explained(call("plan", "haerae-vision", "--out", tmp_path / "p"), 2, "refused", "is gated", "hf auth login")
    assert not (tmp_path / "p").exists()
    assert call("plan", "haerae-vision", "--out", tmp_path / "p", HF_TOKEN="hf_made_up").returncode == 0


def test_what_is_not_there_is_explained(tmp_path: Path, served: Hub, call: Call) -> None:
    plan = ("plan", "haerae-vision", "--out", tmp_path / "p")
    explained(call(*plan, "--revision", "v9"), 2, "gone", "no revision v9")
    for path in served.repos[REPO].glob("data/*.parquet"):
        path.unlink()
    explained(call(*plan), 2, "gone", "has no *.parquet", "--source haerae-vision=PATH")
    del served.repos[REPO]
    explained(call(*plan), 2, "gone", f"no dataset {REPO}")
    explained(call(*plan, HF_ENDPOINT="http://127.0.0.1:9"), 3, "unreachable")
    assert not (tmp_path / "p").exists()


def test_a_commit_may_be_named(tmp_path: Path, served: Hub, call: Call) -> None:
    commit = served.commit(REPO)
    made = call("plan", "haerae-vision", "--out", tmp_path / "p", "--revision", commit)
    assert made.returncode == 0, made.stderr
    assert recipe(tmp_path / "p")["sources"][0]["revision"] == commit
    write_parquet(tmp_path / "new", upstream_rows(5))
    served.repos[REPO] = tmp_path / "new"
    assert call("plan", "haerae-vision", "--out", tmp_path / "q").returncode == 0
    assert recipe(tmp_path / "q")["sources"][0]["revision"] != commit
    fetched = call("fetch", tmp_path / "p")
    assert fetched.returncode == 0, fetched.stderr
