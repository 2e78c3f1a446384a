"""Small pictures made for tests, as bytes."""

from __future__ import annotations

import io

from PIL import Image


def png(colour: tuple[int, ...] = (200, 30, 30), size: tuple[int, int] = (12, 8), mode: str = "RGB") -> bytes:
    return encoded(Image.new(mode, size, colour), "PNG")


def jpeg(colour: tuple[int, int, int] = (30, 120, 200), size: tuple[int, int] = (64, 48), quality: int = 90) -> bytes:
    image = Image.new("RGB", size, colour)
    for x in range(size[0]):
        image.putpixel((x, x % size[1]), (x * 3 % 256, 255 - x, 90))
    return encoded(image, "JPEG", quality=quality)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()
