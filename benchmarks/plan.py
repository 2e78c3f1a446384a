"""CPU, wall time and memory of `sage-reconstruct plan sage-verse-spis`, once and repeated, beside bare `json.loads`.

The sources hold all annotations of VerSe, and captions of VerSe's images alone or of all of COCO. The peer reads
the same captions and does nothing with them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from verse_sources import Row, all_of_coco, images_of, made_rows, read_rows, write_sources

CPU_LIMIT = 10
"""Seconds in which VerSe is to be planned, once, with captions of all of its images."""

PEER_CODE = "import json, sys; documents = [json.loads(open(path, 'rb').read()) for path in sys.argv[1:]]"
VERSE, COCO = "verse", "coco"


class Input(NamedTuple):
    """Sources in a folder: how many times over, and how many annotations and images with captions that makes."""

    captions_of: str
    times: int
    folder: Path
    rows: int
    images: int
    captions: tuple[Path, ...]

    @property
    def name(self) -> str:
        return f"{self.captions_of} {self.times}x"

    @property
    def plan(self) -> Path:
        return self.folder / "plan"


class Cost(NamedTuple):
    """Seconds of CPU (user and system) and of wall, peak bytes."""

    cpu: float
    wall: float
    memory: float


class Uncounted(Exception):
    """A run that failed, or did not plan everything."""


def made_input(work: Path, rows: list[Row], captions_of: str, times: int) -> Input:
    folder = work / f"{captions_of}-{times}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    images = images_of(rows)
    if captions_of == COCO:
        images = all_of_coco(images)
    captions = write_sources(folder, rows, images, times)
    return Input(captions_of, times, folder, len(rows) * times, len(images) * times, captions)


def plan_command(made: Input) -> list[str]:
    named = {"verse-annotations": made.folder / "annotations.csv", "verse-senses": made.folder / "senses.tsv"}
    given = [*named.items(), *(("coco-captions", path) for path in made.captions)]
    sources = [word for name, path in given for word in ("--source", f"{name}={path}")]
    options = ["--set", "verse.annotations=gold_all", "--out", str(made.plan), "--quiet"]
    return [str(Path(sys.executable).with_name("sage-reconstruct")), "plan", "sage-verse-spis", *sources, *options]


def peer_command(made: Input) -> list[str]:
    return [sys.executable, "-c", PEER_CODE, *map(str, made.captions)]


PLAN, PEER = "plan", "json.loads"
CONTESTANTS = {PLAN: plan_command, PEER: peer_command}


def cost_of(contestant: str, made: Input) -> Cost:
    """One run in a fresh process: peak memory is inherited from whoever starts a child."""
    shutil.rmtree(made.plan, ignore_errors=True)
    os.sync()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        cost = fresh.submit(run, CONTESTANTS[contestant](made)).result()
    if contestant == PLAN:
        check_plan(made)
    return cost


def run(command: list[str]) -> Cost:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        raise Uncounted(f"{command[:2]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def check_plan(made: Input) -> None:
    """Every annotation is an instance or dropped, and none is dropped for want of a caption of its own."""
    recipe = json.loads((made.plan / "recipe.json").read_text("utf-8"))
    planned = recipe["counts"]["rows"] + recipe["counts"]["dropped"]
    wanting = [
        drop["reason"] for drop in recipe["dropped"] if "caption " in drop["reason"] or "context" in drop["reason"]
    ]
    if planned != made.rows or wanting:
        raise Uncounted(f"{planned} of {made.rows} annotations were planned; dropped: {wanting}")


def measured(inputs: list[Input], rounds: int, console: Console) -> dict[tuple[Input, str], list[Cost]]:
    """Alternating rounds of both contestants over all inputs."""
    costs: dict[tuple[Input, str], list[Cost]] = defaultdict(list)
    runs = [(made, contestant) for made in inputs for contestant in CONTESTANTS]
    for number in range(rounds):
        # Every other round goes backwards, so that nobody always follows the same one.
        for made, contestant in runs[:: -1 if number % 2 else 1]:
            cost = cost_of(contestant, made)
            costs[made, contestant].append(cost)
            console.print(
                f"round {number + 1}: {made.name}, {contestant}: {cost.cpu:.2f} s CPU, {cost.wall:.2f} s wall"
            )
    return costs


def print_results(costs: dict[tuple[Input, str], list[Cost]], console: Console) -> None:
    inputs = list(dict.fromkeys(made for made, _ in costs))
    sizes = Table("input", "annotations", "images with captions", "MB of captions")
    for made in inputs:
        megabytes = sum(path.stat().st_size for path in made.captions) / 1e6
        sizes.add_row(made.name, f"{made.rows:,}", f"{made.images:,}", f"{megabytes:,.1f}")
    console.print(sizes)
    medians = {key: Cost(*map(statistics.median, zip(*each, strict=True))) for key, each in costs.items()}
    table = Table("input", "", "CPU s", "range", "wall s", "peak MiB")
    for (made, name), cost in medians.items():
        each = [run.cpu for run in costs[made, name]]
        spread = f"{min(each):.2f} to {max(each):.2f}"
        table.add_row(made.name, name, f"{cost.cpu:.2f}", spread, f"{cost.wall:.2f}", f"{cost.memory / 2**20:,.0f}")
    console.print(table)
    for once, repeated in itertools.pairwise(inputs):
        if once.times == 1:
            plan = medians[once, PLAN].cpu
            console.print(
                f"{once.name}: {plan:.1f} s CPU, {plan / medians[once, PEER].cpu:.0f} times {PEER}; "
                f"{repeated.name}: {medians[repeated, PLAN].cpu / plan:.1f} times as long as {once.name}",
                soft_wrap=True,
            )
            if once.captions_of == VERSE:
                console.print(f"{'within' if plan < CPU_LIMIT else 'over'} the {CPU_LIMIT} s that {once.name} may take")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds (%(default)s)")
    parser.add_argument("--times", type=int, default=10, help="how often the input is repeated (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=(VERSE, COCO), default=[VERSE, COCO], help="captions of what")
    parser.add_argument("--annotations", type=Path, help="VerSe's file gold_all_*.csv instead of made annotations")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir(), "hannun-plan"),
        help="folder for everything that is made; kept (%(default)s)",
    )
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.times < 2:
        parser.error("one round and two times are the least")
    console = Console()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"
    console.print(f"{system}, Python {platform.python_version()}", soft_wrap=True)
    rows = read_rows(arguments.annotations) if arguments.annotations else made_rows()
    work = arguments.work.resolve()
    inputs = [made_input(work, rows, of, times) for of in arguments.only for times in (1, arguments.times)]
    try:
        print_results(measured(inputs, arguments.rounds, console), console)
    except Uncounted as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
