#!/bin/sh
# The demo of the README: build KoNA, check it, load it, print one row.
set -eu
out=$1
hannun build kona --out "$out"
hannun validate "$out"
python - "$out" <<'PYTHON'
import sys

from datasets import load_dataset

row = load_dataset(sys.argv[1], "original", split="test")[0]
gold = row["images"][row["label"]]
print()
for name in ("id", "context", "target", "label"):
    print(f"{name:>8}  {row[name]}")
print(f"{'images':>8}  {len(row['images'])} pictures; the right one is {row['candidates'][row['label']]['image_id']}, "
      f"{gold.width} x {gold.height} {gold.format}")
PYTHON
echo
hannun gallery "$out" --quiet
echo "The folder: $(cd "$out" && pwd)"
echo "Every instance and its pictures: $(cd "$out" && pwd)/gallery.html"
