"""KoNA for `datasets`: ten pictures, one right, in three wordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannun.builders.benchmark import BenchmarkBuilder, configs
from hannun.builders.pictures import Pictures
from hannun.schemas.instance import Instance


class Kona(BenchmarkBuilder):
    """Builder of KoNA (Korean Noun Ambiguity), which this project defines."""

    NAME = "kona"
    BUILDER_CONFIGS = configs(NAME)
    DEFAULT_CONFIG_NAME = "original"


def project(row: Instance, pictures: Pictures) -> Mapping[str, Any]:
    """A resolved row as the record of the data set: the instance, and its candidates' pictures."""
    return {**row.to_json(), "images": [pictures.cell(each.image_id) for each in row.candidates]}
