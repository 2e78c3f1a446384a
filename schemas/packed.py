"""Packed files, by their first bytes: what they are called where text is due."""

from __future__ import annotations

FOREIGN = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"ALZ\x01": "an ALZ archive",
    b"EGGA": "an EGG archive",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
}
"""Formats that Python does not unpack."""

_KNOWN = FOREIGN | {
    b"PK\x03\x04": "a zip archive or an Office document",
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\0": "xz data",
}
_TAR = slice(257, 262)


def packed_as(data: bytes) -> str | None:
    """What a file that is no text is packed as; None where it is not known to be packed."""
    if data[_TAR] == b"ustar":
        return "a tar archive"
    return next((name for magic, name in _KNOWN.items() if data.startswith(magic)), None)
