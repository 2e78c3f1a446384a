"""A baseline: findings of an earlier run, which stay quiet in later ones."""

from __future__ import annotations

from pathlib import Path

from hannun.schemas.errors import InputError
from hannun.schemas.json_schema import problems
from hannun.schemas.strict_json import load


def known_findings(path: Path) -> frozenset[str]:
    """Fingerprints of the findings in what `hannun validate --format json` printed.

    Raises
    ------
    InputError
        The file is no such document.
    """
    document = load(path)
    wrong = problems("findings", document)
    if wrong:
        at, message = wrong[0]
        raise InputError(
            "not a baseline",
            where=f"{path}, {at}",
            got=message,
            todo="make one with: hannun validate TARGET --format json > FILE",
        )
    return frozenset(each["fingerprint"] for each in document["findings"])
