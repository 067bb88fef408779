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
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        raise DataFault(
            f"the {image.format} is truncated or damaged: {error}; download it again", kind="truncated"
        ) from None
    rgb = to_rgb(image)
    return rgb.transpose(_TURNS[turn]) if turn in _TURNS else rgb


def to_rgb(image: Image.Image) -> Image.Image:
    """8-bit RGB of any Pillow mode; 16-bit grey is scaled to 8 bits, never clipped."""
    if image.mode.startswith("I;16"):
        image = _scaled(image, 0.0, 65535.0)
    elif image.mode in ("I", "F"):
        low, high = (float(value) for value in image.getextrema())  # type: ignore[arg-type]
        image = _scaled(image, low, high)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _scaled(image: Image.Image, low: float, high: float) -> Image.Image:
    import numpy as np

    values = np.asarray(image, dtype=np.float32)  # (H, W)
    span = max(high - low, 1e-9)
    return Image.fromarray(((values - low) * (255.0 / span)).round().clip(0, 255).astype(np.uint8))


def _on_white(image: Image.Image) -> Image.Image:
    rgba = image.convert("RGBA")
    white = Image.new("RGBA", rgba.size, "white")
    return Image.alpha_composite(white, rgba).convert("RGB")
