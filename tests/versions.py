"""Load a built KoNA in environments that hold only `datasets`, and compare every value.

    python tests/versions.py WORK_FOLDER

Makes one environment for each version, in WORK_FOLDER; needs the package registry, as installing does.
Also loads by name with the Hub offline, and as a script where `datasets` still runs scripts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

VERSIONS = ("2.21.0", "3.6.0", "4.0.0", "newest")
SCRIPT_VERSION = "3.6.0"
ROOT = Path(__file__).parents[1]

LOAD = """
import hashlib, io, json, sys
import datasets
from datasets import Image, load_dataset

path, config, split, *more = json.loads(sys.argv[1])
rows = load_dataset(path, config, split=split, **(more[0] if more else {}))
first = rows[0]["images"][0]
first.load()
values = [row for table in rows.with_format("arrow") for row in table.to_pylist()]
for row in values:
    row["images"] = [[image["path"], hashlib.sha256(image["bytes"]).hexdigest()] for image in row["images"]]
digest = hashlib.sha256(json.dumps(values, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
print(json.dumps({"version": datasets.__version__, "rows": len(values), "digest": digest, "first": list(first.size)}))
"""


def main(work: Path) -> int:
    work.mkdir(parents=True, exist_ok=True)
    folder = work / "kona"
    environment = {**os.environ, "HF_HOME": str((work / "hf").resolve()), "HF_HUB_DISABLE_TELEMETRY": "1"}
    hannun = Path(sys.executable).with_name("hannun")
    subprocess.run([hannun, "build", "kona", "--out", folder, "--quiet"], check=True, env=environment)
    recipe_splits = [(c.name, s) for c in _configs() for s in c.splits]
    answers: dict[tuple[str, str], set[str]] = {}
    for version in VERSIONS:
        python = _environment(work / f"datasets-{version}", version)
        own = {**environment, "HF_HOME": str((work / f"hf-{version}").resolve())}
        for config, split in recipe_splits:
            got = _load(python, [str(folder.resolve()), config, split], own, work)
            answers.setdefault((config, split), set()).add(got["digest"])
            print(f"datasets {got['version']:<8} {config:<12} {split:<11} {got['rows']:>4} rows  {got['digest'][:16]}")
        if version == "newest":
            named = _by_name(python, work, environment)
            answers["original", "test"].add(named["digest"])
            print(f"datasets {named['version']:<8} by name, offline, from an empty folder  {named['digest'][:16]}")
        if version == SCRIPT_VERSION:
            scripted = _as_script(python, folder, own, work)
            answers["original", "test"].add(scripted["digest"])
            print(f"datasets {scripted['version']:<8} as a script  {scripted['digest'][:16]}")
    different = [key for key, digests in answers.items() if len(digests) != 1]
    for config, split in different:
        print(f"DIFFERENT: {config} {split}")
    print("every version gives equal rows" if not different else f"{len(different)} differ")
    return 1 if different else 0


def _configs() -> tuple:
    from hannun.schemas import catalogue

    # What a build with the default options holds.
    return tuple(c for c in catalogue.benchmark("kona").configs if c.options["images"] == "twemoji")


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


def _load(python: Path, arguments: list, environment: dict[str, str], folder: Path) -> dict:
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
    answer: dict = json.loads(run.stdout.splitlines()[-1])
    return answer


def _by_name(python: Path, work: Path, environment: dict[str, str]) -> dict:
    empty = work / "empty"
    empty.mkdir(exist_ok=True)
    offline = {**environment, "HF_HUB_OFFLINE": "1"}
    return _load(python, ["hannun/kona", "original", "test"], offline, empty)


def _as_script(python: Path, folder: Path, environment: dict[str, str], work: Path) -> dict:
    _pip(python, f"{ROOT}[kona]", f"datasets=={SCRIPT_VERSION}")
    # pip leaves it behind, and it would ship deleted modules again.
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    located = [python.absolute(), "-c", "import hannun.builders as b; print(b.__path__[0])"]
    builders = subprocess.run(located, check=True, capture_output=True, text=True, cwd=work).stdout.strip()
    more = {"data_dir": str(folder.resolve()), "trust_remote_code": True}
    return _load(python, [f"{builders}/kona.py", "original", "test", more], environment, work)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
