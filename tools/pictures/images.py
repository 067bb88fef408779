"""Pictures on the host: staging for an episode, and cuts of the original. Sizes are (width, height)."""

from __future__ import annotations

import contextlib
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from fieldmark.errors import DataFault, ToolError
from fieldmark.tools.boxes import turned_size
from fieldmark.tools.pictures.adjust import levelled, turned
from fieldmark.tools.pictures.encoding import Meta, encode
from fieldmark.tools.pictures.formats import MAX_PIXELS, Header, header, open_checked, orientation
from fieldmark.tools.pictures.strip import strip_jpeg, strip_png
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.trace import Box, Contrast, Picture

__all__ = [
    "MAX_PIXELS", "Cut", "Header", "Meta", "Staged", "cut", "cut_decoded", "header", "open_upright", "stage",
    "stage_bytes",
]  # fmt: skip

MIN_SIDE = 28
MAX_RATIO = 200
"""Vision models' image processors fail below this side (px) or above this ratio of the sides."""


class Cut(NamedTuple):
    """The bytes of a cut, the box really used in whole pixels of the picture, the (width, height) of the
    result, and what was done: see `trace.Picture`.
    """

    data: bytes
    box: Box
    size: tuple[int, int]
    media_type: str
    scale: float
    rotate: float | None = None
    levels: tuple[int, int] | None = None

    def picture(self, blob: str, of: str) -> Picture:
        """The cut as the Picture `blob`, cut out of the Picture `of`."""
        return Picture(
            blob=blob, media_type=self.media_type, width=self.size[0], height=self.size[1],
            of=of, box=self.box, scale=self.scale,
            rotate=self.rotate, contrast="auto" if self.levels else None, levels=self.levels,
        )  # fmt: skip


@dataclass(frozen=True)
class Staged:
    """A picture made safe. `source_sha256` is of the file as it came; `notes`: what was left out."""

    original: bytes
    view: bytes
    original_meta: Meta
    view_meta: Meta
    source_sha256: str
    notes: tuple[str, ...]


def stage(
    path: Path, image_side: int = 2048, *, any_shape: bool = False, max_pixels: int = MAX_PIXELS
) -> Staged:
    """Make `original` (upright, no metadata) and `view` (longer side at most `image_side` px).

    Raises DataFault: unreadable or too large files as `header`, and `shape` for what no model can take
    (not with `any_shape`: tools can work on it).
    """
    return stage_bytes(_read(path), image_side, any_shape=any_shape, max_pixels=max_pixels)


def stage_bytes(
    data: bytes, image_side: int = 2048, *, any_shape: bool = False, max_pixels: int = MAX_PIXELS
) -> Staged:
    """As `stage`, of an encoded picture."""
    head = header(data, max_pixels)
    if not any_shape:
        _check_shape(head)
    image = open_upright(data)  # decodes all of it: a cut file is found here, not in an episode
    original, original_meta = _original(data, image)
    view, view_meta = original, original_meta
    if max(image.size) > image_side:
        view, view_meta = _smaller(image, image_side)
    source = hashlib.sha256(data).hexdigest()
    return Staged(original, view, original_meta, view_meta, source, _notes(head))


def cut(
    data: bytes,
    box: Box | None,
    *,
    scale: float,
    media_type: str,
    max_side: int = 4096,
    rotate: float = 0.0,
    contrast: Contrast = "none",
) -> Cut:
    """As `cut_decoded`, of an encoded picture. DataFault: it is unreadable."""
    image = open_upright(data)
    return cut_decoded(
        image, box, scale=scale, media_type=media_type, max_side=max_side, rotate=rotate, contrast=contrast
    )


