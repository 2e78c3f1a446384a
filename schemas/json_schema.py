"""The JSON Schemas (2020-12) of every record and file, and validation against them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import Draft202012Validator

_FOLDER = Path(__file__).parent / "records"


def names() -> list[str]:
    """Names of all schemas, such as `lock`."""
    return sorted(path.name.removesuffix(".schema.json") for path in _FOLDER.glob("*.schema.json"))


@cache
def document(name: str) -> dict[str, Any]:
    """The schema itself, as JSON."""
    loaded: dict[str, Any] = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


def merged_properties(name: str) -> dict[str, Any]:
    """Properties of a record schema with those of the schema it refers to; its own win."""
    schema = document(name)
    base: dict[str, Any] = {}
    if "$ref" in schema:
        base = merged_properties(schema["$ref"].removesuffix(".schema.json"))
    return {**base, **schema.get("properties", {})}


@cache
def validator(name: str) -> Draft202012Validator:
    """A validator for the schema of that name; references among the schemas resolve offline."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    registry = Registry().with_resources(
        (f"{each}.schema.json", Resource.from_contents(document(each))) for each in names()
    )
    return Draft202012Validator(document(name), registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


@cache
def _quick(name: str) -> jsonschema_rs.Validator:
    """The same schema compiled: some hundred times faster, and asked first; jsonschema then words what is wrong."""
    import jsonschema_rs

    registry = jsonschema_rs.Registry([(f"{each}.schema.json", document(each)) for each in names()])
    return jsonschema_rs.validator_for(document(name), registry=registry)


def problems(name: str, value: Any) -> list[tuple[str, str]]:
    """Where and how a value breaks the schema: (JSON path such as `$.label`, message), in path order."""
    if _quick(name).is_valid(value):
        return []
    errors = sorted(validator(name).iter_errors(value), key=lambda error: (error.json_path, error.message))
    return [(error.json_path, _short(error.message)) for error in errors]


def _short(message: str, limit: int = 300) -> str:
    return message if len(message) <= limit else message[: limit - 1] + "…"
