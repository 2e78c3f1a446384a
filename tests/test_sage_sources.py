"""SAGE's sources as users have them: packed, piped, or not the file at all; each is read, or refused with what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.recipes.verse_tables import read_annotations, read_glosses
from hannun.reconstruct.recipes.wikidiverse_mentions import read_mentions
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from test_sage_verse import HEADER, annotations, captions, coco_name, senses, verse_rows, zipped
from test_sage_vwsd import files as vwsd_files
from test_sage_wikidiverse import listing, town_images, town_rows

from hannun.pipeline import PlanRequest, make_plan

DATA, GOLD = (text.encode() for text in vwsd_files())
GOOD = {
    "sage-vwsd": {"vwsd-data": DATA, "vwsd-gold": GOLD},
    "sage-verse": {
        "verse-annotations": annotations(verse_rows()),
        "verse-senses": senses(),
        "coco-captions": json.dumps(captions(verse_rows())).encode(),
    },
    "sage-wikidiverse": {
        "wikidiverse-candidates": json.dumps(town_rows()).encode(),
        "wikidiverse-entity-images": listing(town_images()).encode(),
    },
}
SOURCES = [(benchmark, name) for benchmark, files in GOOD.items() for name in files]
PACKED = [
    ("coco-captions", "captions_val2014.json"),
    ("wikidiverse-candidates", "test_w_10cands.json"),
    ("wikidiverse-entity-images", "entity2imgs.tsv"),
    ("vwsd-data", "en.test.data.v1.1.txt"),
    ("vwsd-gold", "en.test.gold.v1.1.txt"),
]
OF = {name: benchmark for benchmark, name in SOURCES}


def tarred(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def marked(packed: bytes, *, flag: int = 0, method: int | None = None) -> bytes:
    """A zip whose one member claims a flag or a method, in both of its headers."""
    data = bytearray(packed)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature) + at
        data[place] |= flag
        if method is not None:
            data[place + 2] = method
    return bytes(data)


class Files:
    """A benchmark's good files, one of them replaced, and the plan that comes of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self, name: str, given: bytes | Path) -> dict[str, Path]:
        paths = {}
        for source, data in GOOD[OF[name]].items():
            paths[source] = given if source == name and isinstance(given, Path) else self.folder / f"내 {source} é"
            if paths[source] is not given:
                paths[source].write_bytes(given if source == name and isinstance(given, bytes) else data)
        return paths

    def plan(self, name: str, given: bytes | Path) -> Any:
        return make_plan(PlanRequest(OF[name], self.paths(name, given)), self.folder / "plan")[0]

    def refused(self, name: str, given: bytes | Path) -> InputError:
        with pytest.raises(InputError) as caught:
            self.plan(name, given)
        assert caught.value.exit_code == 2
        assert caught.value.todo
        assert not (self.folder / "plan").exists()
        return caught.value


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize(("name", "member"), PACKED)
def test_a_packed_source_gives_the_plan_of_the_plain_one(files: Files, tmp_path: Path, name: str, member: str) -> None:
    data = GOOD[OF[name]][name]
    plain = files.plan(name, data)
    forks = {f"__MACOSX/data/._{member}": b"\0\5"}
    packings = {
        "zip": zipped({f"data/{member}": data, "data/": b"", **forks}),
        "zip without folder": zipped({member: data}),
        "tar": tarred({f"./data/{member}": data}, "w"),
        "tar.gz": tarred({f"data/{member}": data}),
        "tar.xz": tarred({f"data/{member}": data}, "w:xz"),
        "gz": gzip.compress(data),
        "bz2": bz2.compress(data),
        "xz": lzma.compress(data),
    }
    for form, packed in packings.items():
        again = Files(tmp_path / form)
        again.folder.mkdir()
        assert again.plan(name, packed) == plain, form


