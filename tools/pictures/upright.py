"""Any picture as upright 8-bit RGB, whatever its mode, depth, alpha or rotation tag."""

from __future__ import annotations

from PIL import Image

from fieldmark.errors import DataFault
from fieldmark.tools.pictures.formats import open_checked, orientation

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def open_upright(data: bytes) -> Image.Image:
    """The (first) picture, decoded, RGB, turned by its EXIF tag, alpha composited on white.

    Raises DataFault as `formats.header`, and `truncated` when the pixels are not all there.
    """
    image = open_checked(data)
    turn = 1 if image.format == "TIFF" else orientation(image, data)
    try:
        image.load()  # Pillow turns a TIFF here by itself
    except MemoryError:
        raise
    except Exception as error:  # a broken file makes decoders raise almost anything
        raise DataFault(
            f"the {image.format} is truncated or damaged: {error}; download it again", kind="truncated"
        ) from None
    rgb = to_rgb(image)
    return rgb.transpose(_TURNS[turn]) if turn in _TURNS else rgb


def to_rgb(image: Image.Image) -> Image.Image:
    """8-bit RGB of any Pillow mode; deeper grey is scaled to 8 bits, never clipped."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM"):
        image = _from_16_bits(image)
    elif image.mode in ("I", "F"):
        image = _stretched(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_16_bits(image: Image.Image) -> Image.Image:
    import numpy as np

    table = (np.arange(65536) * (255 / 65535)).round().astype(np.uint8)
    values = np.asarray(image)
    grey = Image.fromarray(table[values])
    clear = image.info.get("transparency")
    if isinstance(clear, int):  # a level of 16 bits, which 8 bits cannot tell from its neighbours
        grey.putalpha(Image.fromarray((values != clear).astype(np.uint8) * 255))
    return grey


def _stretched(image: Image.Image) -> Image.Image:
    """Values of no known range, from their least to their greatest; what is no number becomes the least."""
    import numpy as np

    values = np.array(image, dtype=np.float32)  # (H, W)
    finite = np.isfinite(values)
    low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 1.0)
    values[~finite] = low
    values -= low
    values *= 255.0 / max(float(high) - float(low), 1e-9)
    return Image.fromarray(values.round().astype(np.uint8))


def _on_white(image: Image.Image) -> Image.Image:
    rgba = image if image.mode == "RGBA" else image.convert("RGBA")
    white = Image.new("RGB", rgba.size, "white")
    white.paste(rgba, mask=rgba.getchannel("A"))
    return white
