"""Scoring 100,000 judged answers beside what it cannot do without: reading their JSON, and asking py3langid.

Alternating runs in processes of their own; CPU seconds and ratios, medians of three.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 100_000
ROUNDS = 3
SCORE = "from pathlib import Path; from hannun.scoring import score; score('koffvqa', [Path({path!r})]).document"
READ = "import json; [json.loads(line) for line in open({path!r}, encoding='utf-8')]"
ASK = (
    "import json, py3langid; from itertools import islice;"
    " [py3langid.classify(json.loads(line)['answer']) for line in islice(open({path!r}, encoding='utf-8'), {rows})]"
)
ASKED = ROWS // 20
"""py3langid by itself is asked of a part only; its figure is for all."""


def write(path: Path) -> None:
    some = random.Random(1)
    others = ("최종 점수: {}/10", "채점할 수 없습니다.", "<think>음…</think>최종 점수: 10점 만점에 {}점")
    with path.open("w", encoding="utf-8") as file:
        for number in range(ROWS):
            asked = "기준 1: 만족\n기준 2: 불만족\n최종 점수: 10점 만점에 {}점"
            judge = (asked if some.random() < 0.9 else some.choice(others)).format(some.randint(0, 10))
            answer = f"사진 속 간판에는 '{number}번 출구'라고 적혀 있고, 그 아래에 작은 글씨로 시간이 적혀 있습니다."
            row = {"id": f"koffvqa/default/{number}", "answer": answer, "judge": judge}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def cpu_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judged.jsonl"
        write(path)
        codes = {
            "score": (SCORE.format(path=str(path)), 1),
            "json.loads": (READ.format(path=str(path)), 1),
            "py3langid alone": (ASK.format(path=str(path), rows=ASKED), ROWS // ASKED),
        }
        seconds: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(ROUNDS):
            for name, (code, times) in codes.items():
                seconds[name].append(times * cpu_seconds(code))
    middle = {name: statistics.median(each) for name, each in seconds.items()}
    print(f"{'':18}{'CPU s':>8}{'rows/s':>10}{'ratio':>8}   for {ROWS:,} rows")
    for name, value in middle.items():
        print(f"{name:18}{value:8.2f}{ROWS / value:10,.0f}{value / middle['score']:8.2f}")


if __name__ == "__main__":
    main()
