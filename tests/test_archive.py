"""Archives as sources: safe ones come back byte for byte, hostile, broken and mistaken ones are named."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import random
import struct
import tarfile
import tempfile
import tracemalloc
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import pytest
from hannun.reconstruct.archives import Archives, compressed_tar
from hannun.reconstruct.archives import members as archive_members
from hannun.reconstruct.archives.drive_page import drive_page
from hannun.reconstruct.archives.members import Danger, Kind, Member, unsafe_members
from hannun.reconstruct.location import Archive
from hannun.reconstruct.opener import Opener
from hannun.reconstruct.transfer import Failed, Limits, Reach
from hannun.schemas.errors import IncompleteError
from hannun.schemas.outcome import Outcome
from hypothesis import given, settings
from hypothesis import strategies as st

MAX_BYTES = 1_000_000
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
PACKINGS = ("", "gz", "bz2", "xz")
NOISE = random.Random(1).randbytes(300_000)
PICTURE = NOISE[:5000]


@pytest.fixture
def archives() -> Iterator[Archives]:
    with Archives(Limits(max_bytes=MAX_BYTES)) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its archive: the name says nothing of the format."""
    return tmp_path / "given.bin"


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return stream.getvalue()


def tarred(members: Mapping[str, bytes], packing: str = "", encoding: str = "utf-8", format: int = 2) -> bytes:  # noqa: A002
    infos = []
    for name, data in members.items():
        infos.append((tarfile.TarInfo(name), data))
    return tarred_infos(infos, packing, encoding, format)