@pytest.mark.parametrize(
    ("packed", "says", "todo"),
    [
        (marked(zipped({"captions_a.json": b"{}"}), flag=1), "'captions_a.json' is encrypted", "with its password"),
        (
            marked(zipped({"captions_a.json": b"{}"}), method=93),
            "compression method 93 is not read",
            "unpack it by hand",
        ),
        (zipped({"captions_a.json": b"{}" * 99})[:-30], "cut or damaged", "get the file again"),
        (gzip.compress(b"{}" * 99)[:-9], "cut or damaged", "get the file again"),
        (tarred({"captions_a.json": b"{}" * 999}, "w")[:1500], "cut or damaged", "get the file again"),
        (zipped({"annotations.zip": b"PK"}), "without captions_*.json", "give captions_*.json"),
        (zipped({}), "without captions_*.json", "give captions_*.json"),
        (zipped({"../captions_a.json": b"{}"}), "unsafe archive", "give captions_*.json"),
        (zipped({"captions_a.json": zipped({"a": b""})}), "a zip archive", "give the file inside"),
        (zipped({"captions_a.json": b" " * 9_000_000}), "too-large", "give captions_*.json"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive, which is not read", "unpack it by hand"),
        (b"PK hello", "not JSON", "get the file again"),
    ],
)
def test_an_archive_that_cannot_be_read_is_refused(files: Files, packed: bytes, says: str, todo: str) -> None:
    error = files.refused("coco-captions", packed)
    assert says in error.what
    assert todo in str(error.todo)
    assert "coco-captions" in str(error.where)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_named(files: Files, method: int) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        archive.writestr("captions_a.json", GOOD["sage-verse"]["coco-captions"])
    data = bytearray(held.getvalue())
    data[150:160] = b"\xff" * 10
    error = files.refused("coco-captions", bytes(data))
    assert error.what.startswith("damaged: archive member")
    assert str(error.where).endswith("!captions_a.json")
    assert error.todo == "get the file again"


def test_an_archive_of_several_lists_is_refused(files: Files) -> None:
    data = GOOD["sage-wikidiverse"]["wikidiverse-entity-images"]
    error = files.refused("wikidiverse-entity-images", zipped({"a.tsv": data, "b.tsv": data, "README.md": b"#"}))
    assert error.what == "an archive of several files that may be meant"
    assert error.got == "a.tsv, b.tsv"


QUOTA = b"<!DOCTYPE html><html><head><title>Google Drive - Quota exceeded</title></head><body></body></html>"


@pytest.mark.parametrize(("benchmark", "name"), SOURCES)
@pytest.mark.parametrize(
    ("data", "says", "todo"),
    [
        (QUOTA, "a Google Drive page and not the file (its download quota is exceeded)", "wait a day"),
        (
            b"\n\n<!DOCTYPE html>\n<html><title>x.csv at master</title></html>",
            "an HTML page and not the file",
            "raw one",
        ),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a Git LFS pointer", "git lfs pull"),
        (b"", "an empty file", "get the file again"),
        (b"\xef\xbb\xbf", "nothing but white space", "get the file again"),
        (b"\r\n \n", "nothing but white space", "get the file again"),
        (b"\0" * 200_000, "nothing but zeros", "get the file again"),
        (b"Rar!\x1a\x07\x01\0", "a RAR archive", "unpack it by hand"),
        ("ride\t한".encode("utf-16"), "not UTF-8 (UTF-16 BOM)", "save the file as UTF-8"),
        ("눈".encode("cp949"), "not UTF-8 (reads as CP949", "save the file as UTF-8"),
        (b"a\nna\xefve\n", "not UTF-8", "save the file as UTF-8"),
        (b"a\n\0", "NUL character in a text file", "saved as UTF-8"),
    ],
)
def test_what_is_not_the_file_is_named(
    files: Files, benchmark: str, name: str, data: bytes, says: str, todo: str
) -> None:
    error = files.refused(name, data)
    assert says in error.what
    assert todo in str(error.todo)
    assert name in str(error.where)


@pytest.mark.parametrize("name", ["verse-annotations", "verse-senses"])
@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        (lambda data: zipped({"a.csv": data}), "a zip archive or an Office document"),
        (gzip.compress, "gzip data"),
        (lambda data: tarred({"a.csv": data}, "w"), "a tar archive"),
    ],
)
def test_a_packed_table_is_named(files: Files, name: str, pack: Callable[[bytes], bytes], kind: str) -> None:
    error = files.refused(name, pack(GOOD["sage-verse"][name]))
    assert error.what == f"{kind}, not text"
    assert error.todo == "unpack it by hand and give the file inside"


@pytest.mark.parametrize(("benchmark", "name"), SOURCES)
def test_marks_and_line_ends_make_no_difference(files: Files, tmp_path: Path, benchmark: str, name: str) -> None:
    data = GOOD[benchmark][name]
    plain = files.plan(name, data)
    bare = data.replace(b"\r\n", b"\n")
    # The quoted cells of the senses keep the line ends within them: they become blanks.
    forms = (b"\xef\xbb\xbf" + data, bare.replace(b"\n", b"\r\n"), bare.replace(b"\n", b"\r"))
    for number, form in enumerate(forms):
        again = Files(tmp_path / str(number))
        again.folder.mkdir()
        assert again.plan(name, form) == plain, form[:20]


