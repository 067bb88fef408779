"""What a file is, from its bytes: format and size read from the header, before anything is decoded."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from importlib import import_module

from PIL import ExifTags, Image, UnidentifiedImageError

from fieldmark.errors import DataFault
from fieldmark.tools.pictures.strip import png_chunks

MAX_PIXELS = 120_000_000
"""Pictures above are refused: decoded they would take more than 360 MB."""

_READABLE = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "PPM", "JPEG2000", "HEIF")
_READERS = ("Jpeg", "Png", "WebP", "Gif", "Tiff", "Bmp", "Avif", "Ppm", "Jpeg2K")
_MEDIA = {"PPM": "image/x-portable-anymap", "JPEG2000": "image/jp2"}
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"}
_AVIF_BRANDS = {b"avif", b"avis"}
_KNOWN_AS = (
    (b"%PDF", "PDF"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL", "JPEG XL"),
    (b"8BPS", "Photoshop"),
    (b"<svg", "SVG"),
    (b"<?xml", "SVG or XML"),
    (b"<!DOC", "HTML"),
    (b"<html", "HTML"),
)


@dataclass(frozen=True)
class Header:
    """`width` x `height` are pixels of the upright picture; `frames` > 1: an animation or several pages."""

    format: str
    media_type: str
    width: int
    height: int
    frames: int


def header(data: bytes, max_pixels: int = MAX_PIXELS) -> Header:
    """Read a picture's header. `max_pixels` is at most MAX_PIXELS, what the memory limits are made for.

    Raises DataFault of kind `empty`, `unknown_format`, `needs_decoder`, `too_large` or `truncated`.
    """
    with open_checked(data, max_pixels) as image:
        width, height = image.size
        # Pillow swaps the sides of a TIFF by itself
        if image.format != "TIFF" and orientation(image, data) >= 5:
            width, height = height, width
        kind = image.format or ""
        # MPO is a JPEG with a depth map or thumbnail behind it
        kind, frames = ("JPEG", 1) if kind == "MPO" else (kind, _frames(image))
        return Header(kind, _MEDIA.get(kind, f"image/{kind.lower()}"), width, height, frames)


def open_checked(data: bytes, max_pixels: int = MAX_PIXELS) -> Image.Image:
    """The picture, opened but not decoded, its size within `max_pixels`. DataFault as `header`."""
    if not data:
        raise DataFault("the file is empty (0 bytes): download it again", kind="empty")
    if _is_heic(data):
        _register_heic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=_readable())
    except Image.DecompressionBombError as error:
        raise _too_large(int(_first_number(str(error))), max_pixels) from None
    except MemoryError:
        raise
    except Exception as error:  # a broken file makes decoders raise almost anything
        raise _unreadable(data, error) from None
    if image.width * image.height > max_pixels:
        raise _too_large(image.width * image.height, max_pixels)
    if not image.width or not image.height:
        raise DataFault(f"{image.format} of {image.width}x{image.height} px has no pixels", kind="truncated")
    return image


def orientation(image: Image.Image, data: bytes) -> int:
    """The EXIF orientation, 1 to 8; unknown values count as 1. Decodes nothing."""
    try:
        exif = _png_exif(data) if image.format == "PNG" else image.getexif()
        value = exif.get(ExifTags.Base.Orientation, 1)
    except Exception:  # broken EXIF raises almost anything; the pixels are still good
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _png_exif(data: bytes) -> Image.Exif:
    """Pillow would decode the whole PNG to find a chunk that may stand behind its pixels."""
    exif = Image.Exif()
    for name, body in png_chunks(data):
        if name == b"eXIf":
            exif.load(b"Exif\0\0" + body)
    return exif


def _frames(image: Image.Image) -> int:
    try:
        return int(getattr(image, "n_frames", 1))
    except Exception:  # a broken later frame does not matter: only the first is used
        return 1


def _readable() -> list[str]:
    for name in _READERS:  # `Image.init` would import Pillow's other thirty too
        import_module(f"PIL.{name}ImagePlugin")
    return [name for name in _READABLE if name in Image.OPEN]


def _is_heic(data: bytes) -> bool:
    """Whether the file's own box of brands names HEIC; `mif1` stands in AVIF files too."""
    if data[4:8] != b"ftyp":
        return False
    end = min(int.from_bytes(data[:4], "big"), 256)
    brands = {data[at : at + 4] for at in range(8, max(end, 12), 4)}
    return bool(brands & _HEIC_BRANDS) and not brands & _AVIF_BRANDS


def _register_heic() -> None:
    try:
        import pi_heif  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise DataFault(
            "HEIC picture: no decoder is installed; `pip install pi-heif`, or convert it to JPEG",
            kind="needs_decoder",
        ) from None
    pi_heif.register_heif_opener()


def _first_number(text: str) -> str:
    found = re.search(r"\d+", text)
    return found.group() if found else "0"


def _too_large(pixels: int, limit: int) -> DataFault:
    return DataFault(
        f"the picture has {pixels / 1e6:.4g} megapixels, the limit is {limit / 1e6:.4g}: scale it down",
        kind="too_large",
    )


def _unreadable(data: bytes, error: Exception) -> DataFault:
    start = data[:16]
    if start.startswith((b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"II*\0", b"MM\0*", b"BM")):
        what = "its header cannot be read" if isinstance(error, UnidentifiedImageError) else str(error)
        message = f"the picture is truncated, damaged or of a rare kind: {what}; download it again"
        return DataFault(message, kind="truncated")
    start = start.lower().lstrip(b"\xef\xbb\xbf \t\r\n")
    kind = next((name for magic, name in _KNOWN_AS if start.startswith(magic.lower())), "unknown format")
    return DataFault(f"not a readable picture ({kind}): convert it to JPEG or PNG", kind="unknown_format")