def cut_decoded(
    image: Image.Image,
    box: Box | None,
    *,
    scale: float,
    media_type: str,
    max_side: int = 4096,
    rotate: float = 0.0,
    contrast: Contrast = "none",
) -> Cut:
    """A part of a decoded picture (RGB, or RGBX: X is ignored), None being all of it.

    `scale` is output pixels per pixel, lowered so that no side passes `max_side`; `rotate` turns the result
    clockwise about its middle, in degrees; `contrast` "auto" stretches its brightness before that.
    ToolError `invalid_args`: box outside or empty, scale not above 0, a result without pixels.
    """
    used = _whole_pixels(box, image.size)
    width, height = used[2] - used[0], used[3] - used[1]
    scale = _possible_scale(width, height, scale, max_side, rotate)
    size = (round(width * scale), round(height * scale))
    # the gap: what shrinks by more than 3 is first reduced by a whole number, in under half the time
    part = image.resize(size, Image.Resampling.LANCZOS, box=used, reducing_gap=1.5)
    part, levels = part if part.mode == "RGB" else part.convert("RGB"), None
    if contrast == "auto":
        part, levels = levelled(part)
    part = turned(part, rotate)
    scale = round(size[0] / width, 6)
    return Cut(encode(part, media_type), used, part.size, media_type, scale, rotate % 360 or None, levels)


def _whole_pixels(box: Box | None, size: tuple[int, int]) -> Box:
    width, height = size
    if box is None:
        return (0.0, 0.0, float(width), float(height))
    if not all(math.isfinite(value) for value in box):
        raise ToolError("the box must hold four finite numbers", "invalid_args")
    left, top = max(math.floor(box[0]), 0), max(math.floor(box[1]), 0)
    right, bottom = min(math.ceil(box[2]), width), min(math.ceil(box[3]), height)
    if left >= right or top >= bottom:
        message = f"the box {list(box)} is empty or outside; the image is {width}x{height} px"
        raise ToolError(message, "invalid_args")
    return (float(left), float(top), float(right), float(bottom))


def _possible_scale(width: float, height: float, scale: float, max_side: int, rotate: float) -> float:
    if not scale > 0:
        raise ToolError(f"scale must be above 0, got {scale}", "invalid_args")
    used = min(scale, max_side / max(turned_size(width, height, rotate)))
    if min(round(width * used), round(height * used)) < 1:
        message = f"a box of {width:g}x{height:g} px at scale {used:.3g} has no pixels: choose a shorter part"
        raise ToolError(message, "invalid_args")
    return used


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataFault(f"{path}: {error.strerror}", kind="missing") from error


def _check_shape(head: Header) -> None:
    short, long = sorted((head.width, head.height))
    if short < MIN_SIDE or long > MAX_RATIO * short:
        raise DataFault(
            f"a picture of {head.width}x{head.height} px cannot be shown to a vision model "
            f"(sides from {MIN_SIDE} px, ratio up to {MAX_RATIO}): pad or crop it",
            kind="shape",
        )


def _original(data: bytes, image: Image.Image) -> tuple[bytes, Meta]:
    """The source bytes without metadata where every decoder reads them alike, else a PNG."""
    media_type = _plain_type(data)
    if media_type is not None:
        strip = strip_jpeg if media_type == "image/jpeg" else strip_png
        with contextlib.suppress(ValueError):  # decoders skip stray bytes between segments
            return strip(data), Meta(media_type, *image.size)
    return encode(image, "image/png"), Meta("image/png", *image.size)


def _plain_type(data: bytes) -> str | None:
    """The media type of an upright 8-bit JPEG or PNG without alpha; None: it must be converted."""
    with open_checked(data) as image:
        if orientation(image, data) != 1:
            return None
        if image.format in ("JPEG", "MPO") and image.mode in ("RGB", "L"):
            return "image/jpeg"
        transparent = "transparency" in image.info
        if image.format == "PNG" and image.mode in ("RGB", "L", "P") and not transparent:
            return "image/png"
    return None


def _smaller(image: Image.Image, side: int) -> tuple[bytes, Meta]:
    ratio = side / max(image.size)
    size = (max(1, round(image.width * ratio)), max(1, round(image.height * ratio)))
    data = encode(image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0), "image/jpeg")
    return data, Meta("image/jpeg", *size)


def _notes(head: Header) -> tuple[str, ...]:
    if head.frames <= 1:
        return ()
    return (f"The file has {head.frames} frames ({head.format}); only the first frame is shown.",)
