"""CPU of `--help` and `import hannun` above bare Python, beside click alone: medians of alternating runs."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

RUNS = 15
BIN = Path(sys.executable).parent
COMMANDS = {
    "bare Python": [sys.executable, "-c", "pass"],
    "import click": [sys.executable, "-c", "import click"],
    "import hannun": [sys.executable, "-c", "import hannun"],
    "hannun --help": [str(BIN / "hannun"), "--help"],
    "sage-reconstruct --help": [str(BIN / "sage-reconstruct"), "--help"],
    "import datasets": [sys.executable, "-c", "import datasets"],
}


def cpu(command: list[str]) -> float:
    """Seconds of CPU, user and system, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            seconds[name].append(cpu(command))
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    bare = medians["bare Python"]
    for name, median in medians.items():
        above = (median - bare) * 1000
        print(f"{name:<26}{median * 1000:7.1f} ms CPU  {above:+7.1f} ms  {median / bare:5.1f} x bare Python")


if __name__ == "__main__":
    main()