def tarred_infos(
    infos: list[tuple[tarfile.TarInfo, bytes]],
    packing: str = "",
    encoding: str = "utf-8",
    format: int = 2,  # noqa: A002
) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{packing}", encoding=encoding, format=format) as file:
        for info, data in infos:
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def link(name: str, target: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def renamed(data: bytes, placeholder: bytes, name: bytes) -> bytes:
    """An archive with a stored name replaced byte for byte, as no library would write it."""
    assert len(placeholder) == len(name)
    assert placeholder in data
    return data.replace(placeholder, name)


def edited(data: bytes, member: str, **fields: int) -> bytes:
    """A zip whose list of members says something else of one member."""
    places = {"flags": (8, "<H"), "method": (10, "<H"), "crc": (16, "<L"), "packed": (20, "<L"), "size": (24, "<L")}
    at = data.rindex(member.encode()) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    changed = bytearray(data)
    for field, value in fields.items():
        offset, form = places[field]
        struct.pack_into(form, changed, at + offset, value)
    return bytes(changed)


def got(opened: Archives, path: Path, member: str) -> bytes:
    return b"".join(opened.open("given", path, member).pieces)


def failure(opened: Archives, path: Path, member: str) -> Failed:
    with pytest.raises(Failed) as caught:
        got(opened, path, member)
    return caught.value


def outcome(opened: Archives, path: Path, member: str) -> Outcome:
    return failure(opened, path, member).outcome


# Safe archives


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


part = (
    st.text(
        st.one_of(
            st.characters(exclude_categories=("C", "Z"), exclude_characters="/\\:"),
            st.sampled_from("한글사과배가각간갇갈 .'!#é"),
        ),
        min_size=1,
        max_size=12,
    )
    .map(lambda text: text.strip(". "))
    .filter(lambda text: text and text != "__MACOSX")
)
names = st.lists(part, min_size=1, max_size=3).map("/".join)
safe_archives = st.lists(names, min_size=1, max_size=6, unique_by=folded).flatmap(
    lambda chosen: st.fixed_dictionaries({name: st.binary(max_size=400) for name in chosen})
)


@settings(max_examples=60, deadline=None)
@given(members=safe_archives, method=st.sampled_from(METHODS), packing=st.sampled_from(PACKINGS))
def test_any_safe_names_come_back_byte_for_byte(members: dict[str, bytes], method: int, packing: str) -> None:
    with tempfile.TemporaryDirectory() as folder, Archives(Limits()) as opened:
        for file, data in (("a", zipped(members, method)), ("b", tarred(members, packing))):
            (Path(folder) / file).write_bytes(data)
            assert {name: got(opened, Path(folder) / file, name) for name in members} == members
            wrapped = zipped({f"vol/{name}": data for name, data in members.items()})
        (Path(folder) / "c").write_bytes(wrapped)
        for name, data in members.items():
            if sum(f"/{other}".endswith(f"/{name}") for other in members) == 1:
                assert got(opened, Path(folder) / "c", name) == data


@pytest.mark.parametrize("kind", ["folder", "prefixed", *map(str, METHODS), *(f"tar.{each}" for each in PACKINGS)])
def test_members_come_in_pieces_from_archives_that_stay_open(archives: Archives, path: Path, kind: str) -> None:
    members = {"a/one.jpg": NOISE, "a/two.jpg": NOISE[::-1], "empty.jpg": b""}
    if kind == "folder":
        for name, data in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    elif kind.startswith("tar"):
        path.write_bytes(tarred(members, kind[4:]))
    elif kind == "prefixed":
        path.write_bytes(b"MZ self-extracting" + zipped(members))
    else:
        path.write_bytes(zipped(members, int(kind)))
    one, two = (archives.open("given", path, name) for name in ("a/one.jpg", "a/two.jpg"))
    assert (one.note, two.note) == (None, None)
    if kind != "folder":
        path.unlink()
    pairs = list(zip(one.pieces, two.pieces, strict=True))
    assert max(len(piece) for pair in pairs for piece in pair) <= 65536
    assert [b"".join(pieces) for pieces in zip(*pairs, strict=True)] == [NOISE, NOISE[::-1]]
    assert got(archives, path, "empty.jpg") == b""


def test_an_archive_is_opened_through_its_location(path: Path) -> None:
    path.write_bytes(tarred({"test/a.jpg": PICTURE}, "gz"))
    with Opener(Reach(sources={"images": path})) as opener:
        with opener.open(Archive("images", "test/a.jpg")) as transfer:
            assert b"".join(transfer.pieces) == PICTURE
        with pytest.raises(Failed, match=r"source images: no member 'b\.jpg'"), opener.open(Archive("images", "b.jpg")):
            pass


# Names


NFC, NFD = "사과 배.jpg", unicodedata.normalize("NFD", "사과 배.jpg")


def in_zip(name: bytes) -> bytes:
    placeholder = b"q" * len(name)
    return renamed(zipped({placeholder.decode(): PICTURE, "other.jpg": b"other"}), placeholder, name)


@pytest.mark.parametrize(
    ("data", "wanted", "stored"),
    [
        (zipped({NFC: PICTURE}), NFC, None),
        (zipped({NFD: PICTURE}), NFC, ascii(NFD)),
        (zipped({NFC: PICTURE}), NFD, repr(NFC)),
        (zipped({"사\u200b과.jpg": PICTURE}), "사과.jpg", "'사\\u200b과.jpg'"),
        (zipped({"vwsd/test/사과.jpg": PICTURE}), "test/사과.jpg", "'vwsd/test/사과.jpg'"),
        (in_zip("그림/사과.jpg".encode("cp949")), "그림/사과.jpg", "CP949"),
        (in_zip("그림/사과.jpg".encode("cp949")), "사과.jpg", "CP949"),
        (in_zip("그림/사과.jpg".encode("cp949")), "그림/사과.jpg".encode("cp949").decode("cp437"), None),
        (in_zip(NFD.encode()), NFC, "UTF-8"),
        (in_zip("É.jpg".encode("cp437")), "É.jpg", None),
        (tarred({NFD: PICTURE}), NFC, ascii(NFD)),
        (tarred({"그림/사과.jpg": PICTURE}, encoding="cp949", format=tarfile.GNU_FORMAT), "그림/사과.jpg", "CP949"),
        (tarred({"./a/b.jpg": PICTURE, "./c/a/b.jpg": b"other"}), "a/b.jpg", None),
        (tarred({"w/a/b.jpg": PICTURE}), "./a//b.jpg", "'w/a/b.jpg'"),
        (zipped({"a.jpg": PICTURE, "w/a.jpg": b"other", "a.jpg.txt": b"other", "ba.jpg": b"other"}), "a.jpg", None),
        (zipped({"사과.jpg": PICTURE, "사\u200b과.jpg": b"other"}), "사과.jpg", None),
    ],
)
def test_a_member_is_found_by_its_name_or_a_form_of_it(
    archives: Archives, path: Path, data: bytes, wanted: str, stored: str | None
) -> None:
    path.write_bytes(data)
    transfer = archives.open("given", path, wanted)
    assert b"".join(transfer.pieces) == PICTURE
    if stored is None:
        assert transfer.note is None
    else:
        assert transfer.note is not None
        assert stored in transfer.note
        assert repr(wanted) in transfer.note


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        ({"w/a.jpg": b"1", "v/a.jpg": b"2"}, "a.jpg"),
        ({"w/사\u200b과.jpg": b"1", "w/\u200b사과.jpg": b"2"}, "w/사과.jpg"),
    ],
)
def test_two_members_that_answer_are_none(
    archives: Archives, path: Path, members: dict[str, bytes], wanted: str
) -> None:
    path.write_bytes(zipped(members))
    seen = failure(archives, path, wanted)
    assert seen.outcome is Outcome.REFUSED
    assert "several members answer" in str(seen.note)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_twins_are_refused_in_a_zip_and_the_later_counts_in_a_tar(archives: Archives, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a.jpg", b"1")
        file.writestr("a.jpg", b"2")
        file.writestr("b.jpg", b"3")
    (tmp_path / "zip").write_bytes(stream.getvalue())
    assert outcome(archives, tmp_path / "zip", "a.jpg") is Outcome.REFUSED
    assert got(archives, tmp_path / "zip", "b.jpg") == b"3"
    twins = [(tarfile.TarInfo(name), data) for name, data in (("a.jpg", b"1"), ("./a.jpg", b"2"))]
    (tmp_path / "tar").write_bytes(tarred_infos(twins))
    assert got(archives, tmp_path / "tar", "a.jpg") == b"2"


@pytest.mark.parametrize("wrap", ["", "w/"])
@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
def test_forks_of_macos_never_answer(archives: Archives, path: Path, kind: str, wrap: str) -> None:
    members = {f"{wrap}a.jpg": PICTURE, "__MACOSX/b/a.jpg": b"fork", "__MACOSX/c.jpg": b"fork", "._a.jpg": b"fork"}
    if kind == "folder":
        for name, data in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    else:
        path.write_bytes(zipped(members) if kind == "zip" else tarred(members))
    assert got(archives, path, "a.jpg") == PICTURE
    for member in ("b/a.jpg", "c.jpg", "._a.jpg", "__MACOSX/c.jpg", "__MACOSX/b/a.jpg"):
        assert outcome(archives, path, member) is Outcome.GONE


@pytest.mark.parametrize(
    "member", ["b.jpg", "a", "/", ".", "a/b.jpg/", "A/x.jpg", "jpg", "../a/x.jpg", "x" * 5000, "\0"]
)
@pytest.mark.parametrize("data", [zipped({"a/x.jpg": b"1", "b/": b""}), tarred({"a/x.jpg": b"1"}), zipped({})])
def test_what_is_not_there_is_gone(archives: Archives, path: Path, data: bytes, member: str) -> None:
    path.write_bytes(data)
    assert outcome(archives, path, member) is Outcome.GONE


def test_folders_answer_like_archives_but_not_from_outside(archives: Archives, tmp_path: Path) -> None:
    folder = tmp_path / "given"
    (folder / "wrap" / "a").mkdir(parents=True)
    (folder / "wrap" / "a" / NFD).write_bytes(PICTURE)
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    for wanted in (f"wrap/a/{NFC}", f"a/{NFC}", NFC):
        transfer = archives.open("given", folder, wanted)
        assert b"".join(transfer.pieces) == PICTURE
        assert ascii(NFD)[1:-1] in str(transfer.note)
    for wanted in ("../secret.jpg", "wrap/../../secret.jpg", str(tmp_path / "secret.jpg")):
        assert outcome(archives, folder, wanted) is Outcome.REFUSED
    for wanted in ("secret.jpg", "a", "n" * 5000, "\0"):
        assert outcome(archives, folder, wanted) is Outcome.GONE
    (folder / "wrap" / "a" / NFD).write_bytes(bytes(MAX_BYTES + 1))
    assert outcome(archives, folder, NFC) is Outcome.TOO_LARGE


def test_what_a_folder_loses_before_it_is_read_is_named(archives: Archives, path: Path) -> None:
    path.mkdir()
    (path / "a.jpg").write_bytes(PICTURE)
    found = [archives.open("given", path, "a.jpg") for _ in range(2)]
    (path / "a.jpg").unlink()
    with pytest.raises(Failed) as gone:
        list(found[0].pieces)
    (path / "a.jpg").mkdir()
    with pytest.raises(Failed, match="cannot be read") as unreadable:
        list(found[1].pieces)
    assert (gone.value.outcome, unreadable.value.outcome) == (Outcome.GONE, Outcome.NEEDS_PERSON)


# Unsafe archives


@pytest.mark.parametrize(
    ("name", "danger"),
    [
        ("../a", Danger.PARENT),
        ("a/../b", Danger.PARENT),
        ("a/..", Danger.PARENT),
        ("..\\a", Danger.PARENT),
        ("a/.. /b", Danger.PARENT),
        ("a/.\u200b./b", Danger.PARENT),
        ("/a", Danger.ABSOLUTE),
        ("\\a", Danger.ABSOLUTE),
        ("//host/share/a", Danger.UNC),
        ("\\\\host\\share\\a", Danger.UNC),
        ("\\\\?\\C:\\a", Danger.UNC),
        ("C:\\a", Danger.DRIVE),
        ("c:/a", Danger.DRIVE),
        ("a\\b", Danger.BACKSLASH),
        ("a.jpg\0.txt", Danger.NUL),
        ("CON.txt", Danger.WINDOWS),
        ("a/aux.jpg", Danger.WINDOWS),
        ("a/Lpt1/b", Danger.WINDOWS),
        ("nul", Danger.WINDOWS),
        ("com¹.png", Danger.WINDOWS),
        ("name. ", Danger.WINDOWS),
        ("a./b", Danger.WINDOWS),
        ("t:ads.txt", Danger.WINDOWS),
        ("what?.jpg", Danger.WINDOWS),
        ("a\nb", Danger.WINDOWS),
        ("..a/b..c/...d", None),
        ("./a", None),
        (".", None),
        ("console.txt", None),
        ("a/com.jpg", None),
        ("auxiliary/con1", None),
        ("a//b", None),
        ("사과 배/꽃.jpg", None),
        (".hidden", None),
    ],
)
def test_names_that_lead_elsewhere(name: str, danger: Danger | None) -> None:
    assert unsafe_members([Member("x.jpg"), Member(name)]) == ([] if danger is None else [(name, danger)])


def test_kinds_that_lead_elsewhere() -> None:
    members = [
        Member("real.jpg"),
        Member("folder/", Kind.FOLDER),
        Member("inside", Kind.HARD_LINK, "real.jpg"),
        Member("again", Kind.HARD_LINK, "./inside"),
        Member("label", Kind.LABEL),
        Member("symlink", Kind.SYMLINK, "real.jpg"),
        Member("outside", Kind.HARD_LINK, "../real.jpg"),
        Member("absolute", Kind.HARD_LINK, "/etc/passwd"),
        Member("later", Kind.HARD_LINK, "last.jpg"),
        Member("itself", Kind.HARD_LINK, "itself"),
        Member("device", Kind.DEVICE),
        Member("last.jpg"),
    ]
    assert unsafe_members(members) == [
        ("symlink", Danger.SYMLINK),
        ("outside", Danger.LINK),
        ("absolute", Danger.LINK),
        ("later", Danger.LINK),
        ("itself", Danger.LINK),
        ("device", Danger.DEVICE),
    ]


@pytest.mark.parametrize(
    ("names", "conflicting"),
    [
        (["A.jpg", "a.jpg", "A.jpg", "b.jpg"], ["A.jpg", "a.jpg"]),
        ([NFC, NFD], [NFC, NFD]),
        (["É.jpg", unicodedata.normalize("NFD", "é.jpg")], ["É.jpg", unicodedata.normalize("NFD", "é.jpg")]),
        (["A/", "a/", "a/x"], ["A/", "a/"]),
        (["a/x.jpg", "b/x.jpg", "a/", "a/X.png"], []),
        (["사과.jpg", "사\u200b과.jpg"], []),
    ],
)
def test_names_that_fall_together(names: list[str], conflicting: list[str]) -> None:
    found = unsafe_members([Member(name) for name in names])
    assert found == [(name, Danger.CONFLICT) for name in conflicting]


def test_a_note_hides_no_danger_of_a_twin() -> None:
    assert unsafe_members([Member("aux"), Member("aux", Kind.SYMLINK)]) == [("aux", Danger.SYMLINK)]


@given(st.lists(st.tuples(st.text(max_size=20), st.sampled_from(Kind), st.text(max_size=8)), max_size=8))
def test_any_names_can_be_judged(members: list[tuple[str, Kind, str]]) -> None:
    found = unsafe_members([Member(*each) for each in members])
    for name, danger in found:
        assert name in {each[0] for each in members}
        if danger in (Danger.SYMLINK, Danger.DEVICE):
            assert {each[1] for each in members if each[0] == name} & {Kind.SYMLINK, Kind.DEVICE}
    bad = {name for name, danger in found if danger is not Danger.WINDOWS}
    for name, kind, _ in members:
        if name not in bad:
            # What is left stays below a folder under both systems' rules.
            assert kind not in (Kind.SYMLINK, Kind.DEVICE)
            assert not name.startswith("/")
            assert "\\" not in name
            assert ".." not in name.split("/")


def zip_of(name: str, mode: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("ok.jpg", PICTURE)
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        file.writestr(info, "target")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (zipped({"ok.jpg": PICTURE, "../evil.txt": b""}), "../evil.txt"),
        (zipped({"ok.jpg": PICTURE, "__MACOSX/../../evil.txt": b""}), "evil.txt"),
        (renamed(zipped({"ok.jpg": PICTURE, "a.jpgN.txt": b""}), b"a.jpgN.txt", b"a.jpg\0.txt"), "a.jpg\\x00.txt"),
        (renamed(zipped({"ok.jpg": PICTURE, "a/b/c": b""}), b"a/b/c", b"a\\b\\c"), "a\\\\b\\\\c"),
        (zip_of("img", 0o120777), "img"),
        (zip_of("pipe", 0o010644), "pipe"),
        (tarred({"ok.jpg": PICTURE, "/evil.txt": b""}), "/evil.txt"),
        (tarred({"ok.jpg": PICTURE, "a/../../evil.txt": b""}, "gz"), "a/../../evil.txt"),
        (tarred_infos([(tarfile.TarInfo("ok.jpg"), PICTURE), link("img", "..", tarfile.SYMTYPE)]), "img"),
        (tarred_infos([(tarfile.TarInfo("ok.jpg"), PICTURE), link("l", "/etc/passwd", tarfile.LNKTYPE)]), "'l'"),
        (tarred_infos([(tarfile.TarInfo("ok.jpg"), PICTURE), link("null", "", tarfile.CHRTYPE)]), "null"),
        (tarred({"ok.jpg": PICTURE, "OK.jpg": b""}), "OK.jpg"),
    ],
)
def test_one_unsafe_member_condemns_the_archive(archives: Archives, path: Path, data: bytes, shown: str) -> None:
    path.write_bytes(data)
    for _ in range(2):
        seen = failure(archives, path, "ok.jpg")
        assert seen.outcome is Outcome.REFUSED
        assert "source given: unsafe archive" in str(seen.note)
        assert shown in str(seen.note)
    assert list(path.parent.iterdir()) == [path]


