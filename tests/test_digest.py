from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hannun.schemas.digest import Digester, agree, digests_of, digests_of_file, parse
from hannun.schemas.errors import InputError
from hypothesis import given
from hypothesis import strategies as st


def test_known_values() -> None:
    assert digests_of(b"hannun", ["sha256", "sha1", "md5"]) == {
        "sha256": hashlib.sha256(b"hannun").hexdigest(),
        "sha1": hashlib.sha1(b"hannun").hexdigest(),
        "md5": hashlib.md5(b"hannun").hexdigest(),
    }
    # The empty input's values are published with the algorithm.
    assert digests_of(b"", ["xxh64", "xxh3_128"]) == {
        "xxh64": "ef46db3751d8e999",
        "xxh3_128": "99aa06d3014798d86001c324468d497f",
    }


@given(st.lists(st.binary()))
def test_pieces_give_the_digests_of_the_whole(pieces: list[bytes]) -> None:
    digester = Digester()
    for piece in pieces:
        digester.update(piece)
    whole = b"".join(pieces)
    assert digester.digests() == digests_of(whole)
    assert digester.size == len(whole)


def test_a_file_is_digested_as_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 3_000_001)
    assert digests_of_file(path) == digests_of(path.read_bytes())


@pytest.mark.parametrize("text", ["sha256:abc", "sha512:" + "a" * 128, "md5:" + "A" * 32, "", "md5", ":aa"])
def test_malformed_digests_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse(text)


@pytest.mark.parametrize(
    ("expected", "got", "answer"),
    [
        ({"sha256": "a"}, {"sha256": "a", "md5": "x"}, True),
        ({"sha256": "a", "md5": "m"}, {"sha256": "b", "md5": "m"}, False),
        ({"md5": "m"}, {"sha256": "a", "md5": "m"}, True),
        ({"sha1": "s"}, {"sha256": "a"}, None),
        ({}, {"sha256": "a"}, None),
    ],
)
def test_the_strongest_shared_algorithm_decides(
    expected: dict[str, str], got: dict[str, str], answer: bool | None
) -> None:
    assert agree(expected, got) is answer