@pytest.mark.parametrize(("benchmark", "name"), SOURCES)
def test_what_is_no_file_is_refused(files: Files, tmp_path: Path, benchmark: str, name: str) -> None:
    assert files.refused(name, tmp_path).what == "a folder, not a file"
    assert files.refused(name, Path(os.devnull)).what == "a device, not a file"
    assert files.refused(name, tmp_path / "none").what == "no such file"
    os.mkfifo(tmp_path / "pipe")
    assert "an empty file" in files.refused(name, tmp_path / "pipe").what


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(files: Files, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(DATA)
    (tmp_path / "secret").chmod(0)
    error = files.refused("vwsd-data", tmp_path / "secret")
    assert (error.what, error.todo) == ("cannot be read: Permission denied", "check the path and its permissions")


def test_a_pipe_is_read_to_its_end(files: Files, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    plain = files.plan("vwsd-data", DATA)
    again = Files(tmp_path / "again")
    again.folder.mkdir()
    # Open for both, so that the pipe has a writer before there is anything to read.
    writer = os.open(pipe, os.O_RDWR)
    later = threading.Timer(0.3, lambda: (os.write(writer, DATA), os.close(writer)))
    later.start()
    assert again.plan("vwsd-data", pipe) == plain
    later.join()


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "no captions of COCO"),
        ({"images": [{"id": 1, "file_name": coco_name(1)}], "annotations": [{"id": 1, "image_id": 1, "bbox": []}]}, "lacks caption"),
        ({"images": [{"id": 1, "file_name": coco_name(1)}]}, "no captions of COCO"),
        ({"images": [], "annotations": [], "licenses": [{"id": 1, "name": 7, "url": 7}]}, "not a licence"),
    ],
)  # fmt: skip
def test_another_file_of_coco_is_told_from_captions(files: Files, document: Any, says: str) -> None:
    error = files.refused("coco-captions", json.dumps(document).encode())
    assert says in error.what
    assert "give COCO's captions_train2014.json and captions_val2014.json" in str(error.todo)
    assert error.got