def test_many_bad_members_are_counted_and_a_handful_named(archives: Archives, path: Path) -> None:
    path.write_bytes(zipped({f"../{number}": b"" for number in range(40)}))
    note = str(failure(archives, path, "a").note)
    assert "bad members: 40" in note
    assert note.count("'../") == 5
    assert "and 35 more" in note


def test_names_that_only_windows_cannot_keep_are_noted(archives: Archives, path: Path) -> None:
    path.write_bytes(zipped({"CON.txt": b"1", "a.jpg": b"2"}))
    transfer = archives.open("given", path, "CON.txt")
    assert b"".join(transfer.pieces) == b"1"
    assert "Windows" in str(transfer.note)
    assert archives.open("given", path, "a.jpg").note is None


def test_korean_names_of_old_zips_do_not_fall_together_by_the_case_of_other_letters(
    archives: Archives, path: Path
) -> None:
    # The last bytes are n-tilde in its two cases to whoever reads CP437.
    one, two = (f"{syllable}.jpg".encode("cp949") for syllable in "갇갈")
    assert one.decode("cp437").casefold() == two.decode("cp437").casefold()
    data = zipped({"xx.jpg": b"1", "yy.jpg": b"2"})
    path.write_bytes(renamed(renamed(data, b"xx.jpg", one), b"yy.jpg", two))
    assert (got(archives, path, "갇.jpg"), got(archives, path, "갈.jpg")) == (b"1", b"2")


