"""Sizes from headers agree with Pillow's, for every format that models are sent."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from fieldmark.sandbox.gateway.headers import picture_size


@pytest.mark.parametrize(
    ("format_", "options"),
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True, "exif": b"Exif\0\0" + bytes(500), "comment": b"x" * 300}),
        ("GIF", {}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0" + bytes(50)}),
    ],
    ids=str,
)
def test_the_size_is_read_without_decoding(format_: str, options: dict[str, object]) -> None:
    file = io.BytesIO()
    Image.radial_gradient("L").convert("RGB").resize((321, 123)).save(file, format_, **options)
    assert picture_size(file.getvalue()) == (321, 123)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a\x01", b"RIFF....WEBPVP8X", b"\xff\xd8\xff\xc0", b"text"]
)
def test_what_cannot_be_read_has_no_size(data: bytes) -> None:
    assert picture_size(data) == (0, 0)


def test_a_jpeg_of_very_many_segments_is_given_up_on() -> None:
    assert picture_size(b"\xff\xd8" + b"\xff\xfe\x00\x02" * 2_000_000) == (0, 0)
