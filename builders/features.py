"""`datasets.Features` from a record's JSON Schema, by a closed mapping.

string, integer (int64), number (float64), boolean, array (list), object (struct) and `format: image`;
anything else is an error. Lists are written as Python lists, the one form that every `datasets` since
2.21 reads: 4.x writes `List`, which 3.x cannot read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hannun.schemas.json_schema import merged_properties

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

_SCALARS = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


def feature_dict(record: str) -> dict[str, Any]:
    """Features of a record schema in the form that every `datasets` since 2.21 reads.

    Raises
    ------
    ValueError
        The schema holds something outside the closed mapping.
    """
    return {name: _feature(schema, f"{record}.{name}") for name, schema in merged_properties(record).items()}


def features(record: str) -> datasets.Features:
    """`datasets.Features` of a record schema."""
    import datasets

    return datasets.Features.from_dict(feature_dict(record))


def arrow_schema(described: Mapping[str, Any]) -> pa.Schema:
    """Arrow schema of features, with these in its metadata as `datasets` looks for them."""
    import pyarrow as pa

    metadata = json.dumps({"info": {"features": described}}, ensure_ascii=False, sort_keys=True)
    fields = [(name, _arrow_type(feature)) for name, feature in described.items()]
    return pa.schema(fields, metadata={"huggingface": metadata})


def readme_features(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Features as the `dataset_info` of a README.md lists them."""
    return [{"name": name, **_readme_form(feature)} for name, feature in described.items()]


def _feature(schema: Mapping[str, Any], where: str) -> Any:
    if schema.get("format") == "image":
        return {"_type": "Image"}
    kinds = schema.get("type")
    named = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds or []) if kind != "null"]
    if len(named) == 1:
        kind = named[0]
        if kind in _SCALARS:
            return {"dtype": _SCALARS[kind], "_type": "Value"}
        if kind == "array" and "items" in schema:
            return [_feature(schema["items"], f"{where}[]")]
        if kind == "object" and schema.get("properties"):
            return {name: _feature(inner, f"{where}.{name}") for name, inner in schema["properties"].items()}
    raise ValueError(f"{where}: no feature for {dict(schema)}; allowed: {', '.join(_SCALARS)}, array, object, image")


def _arrow_type(feature: Any) -> pa.DataType:
    import pyarrow as pa

    if isinstance(feature, list):
        return pa.list_(_arrow_type(feature[0]))
    if feature.get("_type") == "Image":
        return pa.struct({"bytes": pa.binary(), "path": pa.string()})
    if feature.get("_type") == "Value":
        return {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}[
            feature["dtype"]
        ]
    return pa.struct([(name, _arrow_type(inner)) for name, inner in feature.items()])


def _readme_form(feature: Any) -> dict[str, Any]:
    if isinstance(feature, list):
        inner = _readme_form(feature[0])
        # A list of a scalar is written short, a list of a struct as its fields.
        return {"list": inner["dtype"] if set(inner) == {"dtype"} else inner.get("struct", inner)}
    if feature.get("_type") == "Image":
        return {"dtype": "image"}
    if feature.get("_type") == "Value":
        return {"dtype": feature["dtype"]}
    return {"struct": [{"name": name, **_readme_form(inner)} for name, inner in feature.items()]}