def test_hard_links_within_a_tar_give_what_they_name(archives: Archives, path: Path) -> None:
    infos = [(tarfile.TarInfo("a/real.jpg"), PICTURE), link("b/same.jpg", "a/real.jpg", tarfile.LNKTYPE)]
    path.write_bytes(tarred_infos([*infos, link("again.jpg", "./b/same.jpg", tarfile.LNKTYPE)]))
    assert [got(archives, path, name) for name in ("b/same.jpg", "again.jpg")] == [PICTURE, PICTURE]


# Sizes


def taken(opened: Archives, path: Path, member: str) -> tuple[int, Failed]:
    """Bytes that came before the failure."""
    sizes: list[int] = []
    with pytest.raises(Failed) as caught:
        sizes.extend(map(len, opened.open("given", path, member).pieces))
    return sum(sizes), caught.value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lie", [{}, {"size": 10}, {"size": 0}, {"packed": 0xFFFFFFF0}])
def test_a_bomb_ends_at_the_limit_whatever_it_declares(path: Path, method: int, lie: dict[str, int]) -> None:
    if method == zipfile.ZIP_STORED:
        data = zipped({"zeros": NOISE * 7}, method)
        lie = {key: value for key, value in lie.items() if key == "size"}
    else:
        data = zipped({"zeros": bytes(60_000_000)}, method)
    path.write_bytes(edited(data, "zeros", **lie))
    for max_bytes in (MAX_BYTES, 2_000_000_000):
        if method == zipfile.ZIP_STORED and max_bytes > MAX_BYTES:
            continue
        with Archives(Limits(max_bytes=max_bytes)) as opened:
            tracemalloc.start()
            count, seen = taken(opened, path, "zeros")
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        # A packed size beyond the end of the file is damage, should that be seen first.
        assert seen.outcome in ((Outcome.TOO_LARGE, Outcome.DAMAGED) if "packed" in lie else (Outcome.TOO_LARGE,))
        assert count <= min(max_bytes, 200 * len(data))
        assert peak < 20_000_000


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_a_compressed_tar_that_is_a_bomb_is_not_unpacked(path: Path, packing: str) -> None:
    path.write_bytes(tarred({"small.jpg": b"1", "zeros": bytes(20_000_000)}, packing))
    with Archives(Limits()) as opened:
        seen = failure(opened, path, "small.jpg")
        assert seen.outcome is Outcome.TOO_LARGE
        assert f"over {200 * path.stat().st_size} bytes" in str(seen.note)
        # It is remembered: nothing is unpacked again for the next member.
        path.unlink()
        assert outcome(opened, path, "small.jpg") is Outcome.TOO_LARGE


