"""Fixtures: every cache in a temporary folder, a built KoNA, commands as real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def _own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes a cache of the person who runs it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HANNUN_HOME", str(home / "hannun"))
        # datasets reads these when it is imported, so no test module imports it at its top.
        patch.setenv("HF_HOME", str(home / "hf"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        for name in [name for name in os.environ if name.startswith("HANNUN_") and name != "HANNUN_HOME"]:
            patch.delenv(name)
        yield


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `hannun` or `sage-reconstruct` as a process; the exit code is not checked."""

    def call(command: str, *arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).with_name(command)
        return subprocess.run(
            [program, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=120, **more
        )

    return call


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built KoNA that no test may change."""
    folder = tmp_path_factory.mktemp("built") / "kona"
    program = Path(sys.executable).with_name("sage-reconstruct")
    subprocess.run([program, "run", "kona", "--out", folder, "--quiet"], check=True)
    return folder


@pytest.fixture(scope="session")
def built_all(built_once: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A built folder of every benchmark and config, by name, that no test may change."""
    from builds import build_all

    return build_all(tmp_path_factory.mktemp("built-all"), built_once)


@pytest.fixture
def built(built_once: Path, tmp_path: Path) -> Path:
    """A built KoNA of one's own, to damage."""
    return shutil.copytree(built_once, tmp_path / "kona")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    """A headless Chromium of one's own, that saves below `tmp_path/saved` and reaches no network."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(tmp_path / "saved")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield chromium
        # Whatever a page has to complain about is a defect of the page.
        assert chromium.get_log("browser") == []
    finally:
        chromium.quit()


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Inputs from public bug reports, where they are at hand."""
    cases = SHARED / "cases"
    if not cases.is_dir():
        pytest.skip("shared/cases is not at hand")
    return cases


@pytest.fixture
def case(request: pytest.FixtureRequest, shared_cases: Path) -> Path:
    found = list(shared_cases.glob(f"{request.param}-*"))
    if not found:
        pytest.skip(f"case {request.param} is not at hand")
    return found[0]
