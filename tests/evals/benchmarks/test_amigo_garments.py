"""The drawn garments: what their labels say can be told from the pixels, by simple code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from fieldmark.evals.amigo.episode import ImageSet, load_episodes, load_images
from fieldmark.evals.amigo.generating import TAUS, sizes
from fieldmark.evals.benchmarks.amigo_garments.compose import compose

FOLDER = Path(__file__).parents[3] / "evals/benchmarks/amigo_garments"
MIDDLE, SHOULDER, WAIST = 128, 44, 138
Pixels = NDArray[np.int64]
Mask = NDArray[np.bool_]


@pytest.fixture(scope="module")
def garments() -> ImageSet:
    return load_images(FOLDER)


def near(pixels: Pixels, colour: tuple[int, int, int], within: int = 40) -> Mask:
    """Where a picture (H, W, 3) has a colour."""
    found: Mask = np.abs(pixels - np.array(colour)).max(axis=-1) <= within
    return found


def ink(pixels: Pixels) -> Mask:
    return near(pixels, (28, 28, 34), 60)


def ground(pixels: Pixels) -> Mask:
    return near(pixels, (244, 242, 236), 5)


def bottom(pixels: Pixels, x: int) -> int:
    """Of the garment in column x."""
    return int(np.flatnonzero(~ground(pixels[:, x]))[-1])


def waist(p: Pixels) -> str:
    row = p[WAIST - 2 : WAIST + 3, MIDDLE - 28 : MIDDLE - 12]
    if near(row, (104, 62, 30), 25).mean() > 0.5:
        return "belt"
    if near(row, (255, 255, 255), 8).mean() > 0.5:
        return "tie"
    return "elastic" if ink(row).mean() > 0.2 else "none"


def closure(p: Pixels) -> str:
    column = p[113:128, MIDDLE]
    if near(column, (176, 180, 188), 12).mean() > 0.6:
        return "zip"
    if ink(column).mean() > 0.5:
        return "buttons"
    return "wrap" if ink(p[105:128, MIDDLE - 30 : MIDDLE - 5]).any(axis=1).mean() > 0.8 else "none"


def collar(p: Pixels) -> str:
    white = near(p[SHOULDER : SHOULDER + 40, MIDDLE + 8 : MIDDLE + 46], (255, 255, 255), 8)
    if not white.any():
        return "none"
    return "pointed" if white[27:].any() else "rounded"


def neckline(p: Pixels) -> str:
    """By its depth in the middle and 8 px beside, where no collar lies."""
    middle, beside = (int(np.argmin(ground(p[SHOULDER + 2 :, MIDDLE + x]))) for x in (0, 8))
    if middle < 30:
        return "boat" if middle < 16 else "round"
    if abs(middle - beside) < 3:
        return "square"
    return "v" if beside > 29 else "sweetheart"


def hemline(p: Pixels) -> str:
    left, middle, right = bottom(p, MIDDLE - 40), bottom(p, MIDDLE), bottom(p, MIDDLE + 20)
    if right - left > 12 and middle < right:
        return "high_low"
    if middle - left > 12:
        return "pointed"
    edge = [bottom(p, x) for x in range(MIDDLE - 45, MIDDLE - 10)]
    seam = ink(p[min(edge) - 20 : min(edge) - 3, MIDDLE - 45 : MIDDLE - 10]).mean(axis=1).max()
    if seam > 0.95 and max(edge) - min(edge) > 3:
        return "ruffled"
    return "scalloped" if max(edge) - min(edge) > 3 else "straight"


def pockets(p: Pixels) -> str:
    """The one on the right, beside which no wrap passes."""
    right = ink(p[158:178, MIDDLE + 17 : MIDDLE + 37])
    if right[2:18, 16:20].any(axis=1).all() and right[2:18, :4].any(axis=1).all():
        return "patch"
    return "welt" if right.mean() > 0.2 else "none"


def skirt(p: Pixels) -> str:
    if ink(p[180:190, MIDDLE + 36 : MIDDLE + 46]).any(axis=1).mean() > 0.9:
        return "pleated"
    end = min(bottom(p, x) for x in range(MIDDLE - 45, MIDDLE)) - 22
    bands = (ink(p[y : y + 8, MIDDLE + 6 : MIDDLE + 17]) for y in range(150, end - 8))
    return "tiered" if any(band.any(axis=0).all() for band in bands) else "plain"


def slit(p: Pixels) -> str:
    """A gap within the right half of the skirt, above the hem."""
    end = min(bottom(p, x) for x in range(MIDDLE - 45, MIDDLE)) - 3
    for line in p[178:end, MIDDLE : MIDDLE + 56]:
        inside = np.flatnonzero(~ground(line))
        if ground(line[: inside[-1]]).any():
            return "side"
    return "none"


READERS: dict[str, Callable[[Pixels], str]] = {
    "neckline": neckline, "hemline": hemline, "closure": closure, "pockets": pockets, "collar": collar,
    "waist": waist, "skirt": skirt, "slit": slit,
}  # fmt: skip


def test_there_are_a_hundred_small_pictures_of_one_size(garments: ImageSet) -> None:
    files = [FOLDER / each.image for each in garments.images.values()]
    assert len(files) == 100
    assert sum(file.stat().st_size for file in files) < 1_500_000
    assert {Image.open(file).size for file in files} == {(256, 320)}


@pytest.mark.parametrize("kind", READERS)
def test_an_attribute_can_be_read_off_every_picture(garments: ImageSet, kind: str) -> None:
    wrong = []
    for each in garments.images.values():
        pixels: Pixels = np.asarray(Image.open(FOLDER / each.image).convert("RGB")).astype(np.int64)
        said = READERS[kind](pixels)
        if [said] != each.attributes[kind]:
            wrong.append((each.id, said, each.attributes[kind]))
    assert wrong == []


def test_no_two_are_alike_in_what_may_be_asked(garments: ImageSet) -> None:
    asked = Counter(
        tuple((k, *v) for k, v in each.attributes.items() if k in garments.lexicon.types)
        for each in garments.images.values()
    )
    assert max(asked.values()) == 1


def test_every_label_has_words(garments: ImageSet) -> None:
    lexicon = garments.lexicon
    assert lexicon.noun == "garment"
    for each in garments.images.values():
        for kind, values in each.attributes.items():
            assert kind in {**lexicon.types, **lexicon.prohibited}
            assert kind in lexicon.prohibited or {*values} <= {*lexicon.types[kind].values, "none"}


def test_the_script_makes_what_is_committed(garments: ImageSet, tmp_path: Path) -> None:
    (tmp_path / "lexicon.toml").write_text((FOLDER / "lexicon.toml").read_text())
    compose(tmp_path)
    for name in ("images.jsonl", "episodes.jsonl"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
    for each in list(garments.images.values())[::20]:
        drawn, kept = (np.asarray(Image.open(at / each.image).convert("RGB")) for at in (tmp_path, FOLDER))
        assert np.array_equal(drawn, kept)


def test_there_are_episodes_at_every_threshold(garments: ImageSet) -> None:
    episodes = load_episodes(FOLDER / "episodes.jsonl", garments)
    for tau in TAUS:
        found = sizes(tau, episodes)
        assert found.episodes >= 50
        assert found.least is not None
        assert found.least > 6