def test_an_unpacked_tar_has_a_limit_in_all(archives: Archives, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_tar, "_MAX_UNPACKED", 100_000)
    path.write_bytes(tarred({"a.jpg": PICTURE, "b.jpg": NOISE}, "gz"))
    assert outcome(archives, path, "a.jpg") is Outcome.TOO_LARGE


@pytest.mark.parametrize("kind", ["zip", "tar", "folder"])
def test_members_are_limited_in_number(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_members, "_MAX_MEMBERS", 20)
    for number, expected in ((20, Outcome.GONE), (21, Outcome.TOO_LARGE)):
        members = {f"{each}.jpg": b"" for each in range(number)}
        if kind == "folder":
            path.mkdir(exist_ok=True)
            for name in members:
                (path / name).touch()
        else:
            path.write_bytes(zipped(members) if kind == "zip" else tarred(members))
        with Archives(Limits()) as opened:
            assert outcome(opened, path, "none.jpg") is expected


def test_a_tar_member_over_the_limit_is_too_large(archives: Archives, path: Path) -> None:
    path.write_bytes(tarred({"a.jpg": NOISE * 4}))
    count, seen = taken(archives, path, "a.jpg")
    assert seen.outcome is Outcome.TOO_LARGE
    assert count <= MAX_BYTES


