"""The body of a built folder's README.md: what it is, what is in it, how it was made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannun.builders.folder import SplitSize
from hannun.builders.layout import IMAGES, IMAGES_SPLIT
from hannun.schemas.catalogue import Benchmark
from hannun.schemas.licence import Licence
from hannun.schemas.lock import LockEntry

_NAMED_AUTHORS = 3
"""Attributions under one licence that the card itself writes out."""


_FIRST_ROW = {
    "instances.jsonl": 'first_row = [pictures[place[each["image_id"]]]["image"] for each in rows[0]["candidates"]]',
    "rows.jsonl": 'first_row = [pictures[place[image_id]]["image"] for image_id in rows[0]["image_ids"]]',
}
"""How a row's pictures are found where rows name them by id, by the name of the file of rows."""


def card_body(
    benchmark: Benchmark,
    sizes: Mapping[str, Mapping[str, SplitSize]],
    recipe: Mapping[str, Any],
    lock: Sequence[LockEntry],
) -> str:
    """Markdown below the front matter.

    Parameters
    ----------
    recipe
        The plan's `recipe.json`.
    lock
        The images that the folder holds.
    """
    first = next(iter(sizes))
    split = list(sizes[first])[-1]
    lines = [
        f"# {benchmark.title}",
        "",
        benchmark.summary,
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset("PATH_OF_THIS_FOLDER", "{first}", split="{split}")',
        "```",
        "",
        "| config | split | rows | what it is |",
        "| --- | --- | ---: | --- |",
    ]
    described = {config.name: config.description for config in benchmark.configs}
    described[IMAGES] = "Every picture once; the other configs name them by `image_id`."
    for config, splits in sizes.items():
        lines += [f"| {config} | {name} | {size.rows:,} | {described[config]} |" for name, size in splits.items()]
    if IMAGES in sizes:
        lines += [
            "",
            "```python",
            f'pictures = load_dataset("PATH_OF_THIS_FOLDER", "{IMAGES}", split="{IMAGES_SPLIT}")',
            'place = {image_id: n for n, image_id in enumerate(pictures["image_id"])}',
            _FIRST_ROW[benchmark.rows_file],
            "```",
        ]
    lines += [
        "",
        f"{len(lock):,} different images; `images.lock.jsonl` holds the digests of each,",
        f"`{benchmark.rows_file}` the rows without pictures, `substitutions.jsonl` every difference from the plan.",
        "",
        "## How it was made",
        "",
        f"Recipe `{recipe['recipe']}` version {recipe['version']}, seed {recipe['seed']},",
        f"options `{recipe['options']}`, from:",
        "",
        "| source | digest |",
        "| --- | --- |",
    ]
    lines += [f"| {source['name']} | `{source['digest']}` |" for source in recipe["sources"]]
    lines += [f"\nFound in them: {'; '.join(recipe['notes'])}."] if recipe.get("notes") else []
    if recipe["dropped"]:
        lines += ["", "Dropped while planning:", ""]
        lines += [f"- {each['count']:,}: {each['reason']}" for each in recipe["dropped"]]
    if recipe.get("baselines"):
        lines += ["", "## What it gives away", "", "Hits@1 of answers that need no picture:", ""]
        ordered = sorted(recipe["baselines"].items(), key=lambda each: each[1])
        lines += [f"- {name}: {value:.1%}" for name, value in ordered]
    if benchmark.facts:
        lines += ["", "## What is known of it", "", "| what | value | where it stands |", "| --- | --- | --- |"]
        lines += [f"| {each['what']} | {each['value']} | {each['where']} |" for each in benchmark.facts]
    lines += ["", "## Licences", ""]
    lines += [f"- Text of {name}: {_licence(each)}" for name, each in benchmark.text_licences.items()]
    lines += [f"- Images, {count:,}: {licence}" for licence, count in _image_licences(lock).most_common()]
    if not benchmark.published:
        lines += [
            "",
            "## Where it comes from",
            "",
            "Defined and written by the hannun project, not by an earlier paper. Written with a language model's help,",
            "and not yet validated by annotators. Report a bad item by its `id` in the project's issue tracker.",
            f"Annotators are welcome: `hannun export {benchmark.name} --for annotators --out FORMS` makes their forms,",
            "`hannun agreement DIR FORM.csv ...` reads them back.",
        ]
    lines += ["", "## How to cite", "", "```bibtex", benchmark.citation.strip(), "```"]
    return "\n".join(lines) + "\n"


def _licence(licence: Licence) -> str:
    name = f"[{licence.name}]({licence.url})" if licence.url else licence.name
    return f"{name}, {licence.holder}." + (f" {licence.attribution}." if licence.attribution else "")


def _image_licences(lock: Iterable[LockEntry]) -> Counter[str]:
    """Licences of the images, written out with whom to name, and how many are under each.

    Where a licence has many authors, images.lock.jsonl names them.
    """
    authors: dict[str, Counter[str | None]] = defaultdict(Counter)
    for entry in lock:
        licence = entry.licence or {}
        name = licence.get("name") or "not known"
        authors[f"[{name}]({licence['url']})" if licence.get("url") else name][entry.attribution] += 1
    counts: Counter[str] = Counter()
    for name, named in authors.items():
        if len(named) > _NAMED_AUTHORS:
            counts[f"{name}. Whom to name stands in images.lock.jsonl."] = named.total()
        else:
            for attribution, count in named.items():
                counts[f"{name}. {attribution}." if attribution else f"{name}."] = count
    return counts
