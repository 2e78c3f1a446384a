"""Rate, CPU and memory of `sage-reconstruct fetch` beside img2dataset and a plain loop of requests, on loopback.

Only the standard library is imported above the functions: the plain loop and the measuring process load
this module too, and their memory is measured.
"""

from __future__ import annotations

import argparse
import grp
import hashlib
import importlib.metadata
import io
import json
import multiprocessing
import os
import platform
import pwd
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
IMG2DATASET = "img2dataset==1.47"
SCHEMES = ("http", "https")
PROCESSES, THREADS = 2, 16
SCALES = (2_000, 50_000)
# Sides in pixels of noise that make JPEGs of about 100 KB and 1 KB.
LARGE, SMALL = 334, 20
HOST = "127.0.0.1"

NGINX = """
daemon off;
user {user} {group};
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log {log};
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60;
    types {{ image/jpeg jpg; }}
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.pem;
    server {{
        listen {host}:{http};
        listen {host}:{https} ssl;
        root {root};
    }}
}}
"""


class Uncounted(Exception):
    """A run that failed, or did not bring every image."""


@dataclass(frozen=True)
class Image:
    """A served file."""

    name: str
    bytes: int
    sha256: str
    xxh3_128: str


@dataclass(frozen=True)
class Server:
    """A running nginx: its base address by scheme, its authority's certificate, its access log if it writes one."""

    addresses: dict[str, str]
    authority: Path
    log: Path | None

    def requests(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log else 0


@dataclass(frozen=True)
class Task:
    """Images to get from an address into an empty folder."""

    images: list[Image]
    address: str
    authority: Path
    out: Path


@dataclass(frozen=True)
class Cost:
    """One run: seconds of wall and of CPU (user and system, all processes), peak bytes of its largest process."""

    wall: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class Contestant:
    """How one of them is started, and where its images are then (a pattern below its folder)."""

    command: Callable[[Task], list[str]]
    pattern: str


# What is served


def images_of(folder: Path, count: int, side: int) -> list[Image]:
    """Noise as JPEGs, made on first use; equal arguments give equal bytes under one version of Pillow."""
    import xxhash
    from PIL import Image as Picture

    if not folder.is_dir():
        making = folder.with_suffix(".part")
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        source = random.Random(1)
        for number in range(count):
            stream = io.BytesIO()
            Picture.frombytes("RGB", (side, side), source.randbytes(3 * side * side)).save(stream, "JPEG", quality=90)
            (making / f"{number:06}.jpg").write_bytes(stream.getvalue())
        making.rename(folder)
    images = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        images.append(Image(path.name, len(data), hashlib.sha256(data).hexdigest(), xxhash.xxh3_128_hexdigest(data)))
    return images


@contextmanager
def serving(work: Path, root: Path, *, logged: bool = False) -> Iterator[Server]:
    """Nginx over a folder, on free ports, with all of its own files below `work`."""
    import certifi
    import trustme

    folder = work / "nginx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    authority = trustme.CA()
    # Everybody's list of authorities and one more, as where a house adds its own: its length is what a client
    # that reads it for every connection pays for.
    (folder / "authority.pem").write_bytes(Path(certifi.where()).read_bytes() + authority.cert_pem.bytes())
    authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    ports = dict(zip(SCHEMES, free_ports(len(SCHEMES)), strict=True))
    log = folder / "access.log" if logged else None
    configuration = NGINX.format(
        # As root, nginx would give its worker to another user, who may not read the folder.
        user=pwd.getpwuid(os.getuid()).pw_name,
        group=grp.getgrgid(os.getgid()).gr_name,
        folder=folder,
        log=log or "off",
        host=HOST,
        root=root,
        **ports,
    )
    (folder / "nginx.conf").write_text(configuration)
    process = subprocess.Popen([nginx(), "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"])
    try:
        for port in ports.values():
            wait_for(port, process)
        addresses = {scheme: f"{scheme}://{HOST}:{port}" for scheme, port in ports.items()}
        yield Server(addresses, folder / "authority.pem", log)
    finally:
        process.terminate()
        process.wait()


def nginx() -> str:
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        sys.exit("nginx was not found; it serves the images: apt-get install nginx-light")
    return found


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while True:
        try:
            socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            if process.poll() is not None:
                sys.exit("nginx did not start; its reason stands above, or in error.log of its folder")
            time.sleep(0.05)
        else:
            return


# Who gets it


def hannun_command(task: Task) -> list[str]:
    write_plan_of(task)
    store = str(task.out / "store")
    command = [str(BIN / "sage-reconstruct"), "fetch", str(task.out / "plan"), "--store", store]
    return [*command, "--allow-private", "--quiet"]


def write_plan_of(task: Task) -> None:
    """A plan whose instances use the images ten at a time."""
    from hannun.reconstruct.plan_folder import write_plan
    from hannun.schemas.instance import CANDIDATES, Candidate, Instance
    from hannun.schemas.lock import LockEntry
    from hannun.schemas.plan import Planned, Recipe

    lock = [
        LockEntry(
            image_id=f"noise:{image.name}",
            locations=(f"{task.address}/{image.name}",),
            digests={"sha256": image.sha256, "xxh3_128": image.xxh3_128},
            bytes=image.bytes,
        )
        for image in task.images
    ]
    rows: list[Instance] = []
    for start in range(0, len(lock), CANDIDATES):
        # The last instance goes back for what is missing to ten.
        ten = lock[min(start, len(lock) - CANDIDATES) :][:CANDIDATES]
        gold = len(rows) % CANDIDATES
        rows.append(
            Instance(
                id=f"kona/original/noise-{start}",
                split="test",
                context=f"그림 {start}번입니다.",
                target="그림",
                target_span=(0, 2),
                candidates=tuple(
                    Candidate(entry.image_id, "gold" if place == gold else "random") for place, entry in enumerate(ten)
                ),
                label=gold,
                spares=(),
                source={"item": f"noise-{start}", "noun": "그림", "sense": "noise", "gloss": "그림"},
            )
        )
    recipe = Recipe(benchmark="kona", recipe="kona", version=1, options={}, seed=1, sources={})
    write_plan(task.out / "plan", recipe, Planned(tuple(rows), tuple(lock), ()))


def img2dataset_command(task: Task) -> list[str]:
    """Bytes as served into files: no resizing, no decoding, sha256 compared, both processes busy."""
    addresses = task.out / "addresses.csv"
    rows = [f"{task.address}/{image.name},{image.sha256}" for image in task.images]
    addresses.write_text("\n".join(["url,sha256", *rows]) + "\n")
    options = {
        "url_list": addresses,
        "input_format": "csv",
        "output_folder": task.out / "images",
        "output_format": "files",
        "resize_mode": "no",
        "disable_all_reencoding": True,
        "extract_exif": False,
        "verify_hash": "[sha256,sha256]",
        "processes_count": PROCESSES,
        "thread_count": THREADS,
        # A process takes a shard at a time.
        "number_sample_per_shard": -(-len(task.images) // PROCESSES),
    }
    return [str(img2dataset(task.out.parent)), *(f"--{name}={value}" for name, value in options.items())]


def img2dataset(work: Path) -> Path:
    """The program, installed on first use into an environment of its own."""
    program = work / "img2dataset" / "bin" / "img2dataset"
    if not program.exists():
        # It imports imghdr, which Python 3.13 no longer has.
        older = [found for name in ("python3.12", "python3.11") if (found := shutil.which(name))]
        python = next(iter(older), None) if sys.version_info >= (3, 13) else sys.executable
        if python is None:
            sys.exit(f"{IMG2DATASET} needs Python 3.12 or older; none was found, leave it out with --only")
        subprocess.run([python, "-m", "venv", "--clear", work / "img2dataset"], check=True)
        subprocess.run([program.with_name("pip"), "install", "-qq", IMG2DATASET], check=True)
    return program


def requests_command(task: Task) -> list[str]:
    rows = [[f"{task.address}/{image.name}", image.name, image.sha256, image.xxh3_128] for image in task.images]
    (task.out / "wanted.json").write_text(json.dumps(rows))
    arguments = tuple(map(str, (task.out / "wanted.json", task.out / "images", task.authority)))
    return [sys.executable, "-c", f"from fetch import requests_loop; requests_loop{arguments}"]


def requests_loop(wanted: str, out: str, authority: str) -> None:
    """The plain loop: a session for each thread, digests compared, temporary file, rename."""
    import requests
    import xxhash

    rows = json.loads(Path(wanted).read_text())
    Path(out).mkdir()

    def get(share: list[list[str]]) -> None:
        with requests.Session() as session:
            for address, name, sha256, xxh3_128 in share:
                response = session.get(address, verify=authority, timeout=30)
                response.raise_for_status()
                data = response.content
                if hashlib.sha256(data).hexdigest() != sha256 or xxhash.xxh3_128_hexdigest(data) != xxh3_128:
                    raise ValueError(f"other bytes: {address}")
                temporary = Path(out, f"{name}.part")
                temporary.write_bytes(data)
                temporary.replace(Path(out, name))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(get, [rows[number::THREADS] for number in range(THREADS)]))


CONTESTANTS = {
    "hannun": Contestant(hannun_command, "store/??/*"),
    "img2dataset": Contestant(img2dataset_command, "images/*/*.jpg"),
    "requests": Contestant(requests_command, "images/*.jpg"),
}


# What it costs


def empty_task(work: Path, images: list[Image], server: Server, scheme: str) -> Task:
    """A task whose folder is new."""
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return Task(images, server.addresses[scheme], server.authority, out)


def contest(contestant: Contestant, task: Task, *options: str) -> Cost:
    """One run, checked afterwards."""
    command = [*contestant.command(task), *options]
    # Nobody pays for what the one before left to be written.
    os.sync()
    cost = cost_of(command, task)
    check_images(task, contestant.pattern)
    if contestant.command is hannun_command:
        check_hannun(task)
    return cost


def cost_of(command: list[str], task: Task) -> Cost:
    """The cost of a command, measured in a fresh process: peak memory is inherited from whoever starts a child."""
    # Nothing else of the user's: proxies, other certificates or settings.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(task.out),
        "SSL_CERT_FILE": str(task.authority),
        "HANNUN_HOME": str(task.out / "home"),
        # A package that img2dataset loads would ask the network for a newer version of itself.
        "NO_ALBUMENTATIONS_UPDATE": "1",
    }
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(run, command, environment).result()


