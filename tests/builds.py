"""A built folder of every benchmark and config, from made-up sources in the publishers' layouts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import test_koffvqa
import test_kona_noto
import test_sage_run
from haerae_source import upstream_rows, write_parquet
from hannun.reconstruct.store import Store
from hannun.schemas import catalogue
from loopback import serving

from hannun.build import build

CONFIGS = {
    "kona": ["original", "explicit", "neutralized"],
    "kona-by-id": ["original", "explicit", "neutralized", "images"],
    "kona-noto": ["original-noto", "explicit-noto", "neutralized-noto"],
    "koffvqa": ["default"],
    "haerae-vision": ["original", "explicit", "paired"],
    "sage": ["vwsd", "verse-original", "verse-spis", "verse-spis-neutralized", "wikidiverse"],
    "sage-vwsd": ["vwsd"],
    "sage-verse": ["verse-original", "verse-spis", "verse-spis-neutralized"],
    "sage-verse-spis": ["verse-spis"],
    "sage-wikidiverse": ["wikidiverse"],
}
"""The configs of each folder, in order."""


def build_all(folder: Path, kona: Path) -> dict[str, Path]:
    """Build what is not KoNA's default below `folder`; the folders by name, KoNA's as it is given."""
    hannun("build", "kona", "--layout", "by-id", "--out", folder / "kona-by-id")
    noto(folder / "noto", folder / "kona-noto")
    (folder / "KOFFVQA.tsv").write_text(test_koffvqa.tsv(test_koffvqa.table(12)[0]), "utf-8")
    hannun("build", "koffvqa", "--source", f"koffvqa={folder / 'KOFFVQA.tsv'}", "--out", folder / "koffvqa", code=None)
    write_parquet(folder / "haerae", upstream_rows(12))
    source = f"haerae-vision={folder / 'haerae'}"
    hannun("build", "haerae-vision", "--source", source, "--out", folder / "haerae-vision", code=None)
    sage(folder, [name for name in CONFIGS if name.startswith("sage")])
    return {"kona": kona, **{name: folder / name for name in CONFIGS if name != "kona"}}


def noto(work: Path, out: Path) -> None:
    """A small KoNA in Noto's style, of pictures of our own."""
    work.mkdir()
    with pytest.MonkeyPatch.context() as patch, serving() as server:
        test_kona_noto.moved(patch, server.address)
        state = test_kona_noto.fetched(work, test_kona_noto.own_tables(work, server), server)
        build(state, Store(work / "store"), out)


def sage(folder: Path, names: list[str]) -> None:
    """SAGE, parts of it or configs alone, each in a folder of its name."""
    work = folder / "sage-work"
    work.mkdir()
    with serving() as server:
        stand = test_sage_run.Stand(work, server)
        given = [*stand.sources, *stand.mirrors]
        hannun("sage-reconstruct", "plan", "sage", *given, "--out", work / "plan", env=stand.environment)
        stand.serve(test_sage_run.lines(work / "plan" / "images.lock.jsonl"))
        for name in names:
            wanted = catalogue.benchmark(name).sources
            sources = [each for each in stand.sources if str(each).partition("=")[0] in wanted]
            options = [word for each in sources for word in ("--source", each)]
            arguments = ["build", name, *options, *test_sage_run.fetching(stand), "--out", folder / name]
            hannun(*arguments, env=stand.environment)


def hannun(*arguments: object, code: int | None = 0, env: dict[str, str] | None = None) -> None:
    words = [*map(str, arguments)]
    command = words.pop(0) if words[0] == "sage-reconstruct" else "hannun"
    register = ["--no-register"] if words[0] == "build" else []
    done = subprocess.run(
        [Path(sys.executable).with_name(command), *words, *register],
        check=False, capture_output=True, text=True, env={**os.environ, **(env or {})},
    )  # fmt: skip
    # Made-up tables have cut pictures, which their rows keep: an exit code of 1.
    assert done.returncode == code or (code is None and done.returncode in (0, 1)), done.stderr
