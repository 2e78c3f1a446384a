"""Validation beside what it cannot do without: Pillow's bare load() in two processes, each reading its own row groups.

Rows with one picture of about 100 KB each are made on the fly. Alternating runs; medians of rates, and peak memory.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUP = 400
PICTURES = 16


def write(path: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    pictures = []
    for number in range(PICTURES):
        stream = io.BytesIO()
        Image.effect_noise((420, 420), 40 + number).convert("RGB").save(stream, "JPEG", quality=88)
        pictures.append(stream.getvalue())
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("id", pa.string()), ("question", pa.string()), ("answer", pa.string()), ("image", image)])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for start in range(0, rows, GROUP):
            made = [
                {
                    "id": f"r{number}",
                    "question": f"{number}번 사진에서 우산은 무슨 색인가요?",
                    "answer": "빨간색입니다.",
                    # No two pictures have the same bytes.
                    "image": {
                        "bytes": pictures[number % PICTURES] + number.to_bytes(4, "big"),
                        "path": f"{number}.jpg",
                    },
                }
                for number in range(start, min(rows, start + GROUP))
            ]
            writer.write_table(pa.Table.from_pylist(made, schema=schema))


def load_part(path: Path, part: int) -> None:
    import pyarrow.parquet as pq
    from PIL import Image

    with pq.ParquetFile(path) as parquet:
        for group in range(part, parquet.num_row_groups, 2):
            for cell in parquet.read_row_group(group, columns=["image"]).column(0).to_pylist():
                with Image.open(io.BytesIO(cell["bytes"])) as image:
                    image.load()


def bare(path: Path) -> float:
    """Seconds of two processes that load every picture."""
    begun = time.perf_counter()
    workers = [multiprocessing.get_context("fork").Process(target=load_part, args=(path, part)) for part in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begun


def ours(path: Path, level: str) -> float:
    """Seconds of `hannun validate`, its start included."""
    begun = time.perf_counter()
    program = Path(sys.executable).with_name("hannun")
    subprocess.run([program, "validate", path, "--level", level, "--quiet"], check=True)
    return time.perf_counter() - begun


def without_pictures(path: Path, rows: int) -> Path:
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["id", "question", "answer"]).slice(0, rows)
    text = path.with_name("text.parquet")
    pq.write_table(table, text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, given.rows)
        text = without_pictures(path, given.rows)
        rates: dict[str, list[float]] = {"pictures": [], "bare load()": [], "schema and rows, no pictures": []}
        for number in range(given.rounds):
            turns = [("pictures", lambda: ours(path, "images")), ("bare load()", lambda: bare(path))]
            for name, run in turns if number % 2 == 0 else reversed(turns):
                rates[name].append(given.rows / run())
            rates["schema and rows, no pictures"].append(given.rows / ours(text, "rows"))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{given.rows:,} rows, {path.stat().st_size / 1e9:.2f} GB, peak memory of any process {peak:,.0f} MiB")
        for name, each in rates.items():
            print(f"{name:30}{statistics.median(each):10,.0f} rows/s   ({min(each):,.0f} to {max(each):,.0f})")
        ratio = statistics.median(a / b for a, b in zip(rates["pictures"], rates["bare load()"], strict=True))
        print(f"pictures / bare load(), of each round: {ratio:.2f}")


if __name__ == "__main__":
    main()
