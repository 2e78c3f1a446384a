"""What the columns of somebody's tables mean, as `hannun.toml` beside them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hannun.schemas.toml_file import read_toml

NAME = "hannun.toml"


@dataclass(frozen=True)
class TableConfig:
    """Columns by meaning; `classes` maps a column to the names of its classes."""

    id: str | None = None
    text: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    candidates: str | None = None
    label: str | None = None
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, once."""
        named = (self.id, *self.text, *self.images, self.candidates, self.label, *self.classes)
        return tuple(dict.fromkeys(each for each in named if each is not None))

    def without_images(self) -> TableConfig:
        """The configuration of tables whose pictures are not read."""
        return replace(self, images=())


def read_table_config(path: Path) -> TableConfig:
    """From a TOML file as `table_config.schema.json` describes it.

    Raises
    ------
    InputError
        It cannot be read, is no TOML, or says something else.
    """
    value = read_toml(
        path,
        "table_config",
        what="a configuration of tables",
        expected="[columns] with id, text, images, candidates and label, and [classes]",
    )
    columns = value.get("columns", {})
    return TableConfig(
        id=columns.get("id"),
        text=tuple(columns.get("text", ())),
        images=tuple(columns.get("images", ())),
        candidates=columns.get("candidates"),
        label=columns.get("label"),
        classes={name: tuple(names) for name, names in value.get("classes", {}).items()},
    )
