"""The user's own folders: the usual layouts of COCO, other normal forms, and no directory read twice."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.local import LocalImages, local_names
from hannun.schemas.errors import InputError
from hannun.schemas.lock import LockEntry

VAL = LockEntry(
    "coco:val2014/000000000042",
    ("https://h/val2014/COCO_val2014_000000000042.jpg", "http://g/val2014/COCO_val2014_000000000042.jpg"),
)
TRAIN_2017 = LockEntry("coco:train2017/000000000042", ("https://h/train2017/000000000042.jpg",))


def put(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


@pytest.mark.parametrize("entry", [VAL, TRAIN_2017])
@pytest.mark.parametrize(
    "name",
    [
        "val2014/COCO_val2014_000000000042.jpg", "train2014/COCO_train2014_000000000042.jpg",
        "COCO_val2014_000000000042.jpg", "COCO_train2014_000000000042.jpg", "train2017/000000000042.jpg",
        "val2017/000000000042.jpg", "000000000042.jpg", "images/val2014/COCO_val2014_000000000042.jpg",
        "images/train2017/000000000042.jpg",
    ],
)  # fmt: skip
def test_coco_is_found_in_every_usual_layout(entry: LockEntry, name: str, tmp_path: Path) -> None:
    put(tmp_path, "val2014/COCO_val2014_000000000043.jpg")
    assert LocalImages({"coco": tmp_path}).find(entry) is None
    path = put(tmp_path, name)
    found = LocalImages({"coco": tmp_path}).find(entry)
    assert found is not None
    assert found.path == path
    assert LocalImages({"vwsd": tmp_path}).find(entry) is None


def test_the_name_of_the_locations_comes_first(tmp_path: Path) -> None:
    expected = put(tmp_path, "val2014/COCO_val2014_000000000042.jpg")
    put(tmp_path, "000000000042.jpg")
    found = LocalImages({"coco": tmp_path}).find(VAL)
    assert found is not None
    assert found.path == expected


def test_names_stay_below_the_folder() -> None:
    assert local_names("x:../../etc/passwd", ("https://h/passwd",)) == ["passwd"]
    assert local_names("vwsd:image.1.jpg", ("archive:vwsd-images!image.1.jpg",)) == ["image.1.jpg"]


def test_another_normal_form_is_found_and_two_of_them_are_refused(tmp_path: Path) -> None:
    entry = LockEntry("web:한눈.jpg", ("https://h/%ED%95%9C%EB%88%88.jpg",))
    path = put(tmp_path, unicodedata.normalize("NFD", "한눈.jpg"))
    found = LocalImages({"web": tmp_path}).find(entry)
    assert found is not None
    assert found.path == path
    put(tmp_path, "한\u200b눈.jpg")
    with pytest.raises(InputError, match="several files"):
        LocalImages({"web": tmp_path}).find(entry)


def test_a_directory_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "val2014/COCO_val2014_000000000001.jpg")
    read = []
    listed = os.listdir

    def counted(path: Any = ".") -> list[str]:
        read.append(path)
        return listed(path)

    scanned = os.scandir

    def also_counted(path: Any = ".") -> Any:
        read.append(path)
        return scanned(path)

    # Path.iterdir asks one or the other, by version of Python.
    monkeypatch.setattr(os, "listdir", counted)
    monkeypatch.setattr(os, "scandir", also_counted)
    local = LocalImages({"coco": tmp_path})
    for number in range(100, 200):
        name = f"COCO_val2014_{number:012d}.jpg"
        assert local.find(LockEntry(f"coco:val2014/{number:012d}", (f"http://h/val2014/{name}",))) is None
    folders = [str(path) for path in read]
    assert set(folders) == {str(tmp_path), str(tmp_path / "val2014")}
    assert len(folders) == 2