@pytest.mark.parametrize("name", ["coco-captions", "wikidiverse-candidates"])
def test_broken_json_is_explained(files: Files, name: str) -> None:
    good = GOOD[OF[name]][name]
    value = json.loads(good)
    rows = value if isinstance(value, list) else value["annotations"]
    lines = b"\n".join(json.dumps(row).encode() for row in rows)
    for data, says, place in (
        (good[: len(good) // 2], "the text ends too early", None),
        (good.rstrip()[:-1], "the text ends too early", f"column {len(good)}"),
        (lines, "not JSON but JSON lines", "line 2, column 1"),
        (b"[" * 100_000, "nested too deeply", None),
        (b"[NaN]", "NaN is not JSON", None),
        (b'{"a": 1, "a": 1}', "key 'a' twice in one object", None),
        (b"[" + b"9" * 5000 + b"]", "4300 digits", None),
        (b"{'a': 1}", "not JSON", "column 2"),
    ):
        error = files.refused(name, data)
        assert says in error.what
        assert place is None or place in str(error.got)


@pytest.mark.parametrize(
    ("data", "gold", "says", "where"),
    [
        (GOLD, DATA, "are swapped", "vwsd-gold"),
        (DATA, DATA, "are the same", "vwsd-gold"),
        (GOLD, GOLD, "are the same", "vwsd-gold"),
        (DATA, GOLD.replace(b"image.", b"picture."), "not one of the candidates", "line 1"),
        (DATA.replace(DATA.split(b"\t")[3], DATA.split(b"\t")[4], 1), GOLD, "not ten image names", "line 1"),
        (DATA.replace(DATA.split(b"\t")[3], b"", 1), GOLD, "not ten image names", "line 1"),
        (DATA.replace(b"\t", b" "), GOLD, "not a row of the task", "line 1"),
    ],
)
def test_files_of_the_nouns_mixed_up_are_told(files: Files, data: bytes, gold: bytes, says: str, where: str) -> None:
    paths = {**files.paths("vwsd-data", data), "vwsd-gold": files.folder / "vwsd-gold"}
    paths["vwsd-gold"].write_bytes(gold)
    with pytest.raises(InputError, match=says) as caught:
        make_plan(PlanRequest("sage-vwsd", paths), files.folder / "plan")
    assert where in str(caught.value.where)
    assert caught.value.todo


def test_blanks_at_the_ends_of_lines_and_of_the_file_make_no_difference(files: Files, tmp_path: Path) -> None:
    plain = files.plan("vwsd-gold", GOLD)
    again = Files(tmp_path / "again")
    again.folder.mkdir()
    assert again.plan("vwsd-gold", GOLD.replace(b"\n", b" \n") + b"\n\n") == plain


@pytest.mark.parametrize(
    ("lines", "says", "todo"),
    [
        ([f"ride,{coco_name(1)},1,COCO"], "missing column", "first line names these columns"),
        ([HEADER.replace(",", "\t"), "a\tb\tc\td"], "missing column", "separated by tabs: save it with commas"),
        ([HEADER.replace(",", ";")], "missing column", "separated by semicolons: save it with commas"),
        ([HEADER, "ride,000000000001.jpg,1,COCO"], "not the name of a COCO image", "mend the row"),
        ([HEADER, f"{coco_name(1)},ride,1,COCO"], "not the name of a COCO image", "mend the row"),
        ([HEADER, f"ride,{coco_name(1)},1,coco"], "an unknown collection", "mend the row"),
        ([HEADER, f'ride,"{coco_name(1)},1,COCO'], "quoting is broken", "it may be cut"),
    ],
)
def test_annotations_of_another_layout_are_explained(lines: list[str], says: str, todo: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_annotations(Source("verse-annotations", "a.csv", "\n".join(lines).encode()))
    assert str(caught.value.where).startswith(f"a.csv, line {min(len(lines), 2) if lines[0] == HEADER else 1}")
    assert todo in str(caught.value.todo)


def test_annotations_may_be_quoted_and_in_any_order_of_columns() -> None:
    rows = read_annotations(Source("verse-annotations", "a.csv", annotations(verse_rows())))
    columns = HEADER.split(",")
    turned = [[row[column] for column in (3, 1, 0, 2)] for row in [columns, *verse_rows()]]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in turned)
    assert read_annotations(Source("verse-annotations", "a.csv", text.encode())) == rows


def test_senses_without_definitions_are_refused() -> None:
    with pytest.raises(InputError, match="without definitions") as caught:
        read_glosses(Source("verse-senses", "s.csv", b"lemma\tsense_num\tdefinition\nride\t1\t\n"))
    assert (caught.value.where, caught.value.todo) == ("s.csv", "get the file again")


@pytest.mark.parametrize("name", ["train_w_10cands.json", "valid.json", "Dev-1.json"])
def test_another_split_of_wikidiverse_is_refused(name: str) -> None:
    data = json.dumps(town_rows()).encode()
    with pytest.raises(InputError, match="another split") as caught:
        read_mentions(Source("wikidiverse-candidates", f"here/{name}", data))
    assert caught.value.todo == "give wikidiverse_w_cands/test_w_10cands.json"
    archive = zipped({"w/test_w_10cands.json": data, f"w/{name}": b"[]"})
    assert len(read_mentions(Source("wikidiverse-candidates", "c.zip", archive))) == 20


@pytest.mark.parametrize("linked", [0, False, [], {}])
def test_only_text_or_nothing_links_a_mention(files: Files, linked: Any) -> None:
    rows = town_rows()
    rows[3][6] = linked
    error = files.refused("wikidiverse-candidates", json.dumps(rows).encode())
    assert (error.what, error.got) == ("entity_url is no text", repr(linked))
    assert str(error.where).endswith(", row 3")


def test_mentions_without_candidates_are_refused(files: Files) -> None:
    error = files.refused("wikidiverse-candidates", json.dumps([row[:7] + row[8:] for row in town_rows()]).encode())
    assert error.got == "10 fields"
    assert "test_w_10cands.json" in str(error.todo)


@pytest.mark.parametrize("separator", [",", " "])
def test_a_list_that_names_no_entity_is_refused(files: Files, separator: str) -> None:
    error = files.refused("wikidiverse-entity-images", listing(town_images(), separator).encode())
    assert error.what == "the list names no entity of the candidates"
    assert "'Town 0'" in str(error.expected)
    assert f"'Town 39{separator}https" in str(error.got)


def test_a_name_too_long_is_wrong_use(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run(
        "sage-reconstruct", "plan", "sage-vwsd", "--out", tmp_path / "plan", "--source", f"vwsd-data={'x' * 300}"
    )
    assert done.returncode == 2
    assert "vwsd-data: File name too long" in " ".join(done.stderr.split())


def test_a_file_that_does_not_fit_into_memory_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(64 << 30)
    done = run(
        "sage-reconstruct", "plan", "sage-vwsd", "--out", tmp_path / "plan",
        "--source", f"vwsd-data={tmp_path / 'huge'}", "--source", f"vwsd-gold={tmp_path / 'huge'}",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "does not fit into memory" in done.stderr
    assert "68,719,476,736 bytes" in done.stderr
    assert "Traceback" not in done.stderr
