"""Pieces: the bytes of a stream, some at a time, up to a limit."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO

from hannun.reconstruct.transfer import Failed
from hannun.schemas.outcome import Outcome

PIECE_BYTES = 1 << 16
_MAX_RATIO = 200
"""Unpacked over packed size over which something is taken for a bomb."""


def pieces_of(stream: IO[bytes] | io.BufferedIOBase) -> Iterator[bytes]:
    """What is left of a stream, in pieces of at most `PIECE_BYTES` bytes."""
    while piece := stream.read(PIECE_BYTES):
        yield piece


def counted(pieces: Iterator[bytes], limit: int, packed: int | None = None) -> Iterator[bytes]:
    """The pieces, up to a limit; the one that passes it is not given out.

    Parameters
    ----------
    pieces
        What is counted.
    limit
        Bytes in all.
    packed
        Bytes from which the pieces are unpacked, which lower the limit to what is no bomb.

    Raises
    ------
    Failed
        `too-large`: over the limit.
    """
    origin = ""
    if packed is not None:
        limit, origin = min(limit, _MAX_RATIO * max(packed, 1)), f", unpacked from {packed}"
    got = 0
    for piece in pieces:
        got += len(piece)
        if got > limit:
            raise Failed(Outcome.TOO_LARGE, f"over {limit} bytes{origin}")
        yield piece
