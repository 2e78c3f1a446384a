"""What the builders of all benchmarks share: configs from the catalogue, tables from a built folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from hannun.builders.features import features
from hannun.reconstruct.home import built_folder
from hannun.reconstruct.recipes import recipe_module, variant
from hannun.schemas import catalogue


def configs(name: str) -> list[datasets.BuilderConfig]:
    """A `datasets` config for each of the catalogue's."""
    return [
        datasets.BuilderConfig(name=config.name, version=datasets.Version("1.0.0"), description=config.description)
        for config in catalogue.benchmark(name).configs
    ]


class BenchmarkBuilder(datasets.ArrowBasedBuilder):
    """Reads the parquet files of a built folder, table by table.

    Tables pass through as they are: `datasets`' own encoding of examples would drop an image's bytes
    where a file of the same name happens to exist. `folder` is the built folder; by default that of
    `data_dir`, else the one that hannun keeps for the benchmark.
    """

    NAME: ClassVar[str]
    folder: Path | None = None

    def _info(self) -> datasets.DatasetInfo:
        entry = catalogue.benchmark(self.NAME)
        return datasets.DatasetInfo(
            description=entry.summary,
            features=features(entry.config(self.config.name).record or entry.record),
            citation=entry.citation,
            license=entry.text_licence.name,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:  # noqa: ARG002
        benchmark = catalogue.benchmark(self.NAME)
        config = benchmark.config(self.config.name)
        kept = built_folder(self.NAME, variant(recipe_module(benchmark.recipe), config.options))
        folder = self.folder or Path(self.config.data_dir or kept)
        found = {split: sorted(folder.glob(f"{config.name}/{split}-*.parquet")) for split in config.splits}
        if not any(found.values()):
            options = "".join(f" --set {key}={value}" for key, value in config.options.items())
            raise FileNotFoundError(f"no {config.name} at {folder}: make it with `hannun build {self.NAME}{options}`")
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"files": [str(path) for path in paths]})
            for split, paths in found.items()
            if paths
        ]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[str, pa.Table]]:
        schema = self.info.features.arrow_schema
        for file in files:
            with pq.ParquetFile(file) as parquet:
                for group in range(parquet.num_row_groups):
                    yield f"{file}/{group}", parquet.read_row_group(group).cast(schema)
