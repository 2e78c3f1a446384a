"""The body of a built folder's README.md: what it is, what is in it, how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannun.builders.folder import SplitSize
from hannun.schemas.catalogue import Benchmark


def card_body(
    benchmark: Benchmark, sizes: Mapping[str, Mapping[str, SplitSize]], recipe: Mapping[str, Any], images: int
) -> str:
    """Markdown below the front matter.

    Parameters
    ----------
    recipe
        The plan's `recipe.json`.
    images
        Number of different images in the lock.
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
    for config in benchmark.configs:
        for name, size in sizes.get(config.name, {}).items():
            lines.append(f"| {config.name} | {name} | {size.rows:,} | {config.description} |")
    lines += [
        "",
        f"{images:,} different images; `images.lock.jsonl` holds the digests of each,",
        "`instances.jsonl` the rows without pictures, `substitutions.jsonl` every difference from the plan.",
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
    if recipe["dropped"]:
        lines += ["", "Dropped while planning:", ""]
        lines += [f"- {each['count']:,}: {each['reason']}" for each in recipe["dropped"]]
    lines += ["", "## Licences", ""]
    for what, licence in (("Text", benchmark.text_licence), ("Images", benchmark.image_licence)):
        name = f"[{licence.name}]({licence.url})" if licence.url else licence.name
        lines.append(
            f"- {what}: {name}, {licence.holder}." + (f" {licence.attribution}." if licence.attribution else "")
        )
    if not benchmark.published:
        lines += [
            "",
            "## Where it comes from",
            "",
            "Defined and written by the hannun project, not by an earlier paper. Written with a language model's help,",
            "and not yet validated by annotators. Report a bad item by its `id` in the project's issue tracker.",
        ]
    lines += ["", "## How to cite", "", "```bibtex", benchmark.citation.strip(), "```"]
    return "\n".join(lines) + "\n"