# Broken archives


@pytest.mark.parametrize("method", METHODS)
def test_a_member_is_damaged_where_its_bytes_and_its_header_disagree(
    archives: Archives, path: Path, method: int
) -> None:
    content = PICTURE + b"the end, the end, the end, the end"
    data = zipped({"a.jpg": content, "b.jpg": PICTURE}, method)
    crc = zlib.crc32(content)
    for fields in (
        {"crc": crc ^ 1},
        {"size": 10},
        # Read as declared, these would pass for whole.
        {"size": 10, "crc": zlib.crc32(content[:10])},
        {"size": len(content) + 1},
        {"packed": 100},
    ):
        path.write_bytes(edited(data, "a.jpg", **fields))
        with Archives(Limits()) as opened:
            assert outcome(opened, path, "a.jpg") is Outcome.DAMAGED, fields
            assert got(opened, path, "b.jpg") == PICTURE
    changed = bytearray(data)
    changed[60:80] = bytes(byte ^ 0xFF for byte in changed[60:80])
    path.write_bytes(changed)
    assert outcome(archives, path, "a.jpg") is Outcome.DAMAGED


def test_names_in_list_and_header_must_agree(archives: Archives, path: Path) -> None:
    path.write_bytes(zipped({"a.jpg": PICTURE}).replace(b"a.jpg", b"b.jpg", 1))
    assert outcome(archives, path, "a.jpg") is Outcome.DAMAGED


@pytest.mark.parametrize("fields", [{"flags": 1}, {"flags": 0x41}, {"method": 9}, {"method": 99}, {"flags": 0x20}])
def test_what_only_another_program_reads_needs_a_person(archives: Archives, path: Path, fields: dict[str, int]) -> None:
    path.write_bytes(edited(zipped({"a.jpg": PICTURE, "b.jpg": PICTURE}), "a.jpg", **fields))
    seen = failure(archives, path, "a.jpg")
    assert seen.outcome is Outcome.NEEDS_PERSON
    assert "unpack it by hand and give what is inside" in str(seen.note)
    if fields.get("flags", 0) & 1:
        assert "encrypted" in str(seen.note)
    assert got(archives, path, "b.jpg") == PICTURE


CUTTABLE = {
    "zip": zipped({"a.jpg": PICTURE, "b.jpg": PICTURE}),
    **{f"tar.{packing}": tarred({"a.jpg": PICTURE, "b.jpg": PICTURE}, packing) for packing in PACKINGS},
}


