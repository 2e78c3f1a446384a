"""The wheel holds what the tree holds; nothing of the house is forgotten or left over."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOMS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the files in a wheel built from a clean copy of the tree."""
    copy = tmp_path_factory.mktemp("tree")
    for name in [*ROOMS.values(), "pyproject.toml", "README.md", "LICENSE", "NOTICE"]:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", copy / "dist", copy]
    subprocess.run(command, check=True, capture_output=True)
    [path] = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def tree() -> set[str]:
    names = set()
    for package, folder in ROOMS.items():
        for path in (ROOT / folder).rglob("*"):
            inner = path.relative_to(ROOT / folder)
            hidden = any(part == "__pycache__" or part.endswith(".egg-info") for part in inner.parts)
            if path.is_file() and not hidden:
                names.add(f"{package.replace('.', '/')}/{inner.as_posix()}")
    return names


def test_the_wheel_holds_what_the_tree_holds(wheel: set[str]) -> None:
    shipped = {name for name in wheel if ".dist-info/" not in name}
    assert shipped == tree()
    assert {name.rpartition("/")[2] for name in wheel if "/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_no_generic_name_lands_at_the_top(wheel: set[str]) -> None:
    assert {name.partition("/")[0] for name in wheel if ".dist-info/" not in name} == {"hannun"}


def test_every_package_is_listed() -> None:
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    found = {name.rpartition("/")[0].replace("/", ".") for name in tree() if name.endswith("__init__.py")}
    assert listed == found


def test_every_bound_has_its_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    start = lines.index("dependencies = [")
    for place in range(start + 1, lines.index("]", start)):
        if lines[place].strip().startswith('"'):
            assert lines[place - 1].strip().startswith("#"), lines[place]
