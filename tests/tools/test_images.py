"""Any file becomes one upright RGB picture, or one line that says what to do.

Names such as 1-05 are the cases of public bug reports about images.
"""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fieldmark.errors import DataFault, ToolError
from fieldmark.tools.pictures import images
from fieldmark.trace import Box
from tests.tools.pictures import jpeg, png, rgb, scene

Stage = Callable[..., images.Staged]


@pytest.fixture
def staged(tmp_path: Path) -> Stage:
    def stage(data: bytes, name: str = "飞机 照片 №1.jpg", image_side: int = 2048) -> images.Staged:
        path = tmp_path / name
        path.write_bytes(data)
        return images.stage(path, image_side)

    return stage


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def half_red(size: tuple[int, int] = (240, 160)) -> Image.Image:
    """Left half red, right half white."""
    image = Image.new("RGB", size, "white")
    image.paste((220, 20, 20), (0, 0, size[0] // 2, size[1]))
    return image


def png_header(width: int, height: int) -> bytes:
    body = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunk = struct.pack(">I", len(body)) + b"IHDR" + body + struct.pack(">I", zlib.crc32(b"IHDR" + body))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))
    )


def test_plain_jpeg_keeps_its_bytes_but_no_metadata(staged: Stage) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    data = jpeg(half_red(), exif=exif, comment=b"secret remark", icc_profile=b"secret profile" * 9)
    result = staged(data + b"trailing secret video")
    assert b"secret" not in result.original
    assert result.original == jpeg(half_red())  # not encoded again
    assert result.view == result.original
    assert result.original_meta == images.Meta("image/jpeg", 240, 160)


