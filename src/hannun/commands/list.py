"""`list`: what can be built here, and what is missing."""

from __future__ import annotations

from typing import Any

import click

from hannun.commands import options
from hannun.schemas.catalogue import Benchmark, SourceEntry
from hannun.schemas.errors import ExitCode
from hannun.schemas.licence import Licence


@click.command(name="list")
@options.as_json
def command(*, as_json: bool) -> ExitCode:
    """What there is: configs, size, licences, and what is missing on this machine."""
    from hannun.builders.folder import README
    from hannun.commands import screen
    from hannun.reconstruct.home import built_folder
    from hannun.reconstruct.recipes import completed_options, recipe_module
    from hannun.reconstruct.source import missing_sources
    from hannun.schemas import catalogue
    from hannun.schemas.strict_json import dumps

    entries = []
    for name in catalogue.names():
        benchmark = catalogue.benchmark(name)
        built = built_folder(name)
        is_built = (built / README).is_file()
        rows = benchmark.sources_with(completed_options(recipe_module(benchmark.recipe), {})).values()
        images = [entry for entry in benchmark.sources.values() if entry.holds == "images"]
        entries.append((benchmark, missing_sources([*rows, *images]), str(built) if is_built else None))
    if as_json:
        screen.say(dumps([_as_json(*entry) for entry in entries]))
        return ExitCode.COMPLETE
    console = screen.console()
    for benchmark, missing, folder in entries:
        if benchmark.name not in catalogue.entries():
            # A config alone is named below the benchmark that has it.
            continue
        console.print(f"{benchmark.name}  {benchmark.title}", style="bold")
        made = screen.table(None, "", "")
        made.show_header = False
        made.add_row("  configs", ", ".join(config.name for config in benchmark.configs))
        alone = [config.alone for config in benchmark.configs if config.alone and not benchmark.members]
        if alone:
            made.add_row("  alone", ", ".join(alone))
        made.add_row("  size", benchmark.size or "not known")
        made.add_row("  text", benchmark.text_licence.name)
        made.add_row("  images", benchmark.image_licence.name)
        made.add_row("  from", ", ".join(benchmark.sources))
        made.add_row("  missing", "; ".join(f"{each.name}: {each.by_hand}" for each in missing) or "nothing")
        made.add_row("  built", folder or "not yet")
        console.print(made)
    return ExitCode.COMPLETE


def _as_json(benchmark: Benchmark, missing: list[SourceEntry], folder: str | None) -> dict[str, Any]:
    lacking = {entry.name for entry in missing}
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "languages": benchmark.languages,
        "homepage": benchmark.homepage,
        "published": benchmark.published,
        "configs": [config.name for config in benchmark.configs],
        "splits": {config.name: config.splits for config in benchmark.configs},
        "extras": benchmark.needs,
        "size": benchmark.size,
        "licences": {name: _licence(licence) for name, licence in benchmark.licences.items()},
        "sources": [
            {
                "name": entry.name,
                "kind": entry.kind,
                "description": entry.description,
                "licence": entry.licence,
                "address": entry.address or (f"hf://datasets/{entry.repo}" if entry.repo else None),
                "revision": entry.revision or entry.version,
                "digest": entry.digest,
                "bytes": entry.bytes,
                "options": entry.options,
                "missing": entry.name in lacking,
            }
            for entry in benchmark.sources.values()
        ],
        "missing": [{"name": each.name, "to_do": each.by_hand} for each in missing],
        "built": folder,
    }


def _licence(licence: Licence) -> dict[str, Any]:
    return {**licence.for_lock(), "holder": licence.holder, "redistribution": licence.redistribution}
