"""`list`: what can be built here, and what is missing."""

from __future__ import annotations

import click

from hannun.commands import options
from hannun.schemas.errors import ExitCode


@click.command(name="list")
@options.as_json
def command(*, as_json: bool) -> ExitCode:
    """What there is: configs, size, licences, and what is missing on this machine."""
    from hannun.builders.folder import README
    from hannun.commands import screen
    from hannun.reconstruct.home import built_folder
    from hannun.reconstruct.source import missing_sources
    from hannun.schemas import catalogue
    from hannun.schemas.strict_json import dumps

    entries = []
    for name in catalogue.names():
        benchmark = catalogue.benchmark(name)
        built = built_folder(name)
        entries.append(
            {
                "name": name,
                "title": benchmark.title,
                "configs": [config.name for config in benchmark.configs],
                "size": benchmark.size,
                "licences": {"text": benchmark.text_licence.name, "images": benchmark.image_licence.name},
                "sources": [{"name": s.name, "description": s.description} for s in benchmark.sources.values()],
                "missing": [{"name": s.name, "to_do": s.by_hand} for s in missing_sources(benchmark.sources.values())],
                "built": str(built) if (built / README).is_file() else None,
            }
        )
    if as_json:
        click.echo(dumps(entries))
        return ExitCode.COMPLETE
    out = screen.console()
    for entry in entries:
        made = screen.table(f"[bold]{entry['name']}[/]  {entry['title']}", "", "")
        made.show_header = False
        made.add_row("configs", ", ".join(entry["configs"]))
        made.add_row("size", entry["size"] or "not known")
        made.add_row("text", entry["licences"]["text"])
        made.add_row("images", entry["licences"]["images"])
        made.add_row("from", ", ".join(source["name"] for source in entry["sources"]))
        missing = [f"{each['name']}: {each['to_do']}" for each in entry["missing"]]
        made.add_row("missing", "; ".join(missing) or "nothing")
        made.add_row("built", entry["built"] or "not yet")
        out.print(made)
    return ExitCode.COMPLETE
