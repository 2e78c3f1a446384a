"""The GitHub Action, the pre-commit hook and the GitLab job, by running their own steps."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [{"id": "1", "question": "가 "}, {"id": "2", "question": "나"}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does: bash that stops at the first failure."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env={**os.environ, "PATH": path, **environment}, check=False, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip


class Action:
    """The composite action, its validating step run with inputs."""

    def __init__(self, folder: Path) -> None:
        self.value: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        self.folder = folder
        self.output, self.summary, self.temp = (folder / name for name in ("output", "summary", "temp"))

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        [step] = [each for each in self.value["runs"]["steps"] if each.get("id") == "validate"]
        given = {name: each.get("default", "") for name, each in self.value["inputs"].items()} | inputs
        environment = {
            name: given[re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)[1]]  # type: ignore[index]
            for name, value in step["env"].items()
        }
        runner = {"GITHUB_OUTPUT": self.output, "GITHUB_STEP_SUMMARY": self.summary, "RUNNER_TEMP": self.temp}
        return shell(step["run"], self.folder, **environment, **{name: str(path) for name, path in runner.items()})


def test_the_action_passes_what_passes_and_writes_its_reports(data: Path) -> None:
    action = Action(data.parent)
    done = action.run(path="data")
    assert done.returncode == 0, done.stderr
    assert "::warning file=data/rows.jsonl" in done.stdout
    outputs = dict(line.split("=", 1) for line in action.output.read_text().splitlines())
    assert Path(outputs["sarif"]).is_file()
    assert Path(outputs["junit"]).is_file()
    assert "HN-TXT-009" in action.summary.read_text("utf-8")


def test_the_action_fails_as_it_is_asked(data: Path) -> None:
    action = Action(data.parent)
    assert action.run(path="data", strict="true").returncode == 1
    assert action.run(path="data", strict="true", ignore="HN-TXT-009 HN-TXT-001").returncode == 0
    assert action.run(path="data", strict="true", level="images").returncode == 0
    assert action.run(path="nothing").returncode == 2
    baseline = data.parent / "baseline.json"
    subprocess.run([BIN / "hannun", "validate", data, "--format", "json", "--out", baseline], check=True)
    assert action.run(path="data", strict="true", baseline=str(baseline)).returncode == 0
    # What looks like a command is a name.
    hostile = action.run(path="data; touch owned")
    assert hostile.returncode == 2
    assert not (data.parent / "owned").exists()


def test_the_action_has_what_its_steps_name() -> None:
    value = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    text = (ROOT / "action.yml").read_text("utf-8")
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == set(value["inputs"])
    assert value["runs"]["using"] == "composite"


def test_the_hook_checks_the_files_that_it_is_given(data: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert re.search(hook["files"], "data/rows.jsonl")
    assert not re.search(hook["files"], "README.md")
    (data / "bad.jsonl").write_text('{"id":')
    assert shell(f"{hook['entry']} rows.jsonl", data).returncode == 0
    assert shell(f"{hook['entry']} rows.jsonl bad.jsonl", data).returncode == 1


def test_the_gitlab_job_runs_as_documented(data: Path) -> None:
    page = (ROOT / "docs/validate.md").read_text("utf-8")
    [block] = [each for each in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "script:" in each]
    [job] = yaml.safe_load(block).values()
    [install, *script] = job["script"]
    assert install.startswith("pip install")
    done = shell("\n".join(script), data.parent)
    assert done.returncode == 1
    assert (data.parent / job["artifacts"]["reports"]["junit"]).is_file()