def run(command: list[str], environment: dict[str, str]) -> Cost:
    start = time.perf_counter()
    # HERE is where the plain loop finds this module.
    done = subprocess.run(command, env=environment, cwd=HERE, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        raise Uncounted(f"{command[:2]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def check_images(task: Task, pattern: str) -> None:
    """Every image is there once, byte for byte, and nothing else."""
    got = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in task.out.glob(pattern))
    if got != sorted(image.sha256 for image in task.images):
        raise Uncounted(f"{len(got)} files, not the {len(task.images)} images, at {task.out}/{pattern}")


def check_hannun(task: Task) -> None:
    """Stored files are named by their sha256, and each image was observed as exact once."""
    for path in task.out.glob(CONTESTANTS["hannun"].pattern):
        if hashlib.sha256(path.read_bytes()).hexdigest() != path.stem:
            raise Uncounted(f"not named by its sha256: {path}")
    rows = [json.loads(line) for line in (task.out / "plan" / "observed.jsonl").read_text().splitlines()]
    exact = sorted(row["image_id"] for row in rows if row["outcome"] == "exact")
    if len(rows) != len(exact) or exact != sorted(f"noise:{image.name}" for image in task.images):
        raise Uncounted(f"{len(exact)} of {len(rows)} observations exact, {len(task.images)} images")


# The two parts


def compare(work: Path, count: int, rounds: int, names: list[str], console: Console) -> None:
    """Alternating rounds of all contestants over HTTP and HTTPS: medians and ratios."""
    root = work / f"images-{count}"
    images = images_of(root, count, LARGE)
    costs: dict[tuple[str, str], list[Cost]] = defaultdict(list)
    with serving(work, root) as server:
        for number in range(rounds):
            # Every other round goes backwards, so that nobody always follows the same one.
            for name in names[:: -1 if number % 2 else 1]:
                for scheme in SCHEMES:
                    task = empty_task(work, images, server, scheme)
                    cost = contest(CONTESTANTS[name], task)
                    costs[scheme, name].append(cost)
                    console.print(f"round {number + 1}: {name}, {scheme}: {count / cost.wall:,.0f} images/s")
    mean = sum(image.bytes for image in images) / count
    print_comparison(costs, count, f"{count:,} images of {mean / 1000:.0f} KB, medians of {rounds}", console)


def print_comparison(costs: dict[tuple[str, str], list[Cost]], count: int, title: str, console: Console) -> None:
    from rich.table import Table

    table = Table("", "", "wall s", "images/s", "range", "CPU ms/image", "peak MiB", title=title)
    medians: dict[tuple[str, str], Cost] = {}
    for (scheme, name), each in sorted(costs.items()):
        median = medians[scheme, name] = Cost(
            statistics.median(cost.wall for cost in each),
            statistics.median(cost.cpu for cost in each),
            int(statistics.median(cost.memory for cost in each)),
        )
        rates = [count / cost.wall for cost in each]
        spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
        wall, rate = f"{median.wall:.2f}", f"{count / median.wall:,.0f}"
        table.add_row(scheme, name, wall, rate, spread, *per_image(median, count))
    console.print(table)
    ratios = Table("", "", "images/s", "CPU", "peak memory", title="hannun over its peer")
    for (scheme, name), peer in medians.items():
        own = medians.get((scheme, "hannun"))
        if own and name != "hannun":
            figures = (peer.wall / own.wall, own.cpu / peer.cpu, own.memory / peer.memory)
            ratios.add_row(scheme, name, *(f"{ratio:.2f}" for ratio in figures))
    if ratios.row_count:
        console.print(ratios)


def per_image(cost: Cost, count: int) -> tuple[str, str]:
    return f"{cost.cpu / count * 1000:.2f}", f"{cost.memory / 2**20:,.0f}"


def scale(work: Path, console: Console) -> None:
    """Memory by number of images, and what a run over a complete store costs."""
    from rich.table import Table

    table = Table(
        "images", "run", "images/s", "CPU ms/image", "peak MiB", "requests", title="images of about 1 KB, http"
    )
    for count in SCALES:
        root = work / f"small-{count}"
        images = images_of(root, count, SMALL)
        with serving(work, root, logged=True) as server:
            task = empty_task(work, images, server, "http")
            for name, options in {"first": (), "again": (), "again, --fast": ("--fast",)}.items():
                before = server.requests()
                cost = contest(CONTESTANTS["hannun"], task, *options)
                requests = server.requests() - before
                rate = count / cost.wall
                table.add_row(f"{count:,}", name, f"{rate:,.0f}", *per_image(cost, count), f"{requests:,}")
    console.print(table)


def versions() -> str:
    """What it was measured on, in one line."""
    served = subprocess.run([nginx(), "-v"], capture_output=True, text=True, check=True).stderr.split("/")[-1].strip()
    return ", ".join(
        [
            f"{platform.system()} {platform.machine()}",
            f"{os.cpu_count()} cores",
            f"load {os.getloadavg()[0]:.1f} before",
            f"Python {platform.python_version()}",
            f"nginx {served}",
            IMG2DATASET.replace("==", " "),
            *(f"{name} {importlib.metadata.version(name)}" for name in ("requests", "hannun")),
        ]
    )


def main() -> None:
    from rich.console import Console

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--images", type=int, default=2_000, help="files of about 100 KB, ten or more (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), help="contestants")
    parser.add_argument("--scale", action="store_true", help="instead: memory and second runs at 2,000 and 50,000")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir(), "hannun-fetch"),
        help="folder for everything that is made; kept (%(default)s)",
    )
    arguments = parser.parse_args()
    if arguments.images < 10 or arguments.rounds < 1:
        parser.error("ten images and one round are the least")
    console = Console()
    console.print(versions(), soft_wrap=True)
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        if arguments.scale:
            scale(work, console)
        else:
            compare(work, arguments.images, arguments.rounds, arguments.only, console)
    except Uncounted as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