@settings(deadline=None)
@given(kind=st.sampled_from(sorted(CUTTABLE)), share=st.floats(0, 1, exclude_max=True))
def test_a_cut_archive_says_so(kind: str, share: float) -> None:
    data = CUTTABLE[kind]
    # A tar is whole from its first block of zeros on.
    end = len(data) if kind != "tar." else len(data.rstrip(b"\0")) // 512 * 512 + 512
    with tempfile.TemporaryDirectory() as folder, Archives(Limits()) as opened:
        path = Path(folder) / "cut"
        path.write_bytes(data[: int(end * share)])
        seen = failure(opened, path, "a.jpg")
        assert seen.outcome is Outcome.NEEDS_PERSON
        assert "get the file again" in str(seen.note)


def test_the_example_tars_are_whole_where_they_are_not_cut(archives: Archives, path: Path) -> None:
    for kind, data in CUTTABLE.items():
        whole = path.with_name(kind)
        whole.write_bytes(data)
        assert got(archives, whole, "b.jpg") == PICTURE


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (bytes(20_000), "zeros"),
        (b"just some text", "b'just som'"),
        (b"<!doctype html><html><title>Not found</title>", "an HTML page"),
        (b"7z\xbc\xaf'\x1c\0\4", "7z"),
        (b"Rar!\x1a\7\0", "RAR"),
        (b"ALZ\x01\n\0\0\0", "ALZ"),
        (b"EGGA\0\1", "EGG"),
        (b"\x28\xb5\x2f\xfd\x24\0", "Zstandard"),
        (lzma.compress(PICTURE), "no tar inside"),
        (bz2.compress(b""), "no tar inside"),
        (b"PK\x05\x06" + b"\xff" * 18, "cut or damaged"),
    ],
)
def test_what_is_no_archive_is_named(archives: Archives, path: Path, data: bytes, said: str) -> None:
    path.write_bytes(data)
    seen = failure(archives, path, "a.jpg")
    assert seen.outcome is Outcome.NEEDS_PERSON
    assert said in str(seen.note)


def test_a_file_that_is_not_there_needs_a_person(archives: Archives, path: Path) -> None:
    assert outcome(archives, path, "a.jpg") is Outcome.NEEDS_PERSON


