"""Copies of photos among other pictures: how many are found and verified, and what is falsely taken for one.

Each photo is searched for, as `fieldmark curate leakage` does, in one index that holds every photo in each
changed form, and the distractors; a distractor or another photo's copy that is verified is a false one.
Photos whose longer side is over 1,400 px are cut into quarters that share no pixel and count as photos of
their own; quarters that are left over are distractors, the hardest ones: same place, light and camera.
Rendered pictures fill up.

    .venv/bin/python -m benchmarks.leakage --photos FOLDER … --distractors FOLDER … --write
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks._tables import write_section
from benchmarks.image_search import MINI, encoded, markdown, rendered
from benchmarks.image_search import _overlaid as overlaid
from benchmarks.image_search import _part as part
from benchmarks.image_search import _screenshot as screenshot
from benchmarks.image_search import _squeezed as squeezed
from fieldmark.errors import DataFault
from fieldmark.evals.curation.leakage.finding import MOST
from fieldmark.evals.curation.leakage.verifying import Picture, likeness
from fieldmark.evals.curation.settings import LeakageSettings
from fieldmark.tools.image_index.building import build
from fieldmark.tools.image_index.features import describe
from fieldmark.tools.image_index.hashing import SAME_BITS, distance
from fieldmark.tools.image_index.local_index import LocalIndex
from fieldmark.tools.pictures.upright import open_upright

LARGE, SMALL = 1400, 200
PHOTOS, DISTRACTORS = 64, 200
PICTURES = {".jpg", ".jpeg", ".png", ".webp"}
OTHER_VIEWS = {"box_in_scene.png"}
"""Another photo of what a photo shows: neither a copy nor a stranger."""


def toned(image: Image.Image) -> Image.Image:
    """Warmer, paler and brighter, as filters of phones make it."""
    red, green, blue = ImageEnhance.Color(image).enhance(0.5).split()
    warm = Image.merge("RGB", (red.point(lambda v: min(255, v + 30)), green, blue.point(lambda v: v * 0.8)))
    return ImageEnhance.Contrast(ImageEnhance.Brightness(warm).enhance(1.2)).enhance(1.3)


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "crop to 40 % of the area": lambda image: part(image, 0.4),
    "rotation 20°": lambda image: image.rotate(20, Image.Resampling.BICUBIC, expand=True),
    "flip": ImageOps.mirror,
    "overlay": overlaid,
    "colour": toned,
    "JPEG q10": squeezed,
    "blur (radius 1/200 of the side)": lambda i: i.filter(ImageFilter.GaussianBlur(max(i.size) / 200)),
    "screenshot in a page": screenshot,
}


@dataclass(frozen=True)
class Pair:
    """A hit that was compared. `change`: what was done to it, None for a distractor; `own`: it is a copy of
    the photo searched for.
    """

    change: str | None
    photo: int
    rank: int
    own: bool
    score: float


def files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURES)


def opened(path: Path) -> Image.Image | None:
    """RGB on white; None: unreadable, too small, or another view."""
    try:
        image = open_upright(path.read_bytes())
    except DataFault:
        return None
    return image if max(image.size) >= SMALL and path.name not in OTHER_VIEWS else None


def quarters(image: Image.Image) -> list[Image.Image]:
    """The four quarters of a large picture; a smaller one whole."""
    width, height = (side // 2 for side in image.size)
    if max(image.size) < LARGE:
        return [image]
    corners = [(0, 0), (width, height), (width, 0), (0, height)]
    return [image.crop((x, y, x + width, y + height)) for x, y in corners]


def photos(folders: list[Path]) -> tuple[list[Image.Image], list[Image.Image]]:
    """(photos, what is left over), each once: near duplicates by their hash are left out."""
    firsts, rest, hashes = [], [], []
    for path in files(folders):
        image = opened(path)
        if image is None:
            continue
        known = describe(encoded(image)).hash
        if any(distance(known, other) <= SAME_BITS for other in hashes):
            continue
        hashes.append(known)
        parts = quarters(image)
        firsts.append(parts[:1])
        rest.append(parts[1:])
    chosen = [one for group in firsts for one in group]
    more = [group.pop(0) for group in rest if group] + [group.pop(0) for group in rest if group]
    wanted = max(0, PHOTOS - len(chosen))
    return chosen[:PHOTOS] + more[:wanted], chosen[PHOTOS:] + more[wanted:] + [i for g in rest for i in g]


def distractors(folders: list[Path], begun: list[Image.Image]) -> tuple[list[Image.Image], int]:
    """DISTRACTORS pictures, and how many of them are rendered."""
    real = [*begun, *(image for path in files(folders) if (image := opened(path)))][:DISTRACTORS]
    drawn = [rendered(seed) for seed in range(DISTRACTORS - len(real))]
    return [*real, *drawn], len(drawn)


def search_all(shown: list[Image.Image], others: list[Image.Image]) -> list[Pair]:
    """Every photo, searched for once in one index that holds it in each changed form."""
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        for name, (number, image) in product(CHANGES, enumerate(shown)):
            (folder / f"{number}-{name.partition(' ')[0]}.png").write_bytes(encoded(CHANGES[name](image)))
        for number, image in enumerate(others):
            (folder / f"other-{number}.png").write_bytes(encoded(image))
        build(folder)
        index = LocalIndex.open(folder)
        picture = lru_cache(maxsize=100)(lambda reference: Picture(index.picture(reference)))
        names = {name.partition(" ")[0]: name for name in CHANGES}
        found = []
        for photo, image in enumerate(track(shown, "photos", console=Console(stderr=True), transient=True)):
            data = encoded(image)
            ours = Picture(data)
            for hit in index.query(data, MOST):
                whose, _, change = hit.entity.partition("-")
                score = likeness(ours, picture(hit.image)).score
                found.append(Pair(names.get(change), photo, hit.rank, whose == str(photo), score))
        return found


def table(pairs: list[Pair], count: int, settings: LeakageSettings) -> Table:
    """A row a change: found at all, verified, left in doubt; then the same of strangers, in numbers."""
    shown = Table("change", "among the hits", "copy", "in doubt", title="recall")
    for name in CHANGES:
        own = [pair.score for pair in pairs if pair.change == name and pair.own]
        sure = sum(score >= settings.copy_from for score in own)
        doubt = sum(settings.doubt_from <= score < settings.copy_from for score in own)
        shown.add_row(name, f"{len(own) / count:.3f}", f"{sure / count:.3f}", f"{doubt / count:.3f}")
    false = [pair.score for pair in pairs if not pair.own]
    wrong, unsure = (sum(score >= at for score in false) for at in (settings.copy_from, settings.doubt_from))
    shown.add_row("*strangers that were hits*", str(len(false)), str(wrong), str(unsure - wrong))
    return shown


def roc(pairs: list[Pair], count: int) -> Table:
    """At each threshold: recall over all changes, over all but the screenshot, and false ones."""
    shown = Table("score from", "recall", "recall without screenshots", "false", title="ROC")
    last = list(CHANGES)[-1]
    strangers = [pair for pair in pairs if not pair.own]
    for at in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        own = [pair for pair in pairs if pair.own and pair.score >= at]
        plain = sum(pair.change != last for pair in own)
        false = sum(pair.score >= at for pair in strangers)
        recall, without = len(own) / (count * len(CHANGES)), plain / (count * (len(CHANGES) - 1))
        shown.add_row(f"{at:.2f}", f"{recall:.3f}", f"{without:.3f}", f"{false} of {len(strangers)}")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, nargs="*", default=[], help="folders of photos of your own")
    parser.add_argument("--distractors", type=Path, nargs="*", default=[], help="folders of other pictures")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/curate-leakage.md")
    options = parser.parse_args()
    shown, rest = photos([MINI / "images", MINI / "index", *options.photos])
    others, drawn = distractors(options.distractors, rest)
    console = Console(width=120)
    pairs = search_all(shown, others)
    tables = [table(pairs, len(shown), LeakageSettings()), roc(pairs, len(shown))]
    for one in tables:
        console.print(one)
    parts = min(len(rest), len(others))
    told = f"{parts} parts of the same photos, {drawn} rendered"
    said = f"{len(shown)} photos, {len(others)} distractors ({told})"
    console.print(said)
    if options.write:
        text = f"{said}.\n\n" + "\n\n".join(markdown(one) for one in tables)
        write_section("leakage", text, "curate-leakage.md")


if __name__ == "__main__":
    main()
