"""Compose the aircraft pictures of fieldmark-mini: a drawn airliner, a drawn registration, seeded.

    python -m fieldmark.evals.benchmarks.fieldmark_mini.compose [FOLDER]

No photograph with a readable registration was to be had under a usable licence, so these are drawings and
say so (`composed: true`). The committed JPEGs came from this script; it needs Pillow and numpy alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from fieldmark.evals.benchmarks.fieldmark_mini.drawing import Airliner, Colour, draw_airliner

HERE = Path(__file__).resolve().parent
Pixels = NDArray[np.float64]


@dataclass(frozen=True)
class Scene:
    """One picture. `angle` in degrees, anticlockwise; `blur` and `noise` in pixels and grey levels.

    `photo` is a box (left, top, right, bottom) of the mountain photo, the backdrop instead of a drawn sky.
    """

    file: str
    plane: Airliner
    size: tuple[int, int]
    angle: float
    blur: float = 0.6
    noise: float = 3.0
    quality: int = 88
    sky: tuple[Colour, Colour] = ((92, 146, 206), (196, 218, 236))
    photo: tuple[int, int, int, int] | None = None


MARGIN = 300
BACKDROP = "images/m14.jpg"  # Picos de Europa, Aitzol Berasategi, CC-BY-4.0
BLUE, CRIMSON, AMBER, NAVY = (52, 84, 168), (200, 60, 44), (226, 164, 40), (20, 44, 130)
WHITE, GREY, MAUVE = (246, 248, 250), (96, 102, 112), (150, 92, 150)
OVERCAST = ((120, 128, 140), (206, 208, 210))
HAZE = ((140, 170, 200), (226, 232, 238))
EVENING = ((60, 96, 160), (232, 196, 160))
DUSK = ((40, 54, 92), (224, 150, 110))
SCENES = (
    Scene(
        "images/m27.jpg",
        Airliner("N8710M", 34, (110, 560), 1390, 176, BLUE, CRIMSON, AMBER, WHITE),
        (1600, 1000), 4, 0.6, 3.0, 90,
    ),
    Scene(
        "images/m28.jpg",
        Airliner("D-AIMA", 54, (-1180, 640), 2700, 380, accent=(16, 34, 78), text_at=(0.72, 0.13)),
        (2000, 1200), -6, 0.9, 4.0, 86,
    ),
    Scene(
        "images/m29.jpg",
        Airliner("G-EUUU", 20, (1390, 470), -1180, 138, belly=NAVY, accent=CRIMSON, text_at=(0.735, 0.17)),
        (1500, 900), 9, 0.5, 2.5, 92, photo=(0, 0, 1600, 960),
    ),
    Scene(
        "images/m30.jpg",
        Airliner("B-18901", 38, (130, 700), 1580, 205, accent=MAUVE, cheatline=True, text_at=(0.74, 0.175)),
        (1800, 1200), -12, 0.7, 5.0, 85, OVERCAST,
    ),
    Scene(
        "images/m31.jpg",
        Airliner("VH-OQA", 60, (3150, 700), -2650, 400, accent=(196, 24, 36), text_at=(0.725, 0.12)),
        (2200, 1400), 15, 1.1, 4.0, 84, EVENING,
    ),
    Scene(
        "images/m32.jpg",
        Airliner("F-GSQB", 26, (1490, 610), -1330, 168, accent=NAVY, ink=GREY),
        (1600, 1100), -15, 0.8, 6.0, 80, photo=(200, 100, 1600, 1062),
    ),
    Scene(
        "images/m33.jpg",
        Airliner("PH-BFA", 44, (-860, 520), 2350, 330, (78, 164, 220), (236, 238, 240), (20, 60, 130), WHITE),
        (1900, 1100), 7, 1.2, 7.0, 78,
    ),
    Scene(
        "images/m34.jpg",
        Airliner("JA801A", 17, (70, 420), 1080, 132, accent=NAVY, cheatline=True, text_at=(0.738, 0.17)),
        (1250, 820), 3, 0.5, 3.0, 90, HAZE,
    ),
    Scene(
        "images/m35.jpg",
        Airliner("9V-SKA", 30, (1660, 640), -1490, 190, accent=AMBER, text_at=(0.735, 0.16)),
        (1750, 1100), -9, 0.8, 4.0, 84, DUSK,
    ),
    Scene(
        "index/x13.jpg",
        Airliner("", 20, (1090, 450), -940, 124, accent=(40, 110, 90)),
        (1200, 800), 6, 0.7, 3.0, 85,
    ),
)  # fmt: skip


def render(scene: Scene) -> Image.Image:
    """The picture before JPEG: RGB of `scene.size`. The same scene gives the same pixels."""
    rng = np.random.default_rng(list(scene.file.encode()))
    backdrop = _photo(scene) if scene.photo else _sky(scene, rng)
    layer = _airliner(scene)
    backdrop.paste(layer, (0, 0), layer)
    picture = backdrop.filter(ImageFilter.GaussianBlur(scene.blur))
    return _with_noise(picture, scene.noise, rng)


def _airliner(scene: Scene) -> Image.Image:
    """The rotated airliner, drawn with a margin so that the turn brings no cut edge into the picture."""
    (x, y), (width, height) = scene.plane.nose, scene.size
    plane = replace(scene.plane, nose=(x + MARGIN, y + MARGIN))
    layer = draw_airliner(plane, (width + 2 * MARGIN, height + 2 * MARGIN))
    turned = layer.rotate(scene.angle, Image.Resampling.BICUBIC)
    return turned.crop((MARGIN, MARGIN, MARGIN + width, MARGIN + height))


def _photo(scene: Scene) -> Image.Image:
    with Image.open(HERE / BACKDROP) as photo:
        cut = photo.convert("RGB").crop(scene.photo).resize(scene.size, Image.Resampling.LANCZOS)
    return cut.filter(ImageFilter.GaussianBlur(3))


def _sky(scene: Scene, rng: np.random.Generator) -> Image.Image:
    width, height = scene.size
    down = np.linspace(0, 1, height)[:, None, None]
    high, low = (np.array(colour, float) for colour in scene.sky)
    sky = (1 - down) * high + down * low
    cover = np.clip(_clouds(width, height, rng) - 0.52, 0, 1)[:, :, None] * 1.6
    return Image.fromarray(np.clip(sky * (1 - cover) + 246 * cover, 0, 255).astype(np.uint8))


def _clouds(width: int, height: int, rng: np.random.Generator) -> Pixels:
    """Soft noise in 0..1, `(height, width)`: octaves of small random grids, each blown up."""
    total = np.zeros((height, width))
    for octave in range(5):
        grid = rng.random((3 * 2**octave, 4 * 2**octave)) * 255
        blown = Image.fromarray(grid.astype(np.uint8)).resize((width, height), Image.Resampling.BICUBIC)
        total += np.asarray(blown, float) / 255 * 0.5 ** (octave + 1)
    return total


def _with_noise(picture: Image.Image, sigma: float, rng: np.random.Generator) -> Image.Image:
    pixels = np.asarray(picture, float)
    noisy = pixels + rng.normal(0, sigma, pixels.shape)
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


def main(folder: Path = HERE) -> None:
    """Write every composed picture below `folder`."""
    for scene in SCENES:
        target = folder / scene.file
        target.parent.mkdir(parents=True, exist_ok=True)
        render(scene).save(target, quality=scene.quality)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