def header(name: str, kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


END = bytes(1024)


@pytest.mark.parametrize(
    "data",
    [
        # A name that would be read into memory whole.
        header("././@LongLink", tarfile.GNUTYPE_LONGNAME, 30_000_000) + bytes(30_000_720) + header("a", b"0", 0) + END,
        # Sizes below zero, which send a reader back to where it came from.
        header("a", tarfile.REGTYPE, -512) + END,
        header("a", b"0", 0) + header("b", b"0", -1024) + END,
        header("x", tarfile.XHDTYPE, -512) + header("a", b"0", 0) + END,
        # Names of names of names.
        (header("././@LongLink", tarfile.GNUTYPE_LONGNAME, 2) + b"x".ljust(512, b"\0")) * 5000
        + header("a", b"0", 0)
        + END,
        # A header that is none, with members behind it.
        header("a", b"0", 0) + b"\xff" * 512 + header("b", b"0", 0) + END,
    ],
)
def test_hostile_headers_of_tars_cost_little_and_are_named(archives: Archives, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    tracemalloc.start()
    seen = failure(archives, path, "a")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen.outcome is Outcome.NEEDS_PERSON
    assert "cut or damaged" in str(seen.note)
    assert peak < 20_000_000


@settings(max_examples=200, deadline=None)
@given(data=st.data(), kind=st.sampled_from(sorted(CUTTABLE)))
def test_damaged_archives_fail_in_words(data: st.DataObject, kind: str) -> None:
    damaged = bytearray(CUTTABLE[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder, Archives(Limits(max_bytes=MAX_BYTES)) as opened:
        path = Path(folder) / "damaged"
        path.write_bytes(damaged)
        try:
            content = got(opened, path, "a.jpg")
        except Failed:
            return
        # A plain tar has no checksum over its contents.
        assert kind == "tar." or content == PICTURE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_not_the_archives_fault(archives: Archives, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> BinaryIO:
        return Path("/dev/full").open("wb")

    path.write_bytes(tarred({"a.jpg": NOISE}, "gz"))
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", full)
        with pytest.raises(IncompleteError, match="No space left"):
            got(archives, path, "a.jpg")
    assert got(archives, path, "a.jpg") == NOISE


# Google Drive


def page(title: str, body: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>".encode()


WARNING = page(
    "Google Drive - Virus scan warning",
    '<p class="uc-warning-caption">too large to scan</p><form id="download-form" '
    'action="https://drive.usercontent.google.com/download" method="get"></form><a>Sign in</a>',
)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (WARNING, "virus scan"),
        (b"\xef\xbb\xbf\n" + WARNING.upper(), "virus scan"),
        (page("Google 드라이브 - 바이러스 검사 경고", ""), "virus scan"),
        (page("", '<a id="uc-download-link" href="/uc?export=download&amp;confirm=t">Trotzdem</a>'), "virus scan"),
        (page("Google Drive - Quota exceeded", "<p>Too many users have viewed this file.</p><a>Sign in</a>"), "quota"),
        (page("Google 드라이브 - 할당량 초과", ""), "quota"),
        (page("Sign in - Google Accounts", ""), "sign in"),
        (page("로그인 - Google 계정", ""), "sign in"),
        (page("Google Drive: Sign-in", ""), "sign in"),
        (page("Google Drive - Access Denied", "You need access"), "sign in"),
        (b'<html><head><base href="https://accounts.google.com/v3/signin/">', "sign in"),
        (
            page("Moved", '<a href="https://accounts.google.com/ServiceLogin?continue=https://drive.google.com/uc">'),
            "sign in",
        ),
        (page("images.zip - Google Drive", ""), "something else"),
        (b"<!-- saved from url=(0040)https://drive.google.com/uc?id=x -->" + page("?", ""), "something else"),
    ],
)
def test_pages_of_google_drive_are_known_and_explained(archives: Archives, path: Path, head: bytes, said: str) -> None:
    explanation = str(drive_page(head))
    assert "Google Drive page and not the file" in explanation
    assert said in explanation
    for step in ("open the address in a browser", "confirm the download", "give the downloaded file"):
        assert step in explanation
    path.write_bytes(head)
    seen = failure(archives, path, "a.jpg")
    assert seen.outcome is Outcome.NEEDS_PERSON
    assert seen.note == f"source given: {explanation}"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        zipped({"Google Drive - Virus scan warning": WARNING}, zipfile.ZIP_STORED),
        page("My data", 'get it from <a href="https://drive.google.com/file/d/x/view">Google Drive</a>'),
        page("How to sign in to Google Drive", "virus scan warning, quota exceeded"),
        page("404 Not Found", ""),
        b"Google Drive - Virus scan warning",
        b'{"error": "Google Drive - Quota exceeded"}',
    ],
)
def test_other_files_are_no_pages_of_google_drive(head: bytes) -> None:
    assert drive_page(head) is None


# A public bug report


def test_hostile_zips(shared_cases: Path, tmp_path: Path) -> None:
    found = list(shared_cases.glob("F14-*"))
    if not found:
        pytest.skip("case F14 is not at hand")
    case = found[0]
    wanted = json.loads((case / "case.json").read_text("utf-8"))["expected"]

    def members(file: str) -> list[Member]:
        with zipfile.ZipFile(case / file) as given_zip:
            return [Member(info.orig_filename) for info in given_zip.infolist()]

    limits = Limits(max_bytes=wanted["bomb.zip"]["limit_bytes"])
    with Archives(limits) as opened:
        assert [name for name, _ in unsafe_members(members("slip.zip"))] == wanted["slip.zip"]["unsafe"]
        assert len(unsafe_members(members("backslash.zip"))) == wanted["backslash.zip"]["unsafe"]
        assert unsafe_members(members("dup.zip")) == [(name, Danger.CONFLICT) for name in wanted["dup.zip"]["conflict"]]
        devices = unsafe_members(members("devices.zip"))
        assert len(devices) == wanted["devices.zip"]["unsafe_on_windows"]
        assert {danger for _, danger in devices} == {Danger.WINDOWS}
        for member in members("devices.zip"):
            assert "Windows" in str(opened.open("devices", case / "devices.zip", member.name).note)
        for file in ("slip.zip", "backslash.zip", "dup.zip", "symlink.zip"):
            for member in members(file):
                seen = failure(opened, case / file, member.name)
                assert seen.outcome is Outcome.REFUSED
                assert "unsafe archive" in str(seen.note)
        assert all(f"'{name}': a symbolic link" in str(seen.note) for name in wanted["symlink.zip"]["unsafe"])
        count, seen = taken(opened, case / "bomb.zip", "zeros.bin")
        assert (seen.outcome.value, count <= limits.max_bytes) == (wanted["bomb.zip"]["status"], True)
        count, seen = taken(opened, case / "liar.zip", "zeros.bin")
        assert (seen.outcome, count <= limits.max_bytes) == (Outcome.TOO_LARGE, True)
    assert list(tmp_path.iterdir()) == []
