"""Uploads to a Hub on loopback: what goes up, what is refused, and what comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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
    assert set(files_of(served.repos["me/kona"])) == {
        name for name in files_of(built_once) if not name.startswith("plan/")
    }
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


def loaded(path: str, config: str, environment: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    """Rows of a config as another process loads them: JSON lines without pictures, or what went wrong."""
    code = """
        import json, sys
        from datasets import load_dataset
        for row in load_dataset(sys.argv[1], sys.argv[2], split="test"):
            print(json.dumps({k: v for k, v in row.items() if k not in ("image", "images")}))
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), path, config], check=False, capture_output=True, text=True,
        env={**environment, **more}, timeout=300,
    )  # fmt: skip


def rows_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def pushed(served: Hub, name: str) -> Path:
    return served.repos[name]


def test_pictures_of_unknown_licence_stay_and_rows_go_up(
    built_all: dict[str, Path], served: Hub, push: Call, run: Call, environment: dict[str, str]
) -> None:
    folder = built_all["koffvqa"]
    done = push(folder, "me/koffvqa")
    assert done.returncode == 1, done.stderr
    count = len((folder / "images.lock.jsonl").read_text().splitlines())
    assert f"refused: {count} pictures: its licence is not known (the terms of each image's source" in done.stdout
    assert "--rights-confirmed if you have the rights" in done.stdout
    files = files_of(pushed(served, "me/koffvqa"))
    assert {
        "README.md",
        "recipe.json",
        "rows.jsonl",
        "images.lock.jsonl",
        "default/test-00000-of-00001.parquet",
    } <= set(files)
    assert not [name for name in files if name.startswith(("images/", "plan/"))]
    rows = rows_of(loaded("me/koffvqa", "default", environment))
    written = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    assert [{k: v for k, v in row.items() if k != "image_ids"} for row in rows] == [each["record"] for each in written]
    assert [row["image_ids"] for row in rows] == [each["images"] for each in written]
    recipe = json.loads((pushed(served, "me/koffvqa") / "recipe.json").read_text())
    assert recipe["rights"]["withheld"][0]["count"] == count
    assert "confirmed" not in recipe["rights"]
    card = (pushed(served, "me/koffvqa") / "README.md").read_text("utf-8")
    assert f"Not in this copy: pictures ({count})" in card
    assert f"이 사본에 없음: 그림 {count}장" in card
    assert "hannun build koffvqa --out koffvqa" in card
    assert run("hannun", "card", pushed(served, "me/koffvqa"), "--check").returncode == 0

    # Who has the rights says so, and that is written down.
    whole = push(folder, "me/koffvqa", "--rights-confirmed")
    assert whole.returncode == 0, whole.stderr
    there = pushed(served, "me/koffvqa")
    table = "default/test-00000-of-00001.parquet"
    assert (there / table).read_bytes() == (folder / table).read_bytes()
    assert json.loads((there / "recipe.json").read_text())["rights"]["confirmed"][0]["count"] == count
    assert f"In this copy on the uploader's word, who states to have the rights: pictures ({count})" in (
        there / "README.md"
    ).read_text("utf-8")
    assert run("hannun", "card", there, "--check").returncode == 0


