"""Taxonomies of errors: the words by which people annotate what went wrong in models' answers.

HAERAE-Vision's is that of its paper (arXiv 2601.06165, Table 17). Those of KOFFVQA (arXiv 2503.23730, section
4.4) and SAGE (arXiv 2610.31838, appendix M) are not known to this project: whoever has them gives them as a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hannun.schemas.toml_file import read_toml

_FOLDER = Path(__file__).parent / "taxonomies"


@dataclass(frozen=True)
class Taxonomy:
    """The vocabulary of one benchmark's error annotations; no root causes, or no severities, where it has none.

    `source` says where it is published.
    """

    benchmark: str
    source: str
    errors: tuple[str, ...]
    root_causes: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()

    def vocabulary(self) -> dict[str, tuple[str, ...]]:
        """Field of an annotation -> the words that it may hold."""
        return {"root_cause": self.root_causes, "errors": self.errors, "severity": self.severities}


@cache
def taxonomy(benchmark: str) -> Taxonomy | None:
    """The published taxonomy of a benchmark, None where it is not known here (KOFFVQA's and SAGE's are not)."""
    path = _FOLDER / f"{benchmark}.toml"
    return read_taxonomy(path) if path in _FOLDER.glob("*.toml") else None


def read_taxonomy(path: Path) -> Taxonomy:
    """A taxonomy from a TOML file, as `error_taxonomy.schema.json` describes it.

    Raises
    ------
    InputError
        It cannot be read, is no TOML, or is no taxonomy.
    """
    value = read_toml(
        path,
        "error_taxonomy",
        what="a taxonomy of errors",
        expected="benchmark, source, errors, and root_causes and severities where it has them",
    )
    words = {name: tuple(value.get(name, ())) for name in ("errors", "root_causes", "severities")}
    return Taxonomy(value["benchmark"], value["source"], **words)
