"""Load built folders in environments that hold only `datasets`, and compare every value and every byte.

    python tests/versions.py WORK_FOLDER

KoNA in both layouts and in both styles, SAGE, HAERAE-Vision and KOFFVQA from made-up sources in the publishers'
layout, and what goes up of KOFFVQA. The rows are as many as the cards state. Makes one
environment for each version, in WORK_FOLDER; needs the package registry, as installing does. Also loads by
name with the Hub offline, and as a script where `datasets` still runs scripts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml
from builds import noto, sage
from haerae_source import upstream_rows, write_parquet
from hannun.cards.facts import read_facts
from hannun.cards.upload import rights_in, write_upload
from test_koffvqa import table, tsv

VERSIONS = ("2.21.0", "3.6.0", "4.0.0", "newest")
SCRIPT_VERSION = "3.6.0"
ROOT = Path(__file__).parents[1]

LOAD = """
import hashlib, io, json, sys
import datasets
from datasets import Image, load_dataset

for path, config, split, *more in json.loads(sys.argv[1]):
    rows = load_dataset(path, config, split=split, **(more[0] if more else {}))
    first = rows[0].get("image") or next(iter(rows[0].get("images", ())), None)
    if first is not None:
        first.load()
    values = [row for table in rows.with_format("arrow") for row in table.to_pylist()]
    for row in values:
        for column in {"image", "images"} & set(row):
            cells = row[column] if column == "images" else [row[column]]
            row[column] = [[cell["path"], hashlib.sha256(cell["bytes"]).hexdigest()] for cell in cells]
    digest = hashlib.sha256(json.dumps(values, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
    print(json.dumps({"version": datasets.__version__, "rows": len(values), "digest": digest}))
"""


def main(work: Path) -> int:
    work.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "HF_HOME": str((work / "hf").resolve()), "HF_HUB_DISABLE_TELEMETRY": "1"}
    folders = _built(work, environment)
    # What is in the tables, read without `datasets`; tests compare that with what was put in.
    answers = {key: {_digest(key[0], *key[1:])} for folder in folders for key in _splits(folder)}
    for version in VERSIONS:
        python = _environment(work / f"datasets-{version}", version)
        own = {**environment, "HF_HOME": str((work / f"hf-{version}").resolve())}
        wanted = [[str(folder.resolve()), config, split] for folder, config, split in answers]
        loaded = _load(python, wanted, own, work)
        for ((folder, config, split), digests), got in zip(answers.items(), loaded, strict=True):
            digests.add(got["digest"])
            stated = _stated(folder, config, split)
            if got["rows"] != stated:
                raise SystemExit(f"{folder} {config} {split}: {got['rows']} rows, and the card states {stated}")
            named = f"{folder.name:<15} {config:<23} {split:<11} {got['rows']:>4} rows"
            print(f"datasets {got['version']:<8} {named}  {got['digest'][:16]}")
        kona = folders[0], "original", "test"
        if version == "newest":
            found = _by_name(python, work, environment)
            answers[kona].add(found["digest"])
            print(f"datasets {found['version']:<8} by name, offline, from an empty folder  {found['digest'][:16]}")
        if version == SCRIPT_VERSION:
            scripted = _as_script(python, folders[0], own, work)
            answers[kona].add(scripted["digest"])
            print(f"datasets {scripted['version']:<8} as a script  {scripted['digest'][:16]}")
    different = [key for key, digests in answers.items() if len(digests) != 1]
    for folder, config, split in different:
        print(f"DIFFERENT: {folder.name} {config} {split}")
    print("every version gives equal rows" if not different else f"{len(different)} differ")
    return 1 if different else 0


def _built(work: Path, environment: dict[str, str]) -> list[Path]:
    """The folders to load; KoNA is the first."""
    sources = work / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    write_parquet(sources / "haerae", upstream_rows(653))
    (sources / "KOFFVQA.tsv").write_text(tsv(table()[0]), encoding="utf-8")
    made = {
        "kona": ["kona"],
        "kona-by-id": ["kona", "--layout", "by-id"],
        "haerae-vision": ["haerae-vision", "--source", f"haerae-vision={sources / 'haerae'}"],
        "koffvqa": ["koffvqa", "--source", f"koffvqa={sources / 'KOFFVQA.tsv'}"],
    }
    hannun = Path(sys.executable).with_name("hannun")
    for name, arguments in made.items():
        command = [hannun, "build", *arguments, "--out", work / name, "--quiet"]
        subprocess.run(command, check=True, env=environment)
    for name in ("kona-noto", "noto-work", "sage-work", "koffvqa-upload"):
        shutil.rmtree(work / name, ignore_errors=True)
    noto(work / "noto-work", work / "kona-noto")
    sage(work, ["sage"])
    return [*(work / name for name in made), work / "kona-noto", work / "sage", _upload(work / "koffvqa")]


def _upload(folder: Path) -> Path:
    """What goes up of a build whose pictures may not."""
    out = folder.with_name(f"{folder.name}-upload")
    out.mkdir()
    facts = read_facts(folder)
    write_upload(folder, facts, rights_in(folder, facts), out)
    return out


def _splits(folder: Path) -> list[tuple[Path, str, str]]:
    files = sorted(folder.glob("*/*.parquet"))
    return list(dict.fromkeys((folder, path.parent.name, path.name.partition("-")[0]) for path in files))


def _stated(folder: Path, config: str, split: str) -> int:
    """Number of rows by the folder's card."""
    head = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n", 2)[1])
    [info] = [each for each in head["dataset_info"] if each["config_name"] == config]
    [rows] = [each["num_examples"] for each in info["splits"] if each["name"] == split]
    return int(rows)


def _digest(folder: Path, config: str, split: str) -> str:
    rows = [row for path in sorted((folder / config).glob(f"{split}-*")) for row in _rows(path)]
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for row in pq.read_table(path).to_pylist():
        for column in {"image", "images"} & set(row):
            cells = row[column] if column == "images" else [row[column]]
            row[column] = [[cell["path"], hashlib.sha256(cell["bytes"]).hexdigest()] for cell in cells]
        yield row


def _environment(folder: Path, version: str) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    wanted = "datasets" if version == "newest" else f"datasets=={version}"
    _pip(python, wanted, "pillow")
    return python


def _pip(python: Path, *packages: str) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def _load(python: Path, arguments: list, environment: dict[str, str], folder: Path) -> list[dict]:
    """What one process loads: for each of `arguments`, a path, config and split, rows and digest."""
    run = subprocess.run(
        [python.absolute(), "-c", LOAD, json.dumps(arguments)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )
    if run.returncode:
        raise SystemExit(f"{python}: loading {arguments} failed\n{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()[-len(arguments) :]]


def _by_name(python: Path, work: Path, environment: dict[str, str]) -> dict:
    empty = work / "empty"
    empty.mkdir(exist_ok=True)
    offline = {**environment, "HF_HUB_OFFLINE": "1"}
    return _load(python, [["hannun/kona", "original", "test"]], offline, empty)[0]


def _as_script(python: Path, folder: Path, environment: dict[str, str], work: Path) -> dict:
    _pip(python, f"{ROOT}[kona]", f"datasets=={SCRIPT_VERSION}")
    # pip leaves it behind, and it would ship deleted modules again.
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    located = [python.absolute(), "-c", "import hannun.builders as b; print(b.__path__[0])"]
    builders = subprocess.run(located, check=True, capture_output=True, text=True, cwd=work).stdout.strip()
    more = {"data_dir": str(folder.resolve()), "trust_remote_code": True}
    return _load(python, [[f"{builders}/kona.py", "original", "test", more]], environment, work)[0]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