def test_plain_png_keeps_its_pixels_but_no_metadata(staged: Stage) -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Title", "secret name")
    info.add_itxt("XML:com.adobe.xmp", "secret packet", zip=False)
    result = staged(png(half_red(), pnginfo=info))
    assert b"secret" not in result.original
    assert decoded(result.original).tobytes() == half_red().tobytes()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_the_rotation_tag_is_applied_once(staged: Stage, kind: str, orientation: int) -> None:
    """1-01; stage gives models, crops, OCR and the report one and the same picture."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    half_red().save(buffer, kind, exif=exif)
    head = images.header(buffer.getvalue())
    result = staged(buffer.getvalue())
    turned = orientation >= 5
    assert (head.width, head.height) == ((160, 240) if turned else (240, 160))
    picture = decoded(result.original)
    assert picture.size == (head.width, head.height)
    assert picture.getexif().get(0x0112, 1) == 1
    red_corner = {
        1: (5, 5),
        2: (234, 5),
        3: (234, 5),
        4: (5, 5),
        5: (5, 5),
        6: (5, 5),
        7: (5, 234),
        8: (5, 234),
    }
    red, green, _ = rgb(picture, *red_corner[orientation])
    assert red > 150 > green


def test_type_and_path(staged: Stage) -> None:
    """1-21, 1-23: the type comes from the bytes, and any name will do."""
    assert staged(png(half_red())).original_meta.media_type == "image/png"  # 飞机 照片 №1.jpg
    assert staged(png(half_red()), "really_a_png.jpg").original_meta.media_type == "image/png"


def test_cmyk_keeps_its_colours(staged: Stage) -> None:
    """1-03"""
    picture = decoded(staged(jpeg(half_red().convert("CMYK"))).original)
    red, white = rgb(picture, 20, 80), rgb(picture, 220, 80)
    assert picture.mode == "RGB"
    assert red[0] > 180 > 80 > red[1]
    assert min(white) > 240


RAMP = np.tile(np.linspace(0, 65535, 256).astype(np.uint16), (64, 1))


def pgm(values: np.ndarray[Any, Any]) -> bytes:
    height, width = values.shape
    return b"P5 %d %d 65535\n" % (width, height) + values.astype(">u2").tobytes()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(png(Image.fromarray(RAMP)), id="1-05"),
        pytest.param(saved(Image.fromarray(RAMP), "TIFF"), id="TIFF"),
        pytest.param(saved(Image.fromarray(RAMP.astype(">u2")), "TIFF"), id="TIFF big-endian"),
        pytest.param(saved(Image.fromarray(RAMP.astype(np.int32)), "TIFF"), id="32 bits"),
        pytest.param(saved(Image.fromarray(RAMP.astype(np.float32) / 65535), "TIFF"), id="floating point"),
        pytest.param(pgm(RAMP), id="PGM"),
    ],
)
def test_deep_grey_is_scaled_not_clipped(staged: Stage, data: bytes) -> None:
    picture = np.asarray(decoded(staged(data).original).convert("L"))
    assert len(np.unique(picture)) >= 200
    assert np.all(np.diff(picture[0].astype(int)) >= 0)


def test_a_dark_deep_picture_stays_dark(staged: Stage) -> None:
    for data in (png(Image.fromarray(RAMP // 8)), pgm(RAMP // 8)):
        assert np.asarray(decoded(staged(data).original)).max() <= 32


def test_what_is_no_number_is_no_light(staged: Stage) -> None:
    values = np.linspace(-1, 1, 4000, dtype=np.float32).reshape(50, 80)
    values[0, 0], values[1, 1] = np.nan, np.inf
    picture = np.asarray(decoded(staged(saved(Image.fromarray(values), "TIFF")).original).convert("L"))
    assert (picture[0, 0], picture[1, 1], picture.max()) == (0, 0, 255)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_black_ink_on_nothing_becomes_black_on_white(staged: Stage, mode: str) -> None:
    image = Image.new(mode, (320, 80), 0)
    ImageDraw.Draw(image).rectangle((100, 20, 140, 60), fill=(0,) * (len(mode) - 1) + (255,))
    picture = decoded(staged(png(image)).original)
    assert picture.getpixel((120, 40)) == (0, 0, 0)
    assert picture.getpixel((10, 10)) == (255, 255, 255)


def test_palette_with_a_transparent_colour_is_composited_too(staged: Stage) -> None:
    image = Image.new("P", (60, 40), 0)
    image.putpalette([0, 0, 0, 200, 0, 0])
    image.paste(1, (30, 0, 60, 40))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", transparency=0)
    picture = decoded(staged(buffer.getvalue()).original)
    assert picture.getpixel((5, 5)) == (255, 255, 255)
    assert picture.getpixel((50, 5)) == (200, 0, 0)


def test_a_transparent_level_of_16_bits_is_composited_too(staged: Stage) -> None:
    """1-05 and 1-07 at once: 16 bits, of which one level, and not its neighbour, stands for nothing."""
    values = np.array([[0, 1, 65535]] * 3, np.uint16).repeat(20, axis=0).repeat(20, axis=1)
    data = png(Image.fromarray(values))
    clear = struct.pack(">I4sH", 2, b"tRNS", 0)
    clear += struct.pack(">I", zlib.crc32(clear[4:]))
    picture = decoded(staged(data[:33] + clear + data[33:]).original)
    assert [picture.getpixel((x, 5))[0] for x in (5, 25, 45)] == [255, 0, 255]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "PPM", "JPEG2000"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I", "F"])
def test_every_format_in_every_mode_becomes_rgb(staged: Stage, kind: str, mode: str) -> None:
    """1-25, 1-26: what a format can hold comes out as the same three channels, or the same grey."""
    try:
        data = saved(half_red().convert(mode), kind)
    except (OSError, ValueError):
        return  # no such file can exist
    picture = images.open_upright(staged(data).original)
    grey = np.asarray(picture.convert("L"))
    assert picture.mode == "RGB"
    assert grey[:, :100].mean() < 130
    assert grey[:, 140:].mean() > 240 or (mode, kind) == ("I", "PPM")  # there 255 is of 65535: nearly black


def test_of_an_animation_the_first_frame_is_used_and_said_so(staged: Stage) -> None:
    """1-09"""
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("white", "red", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    result = staged(buffer.getvalue())
    assert result.notes == ("The file has 3 frames (GIF); only the first frame is shown.",)
    assert decoded(result.original).convert("RGB").getpixel((5, 5)) == (255, 255, 255)


def test_a_large_picture_gets_a_smaller_view(staged: Stage) -> None:
    """1-17"""
    result = staged(png(Image.new("RGB", (3000, 1000), "white")), image_side=1500)
    assert result.original_meta == images.Meta("image/png", 3000, 1000)
    assert result.view_meta == images.Meta("image/jpeg", 1500, 500)
    assert decoded(result.view).size == (1500, 500)


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        pytest.param(b"", "empty", "0 bytes", id="1-19"),
        (b"\xef\xbb\xbf\n<!DocType html><p>busy</p>", "unknown_format", "HTML"),
        pytest.param(png_header(20000, 20000), "too_large", "400 megapixels", id="1-15"),
        (png_header(12000, 11000), "too_large", "132 megapixels"),
        pytest.param(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "needs_decoder", "pi-heif", id="1-11"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "needs_decoder", "pi-heif"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "unknown_format", "JPEG XL"),
        (b"%PDF-1.7 ...", "unknown_format", "PDF"),
        (b"hello, this is a text file", "unknown_format", "convert it"),
        (png_header(100, 100), "truncated", "download it again"),
    ],
)
def test_unusable_files_are_refused_in_one_line(staged: Stage, data: bytes, kind: str, says: str) -> None:
    with pytest.raises(DataFault, match=says) as caught:
        staged(data)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)


def test_the_limit_of_pixels_can_be_lowered(tmp_path: Path) -> None:
    """1-15"""
    path = tmp_path / "picture.png"
    path.write_bytes(png(half_red()))
    assert images.stage(path, max_pixels=240 * 160).original_meta.width == 240
    with pytest.raises(DataFault, match=r"0\.0384 megapixels, the limit is 0\.0383"):
        images.stage(path, max_pixels=240 * 160 - 100)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "PPM", "JPEG2000"])
@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
def test_a_truncated_picture_is_refused(staged: Stage, kind: str, share: float) -> None:
    """1-13"""
    data = saved(scene(1), kind)
    with pytest.raises(DataFault) as caught:
        staged(data[: int(len(data) * share)])
    assert caught.value.kind in ("truncated", "unknown_format")
    assert "object at 0x" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow tells of odd tags
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "PPM", "JPEG2000"])
def test_a_damaged_picture_is_read_or_refused_in_one_line(staged: Stage, kind: str) -> None:
    chance, data = random.Random(5), saved(scene(1, (120, 80)), kind)
    said = []
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(4):
            broken[chance.randrange(min(len(broken), 600))] = chance.randrange(256)
        try:
            images.header(bytes(broken))
            staged(bytes(broken))
        except DataFault as fault:
            said.append(str(fault))
    assert said
    assert not [line for line in said if "\n" in line or "object at 0x" in line]


def test_stray_bytes_between_the_segments_of_a_jpeg_do_not_matter(staged: Stage) -> None:
    data = jpeg(half_red())
    tables = data.index(b"\xff\xdb")
    result = staged(data[:tables] + b"\0\0stray" + data[tables:])
    assert decoded(result.original).tobytes() == decoded(data).tobytes()


def test_an_avif_of_a_general_brand_is_not_taken_for_heic() -> None:
    data = saved(half_red(), "AVIF")
    assert data[8:12] == b"avif"
    assert images.header(data[:8] + b"mif1" + data[12:]).format == "AVIF"


@pytest.mark.parametrize("size", [(1, 1), (4000, 10), (6000, 29)])
def test_shapes_that_no_model_takes_are_refused(staged: Stage, size: tuple[int, int]) -> None:
    """1-26, 1-27"""
    with pytest.raises(DataFault, match=f"{size[0]}x{size[1]} px") as caught:
        staged(png(Image.new("RGB", size)))
    assert caught.value.kind == "shape"


def test_a_cut_says_what_it_used(quarters: Image.Image) -> None:
    data, used, size, *_ = images.cut(
        png(quarters), (1999.5, 0, 4100, 1500), scale=0.1, media_type="image/png"
    )
    assert used == (1999.0, 0.0, 4000.0, 1500.0)
    assert size == decoded(data).size == (200, 150)


def test_a_cut_is_bounded() -> None:
    picture = png(Image.new("RGB", (400, 300)))
    _, _, size, *_ = images.cut(picture, None, scale=1000, media_type="image/jpeg", max_side=1024)
    assert size == (1024, 768)


def test_a_cut_can_be_turned() -> None:
    data, _, size, *_ = images.cut(png(half_red()), None, scale=1, media_type="image/png", rotate=90)
    assert size == (160, 240)
    assert rgb(decoded(data), 80, 20)[1] < 100  # the left edge is on top now


@pytest.mark.parametrize(
    ("box", "scale"),
    [((500, 0, 600, 10), 1), ((10, 10, 10, 50), 1), ((0, 0, 100, 100), 0), ((0, 0, 4, 4), 0.01)],
)
def test_an_impossible_cut_is_an_argument_error(box: Box, scale: float) -> None:
    with pytest.raises(ToolError) as caught:
        images.cut(png(half_red()), box, scale=scale, media_type="image/png")
    assert caught.value.kind == "invalid_args"