def copy_with_licences(folder: Path, to: Path, licences: dict[str, str | None]) -> Path:
    """A copy whose pictures, those whose ids end so, have licences of these names."""
    import shutil

    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("plan"))
    entries = [json.loads(line) for line in (to / "images.lock.jsonl").read_text().splitlines()]
    for entry in entries:
        for end, name in licences.items():
            if entry["image_id"].endswith(end):
                entry["licence"] = None if name is None else {"spdx": None, "name": name, "url": None}
    (to / "images.lock.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return to


@pytest.mark.parametrize("layout", ["kona", "kona-by-id"])
def test_a_forbidden_picture_stays_whatever_is_confirmed(
    built_all: dict[str, Path], served: Hub, push: Call, environment: dict[str, str], tmp_path: Path, layout: str
) -> None:
    import datasets

    mixed = copy_with_licences(built_all[layout], tmp_path / "mixed", {":1f350": "All rights reserved", ":1f6a2": None})
    done = push(mixed, "me/mixed")
    assert done.returncode == 1, done.stderr
    assert "refused: 1 pictures: All rights reserved forbids it" in done.stdout
    assert "refused: 1 pictures: no licence is known" in done.stdout
    first = pushed(served, "me/mixed")
    pictures = datasets.load_dataset(str(first), "images", split="test", cache_dir=str(tmp_path / "cache"))
    count = len((mixed / "images.lock.jsonl").read_text().splitlines())
    assert len(pictures) == count - 2
    assert not {"twemoji:1f350", "twemoji:1f6a2"} & set(pictures["image_id"])
    assert pictures[0]["image"].size == (72, 72)
    assert "2 of the pictures that the rows name are not in this copy" in (first / "README.md").read_text("utf-8")
    again = push(mixed, "me/mixed", "--rights-confirmed")
    assert again.returncode == 1
    assert "refused: 1 pictures: All rights reserved forbids it" in again.stdout
    assert "no licence is known" not in again.stdout
    rows = rows_of(loaded("me/mixed", "original", environment))
    ours = [json.loads(line) for line in (mixed / "instances.jsonl").read_text("utf-8").splitlines()]
    assert rows == [row for row in ours if row["id"].startswith("kona/original/") and row["split"] == "test"]
    more = datasets.load_dataset(str(first), "images", split="test", cache_dir=str(tmp_path / "cache2"))
    assert set(more["image_id"]) - set(pictures["image_id"]) == {"twemoji:1f6a2"}


def test_texts_that_are_forbidden_leave_ids_and_labels(
    built_all: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    import datasets
    from hannun.cards.card_file import stale_parts
    from hannun.cards.facts import read_facts
    from hannun.cards.upload import rights_in, write_upload
    from hannun.schemas import catalogue
    from hannun.schemas.licence import Redistribution

    entry = catalogue.benchmark("kona")
    text = replace(entry.text_licence, redistribution=Redistribution.FORBIDDEN)
    closed = replace(entry, licences={**entry.licences, "text": text})
    monkeypatch.setattr(catalogue, "benchmark", lambda _: closed)
    folder = built_all["kona-noto"]
    facts = read_facts(folder)
    rights = rights_in(folder, facts, confirmed=True)
    files = {each.path: each for each in write_upload(folder, facts, rights, _made(tmp_path / "up"))}
    assert not files["instances.jsonl"].goes_up
    assert files["instances.jsonl"].why == "holds what may not go up: Apache-2.0 forbids it"
    [row] = datasets.load_dataset(str(tmp_path / "up"), "original-noto", split="test", cache_dir=str(tmp_path / "c"))
    assert set(row) == {"id", "split", "candidates", "label", "spares", "images"}
    assert "먹자" not in "".join(
        path.read_text("utf-8") for path in (tmp_path / "up").glob("*.*") if path.suffix != ".webp"
    )
    assert stale_parts(tmp_path / "up", read_facts(tmp_path / "up")) == []


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_one_part_with_closed_texts_leaves_the_others_theirs(
    built_all: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from hannun.cards.facts import read_facts
    from hannun.cards.upload import rights_in, write_upload
    from hannun.schemas import catalogue
    from hannun.schemas.licence import Redistribution

    sage = catalogue.benchmark("sage")
    vwsd, *others = sage.members
    text = replace(vwsd.text_licence, redistribution=Redistribution.UNKNOWN)
    closed = replace(sage, members=(replace(vwsd, licences={**vwsd.licences, "text": text}), *others))
    monkeypatch.setattr(catalogue, "benchmark", lambda _: closed)
    facts = read_facts(built_all["sage"])
    rights = rights_in(built_all["sage"], facts)
    assert set(rights.withheld_texts) == {"sage-vwsd"}
    write_upload(built_all["sage"], facts, rights, _made(tmp_path / "up"))
    made = read_facts(tmp_path / "up")
    assert "context" not in made.tables.features["vwsd"]
    assert "context" in made.tables.features["verse-spis"]
    assert not any("/vwsd/" in line for line in (tmp_path / "up" / "instances.jsonl").read_text().splitlines())
    assert made.rows == facts.rows


def test_a_dry_run_lists_every_file_and_asks_nobody(
    built_all: dict[str, Path], served: Hub, push: Call, tmp_path: Path
) -> None:
    import shutil

    folder = shutil.copytree(built_all["koffvqa"], tmp_path / "k")
    (folder / "gallery.html").write_text("x")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = push(folder, "me/koffvqa", "--dry-run", HF_TOKEN="")
    assert done.returncode == 1, done.stderr
    assert served.asked == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".hannun")] == []
    for name in files_of(folder):
        assert f"\n{name} " in done.stdout
    listed = json.loads(push(folder, "me/koffvqa", "--dry-run", "--json").stdout)
    assert listed["commit"] is None
    files = {each["path"]: each for each in listed["files"]}
    assert set(files_of(folder)) <= set(files)
    assert all(each["why"] for each in files.values())
    assert [name for name, each in files.items() if not each["goes_up"]] == [
        "gallery.html", *(name for name in sorted(files) if name.startswith("plan/")),
    ]  # fmt: skip
    assert listed["refused"][0]["redistribution"] == "unknown"


def test_a_later_push_replaces_the_earlier_one_and_nothing_else(
    built_all: dict[str, Path], served: Hub, push: Call
) -> None:
    assert push(built_all["kona-noto"], "me/kona", "--rights-confirmed").returncode == 0
    there = pushed(served, "me/kona")
    (there / "notes.txt").write_text("mine")
    (there / "extra").mkdir()
    (there / "extra" / "mine.parquet").write_bytes(b"mine")
    assert (there / "sample.webp").is_file()
    assert push(built_all["koffvqa"], "me/kona").returncode == 1
    kept = set(files_of(there))
    assert {"notes.txt", "extra/mine.parquet"} <= kept
    assert not [name for name in kept if "noto" in name or name in ("instances.jsonl", "sample.webp")]


def test_a_branch_and_a_private_repository(built_all: dict[str, Path], served: Hub, push: Call) -> None:
    folder = built_all["kona-noto"]
    done = push(folder, "me/kona", "--private", "--revision", "next")
    assert done.returncode == 0, done.stderr
    assert served.private == {"me/kona"}
    assert files_of(served.repos["me/kona"]) == []
    assert "README.md" in files_of(served.repos["me/kona@next"])
    assert push(folder, "me/kona", "--private", "--revision", "next").returncode == 0
    served.private.clear()
    refused = push(folder, "me/kona", "--private")
    assert refused.returncode == 2
    assert "is public" in refused.stderr


@pytest.mark.parametrize(
    ("repo", "environment_more", "code", "words"),
    [
        ("me/kona", {"HF_TOKEN": ""}, 2, ("no token", "hf auth login")),
        ("me/kona", {"HF_TOKEN": "hf_reader"}, 2, ("may not write", "403", "hf auth login")),
        ("you/kona", {}, 2, ("may not write to you/kona", "organisation")),
        ("me/kona", {"HF_HUB_OFFLINE": "1"}, 2, ("HF_HUB_OFFLINE",)),
        ("me/kona", {"HF_ENDPOINT": "http://127.0.0.1:9"}, 3, ("cannot be reached", "HF_ENDPOINT")),
        ("no slash", {}, 2, ("no name of a repository", "OWNER/NAME")),
        ("kona", {}, 2, ("no name of a repository", "OWNER/NAME")),
    ],
)
def test_what_the_hub_refuses_is_explained(
    built_all: dict[str, Path], served: Hub, push: Call, repo: str, environment_more: dict[str, str], code: int,
    words: tuple[str, ...],
) -> None:  # fmt: skip
    served.readers.add("hf_reader")
    done = push(built_all["kona-noto"], repo, **environment_more)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize(
    ("action", "status", "code", "words"),
    [
        ("create", 401, 2, ("does not know this token", "hf auth login")),
        ("main", 403, 2, ("may not write",)),
        ("create", 500, 3, ("does not answer well", "run the same command again")),
        ("validate-yaml", 400, 2, ("refuses what is uploaded",)),
    ],
)
def test_refusals_on_the_way_are_explained(
    built_all: dict[str, Path], served: Hub, push: Call, action: str, status: int, code: int, words: tuple[str, ...]
) -> None:
    served.answers[action] = status
    done = push(built_all["kona-noto"], "me/kona")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_a_revision_that_is_not_there_is_explained(built_all: dict[str, Path], push: Call) -> None:
    done = push(built_all["kona-noto"], "me/kona", "--revision", "refs/pr/9")
    assert done.returncode == 2
    assert "has no revision refs/pr/9" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_gated_or_missing_does_not_load_and_says_so(
    built_all: dict[str, Path], served: Hub, push: Call, environment: dict[str, str]
) -> None:
    assert push(built_all["kona-noto"], "me/kona").returncode == 0
    served.gated.add("me/kona")
    refused = loaded("me/kona", "original-noto", environment, HF_TOKEN="")
    assert refused.returncode == 1
    assert "gated" in refused.stderr
    assert len(rows_of(loaded("me/kona", "original-noto", environment))) == 1
    missing = loaded("me/none", "original-noto", environment)
    assert missing.returncode == 1
    assert "doesn't exist" in missing.stderr


def test_a_plan_is_not_pushed(built_all: dict[str, Path], push: Call) -> None:
    done = push(built_all["kona"] / "plan", "me/kona")
    assert done.returncode == 2
    assert "a plan, not a build" in done.stderr
