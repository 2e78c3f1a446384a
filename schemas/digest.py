"""Digests: `algorithm:hex` of the bytes as served.

sha256 is an image's identity; xxh3_128 stands beside it for fast re-checks; sha1, md5 and xxh64
are understood where an upstream publishes only those.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import xxhash
from hannun.schemas.errors import InputError

IDENTITY = "sha256"
FAST = "xxh3_128"
HEX_LENGTH = {"sha256": 64, "xxh3_128": 32, "sha1": 40, "md5": 32, "xxh64": 16}
# The digests that can vouch for bytes, strongest first: one that agrees settles the comparison.
STRENGTH = ("sha256", "sha1", "md5", "xxh3_128", "xxh64")

_HEX = re.compile(r"[0-9a-f]+")
_CHUNK = 1 << 20


def parse(text: str) -> tuple[str, str]:
    """Split `algorithm:hex` into its two parts.

    Raises
    ------
    InputError
        Unknown algorithm, or hex digits of the wrong number or case.

    Examples
    --------
    >>> parse("md5:0a379cfc70b0e71301e0f377548639bd")
    ('md5', '0a379cfc70b0e71301e0f377548639bd')
    """
    algorithm, _, value = text.partition(":")
    length = HEX_LENGTH.get(algorithm)
    if length is None:
        raise InputError(
            f"unknown digest algorithm in {text!r}",
            expected="one of " + ", ".join(HEX_LENGTH),
            got=algorithm or "nothing before ':'",
        )
    if len(value) != length or not _HEX.fullmatch(value):
        raise InputError(
            f"malformed {algorithm} digest",
            expected=f"{length} lower-case hex digits",
            got=repr(value),
        )
    return algorithm, value


class Digester:
    """Digests of one stream of bytes, several algorithms in one pass."""

    def __init__(self, algorithms: Iterable[str] = (IDENTITY, FAST)) -> None:
        self._hashes: dict[str, Any] = {name: _new(name) for name in algorithms}
        self.size = 0

    def update(self, data: bytes) -> None:
        self.size += len(data)
        for state in self._hashes.values():
            state.update(data)

    def digests(self) -> dict[str, str]:
        """Algorithm -> hex digits of everything seen so far."""
        return {name: state.hexdigest() for name, state in self._hashes.items()}


def digests_of(data: bytes, algorithms: Iterable[str] = (IDENTITY, FAST)) -> dict[str, str]:
    """Digests of bytes that are already in memory, algorithm -> hex."""
    digester = Digester(algorithms)
    digester.update(data)
    return digester.digests()


def digests_of_file(path: Path, algorithms: Iterable[str] = (IDENTITY, FAST)) -> dict[str, str]:
    """Digests of a file, read in pieces; memory does not grow with its size."""
    digester = Digester(algorithms)
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            digester.update(piece)
    return digester.digests()


def agree(expected: Mapping[str, str], got: Mapping[str, str]) -> bool | None:
    """Whether two sets of digests describe the same bytes; None when they share no algorithm.

    The strongest shared algorithm decides.
    """
    for algorithm in STRENGTH:
        if algorithm in expected and algorithm in got:
            return expected[algorithm] == got[algorithm]
    return None


def _new(algorithm: str) -> Any:
    if algorithm == "xxh3_128":
        return xxhash.xxh3_128()
    if algorithm == "xxh64":
        return xxhash.xxh64()
    # Not used against an adversary where weak: md5 and sha1 only repeat what an upstream published.
    return hashlib.new(algorithm, usedforsecurity=algorithm == IDENTITY)
