"""Copies of photos among other pictures: how many are found and verified, and what is falsely taken for one.

Each photo is searched for, as `fieldmark curate leakage` does, in one index that holds every photo in each
changed form, other views of some, and the distractors; a distractor or another photo's copy that is verified
is a false one. The thresholds are chosen on half of the files and tried on the others.

    .venv/bin/python -m benchmarks.leakage --photos FOLDER … --distractors FOLDER … --write
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import cv2
from PIL import Image, ImageFilter, ImageOps
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks._changes import Change, encoded, overlaid, part, screenshot, squeezed, toned
from benchmarks._leakage_pictures import Photo, distractors, photos, views
from benchmarks._tables import DOCS, markdown, write_section
from fieldmark.evals.curation.leakage.finding import MOST
from fieldmark.evals.curation.leakage.verifying import Picture, likeness
from fieldmark.evals.curation.settings import LeakageSettings
from fieldmark.tools.image_index.building import build
from fieldmark.tools.image_index.local_index import LocalIndex

PROCESSES = 2
MARGIN = 0.1
"""Between the highest score of a stranger and a copy: in between a picture is in doubt."""
SCREENSHOT = "screenshot in a page"
CHANGES: dict[str, Change] = {
    "crop to 40 % of the area": lambda image: part(image, 0.4),
    "rotation 20°": lambda image: image.rotate(20, Image.Resampling.BICUBIC, expand=True),
    "flip": ImageOps.mirror,
    "overlay": overlaid,
    "colour": toned,
    "JPEG q10": squeezed,
    "blur (radius 1/200 of the side)": lambda i: i.filter(ImageFilter.GaussianBlur(max(i.size) / 200)),
    SCREENSHOT: screenshot,
}
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Kind = Literal["copy", "view", "stranger"]


@dataclass(frozen=True)
class Pair:
    """A hit that was compared. `theirs`: its file's name; `change`: what was done to the picture, "" nothing;
    `file` is that of the photo which was searched for.
    """

    photo: str
    file: int
    theirs: str
    kind: Kind
    change: str
    rank: int
    score: float


def lay_out(folder: Path, shown: list[Photo], others: list[Image.Image]) -> None:
    """Everything that can be found, and the photos themselves in `ours`; an index over what can be found."""
    found = folder / "found"
    found.mkdir()
    (folder / "ours").mkdir()
    for photo in shown:
        (folder / "ours" / f"{photo.name}.png").write_bytes(encoded(photo.image))
    for (number, change), photo in product(enumerate(CHANGES.values()), shown):
        (found / f"{photo.name}+{number}.png").write_bytes(encoded(change(photo.image)))
    for name, image in views().items():
        (found / f"{name}+view.png").write_bytes(encoded(image))
    for number, image in enumerate(others):
        (found / f"other{number}+.png").write_bytes(encoded(image))
    build(found)


def search(folder: Path, asked: tuple[str, int]) -> list[Pair]:
    """The hits of one photo, compared; runs in a process of its own."""
    photo, file = asked
    index, picture = _opened(folder)
    ours = Picture((folder / "ours" / f"{photo}.png").read_bytes())
    pairs = []
    for hit in index.search(ours.views, MOST):
        whose, _, what = hit.entity.rpartition("+")
        own = whose == photo
        kind: Kind = "stranger"
        if what == "view":
            kind = "view" if own or photo.startswith(f"{whose}-") else "stranger"
        elif own:
            kind = "copy"
        change = list(CHANGES)[int(what)] if what.isdigit() else ""
        score = likeness(ours, picture(hit.image)).score
        pairs.append(Pair(photo, file, hit.entity, kind, change, hit.rank, score))
    return pairs


@lru_cache(maxsize=1)
def _opened(folder: Path) -> tuple[LocalIndex, Any]:
    """The index, and its pictures as both sides of a comparison need them, some of them kept."""
    cv2.setNumThreads(1)
    index = LocalIndex.open(folder / "found")
    return index, lru_cache(maxsize=150)(lambda reference: Picture(index.picture(reference)))


def search_all(shown: list[Photo], others: list[Image.Image]) -> list[Pair]:
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        lay_out(folder, shown, others)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
            found = pool.map(partial(search, folder), [(photo.name, photo.file) for photo in shown])
            console = Console(stderr=True)
            return [pair for pairs in track(found, "photos", len(shown), console=console) for pair in pairs]


def thresholds(pairs: list[Pair]) -> tuple[float, float]:
    """(copy_from, doubt_from): the highest score of a stranger, to the next 0.05, and MARGIN above it."""
    highest = max(pair.score for pair in pairs if pair.kind == "stranger")
    doubt = math.floor(highest * 20 + 1) / 20
    return round(doubt + MARGIN, 2), round(doubt, 2)


def recall_table(pairs: list[Pair], count: int, copy_from: float, doubt_from: float) -> Table:
    """A row a change: among the hits at all, verified, in doubt; then others, in numbers."""
    shown = Table("change", "among the hits", "verified of these", "copy", "in doubt", title="recall")
    for name in CHANGES:
        own = [pair.score for pair in pairs if pair.kind == "copy" and pair.change == name]
        sure = sum(score >= copy_from for score in own)
        doubt = sum(doubt_from <= score < copy_from for score in own)
        of = (len(own) / count, sure / max(1, len(own)), sure / count, doubt / count)
        shown.add_row(name, *(f"{value:.3f}" for value in of))
    for kind, said in (("stranger", "*strangers*"), ("view", "*other views*")):
        scores = [pair.score for pair in pairs if pair.kind == kind]
        sure, unsure = (sum(score >= at for score in scores) for at in (copy_from, doubt_from))
        shown.add_row(said, f"{len(scores)} pairs", "", str(sure), str(unsure - sure))
    return shown


def roc(pairs: list[Pair], count: int) -> list[dict[str, Any]]:
    """At each threshold: recall of all changes but the screenshot, and of it; false ones of all strangers."""
    strangers = [pair.score for pair in pairs if pair.kind == "stranger"]
    rows = []
    for at in (step / 100 for step in range(5, 100)):
        false = sum(score >= at for score in strangers)
        own = [pair for pair in pairs if pair.kind == "copy" and pair.score >= at]
        page = sum(pair.change == SCREENSHOT for pair in own)
        for what, recall in (
            ("all but the screenshot", (len(own) - page) / count / (len(CHANGES) - 1)),
            ("screenshot in a page", page / count),
        ):
            rows.append({"at": at, "what": what, "recall": recall, "false": false, "of": len(strangers)})
    return rows


def roc_table(rows: list[dict[str, Any]]) -> Table:
    shown = Table("score from", "recall", "recall, screenshot", "false", title="ROC")
    for plain, page in zip(rows[::2], rows[1::2], strict=True):
        if round(plain["at"] * 100) % 10 == 0 or plain["at"] in (0.15, 0.25, 0.35, 0.45):
            false = f"{plain['false']} of {plain['of']}"
            shown.add_row(f"{plain['at']:.2f}", f"{plain['recall']:.3f}", f"{page['recall']:.3f}", false)
    return shown


def plot(rows: list[dict[str, Any]], settings: LeakageSettings, path: Path) -> None:
    """The ROC, and beside it both rates against the threshold, as an SVG."""
    import vl_convert

    rates = [{**row, "rate": row["false"] / row["of"]} for row in rows]
    false = [{**row, "what": "strangers", "recall": row["rate"]} for row in rates[::2]]
    recall = {"field": "recall", "type": "quantitative", "scale": {"domain": [0, 1]}}
    colour = {"field": "what", "type": "nominal", "title": None}
    size = {"width": 300, "height": 220}
    marks = [{"at": settings.doubt_from}, {"at": settings.copy_from}]
    curve = {
        **size,
        "data": {"values": rates},
        "mark": {"type": "line", "point": {"size": 12}, "interpolate": "step-after"},
        "encoding": {
            "x": {"field": "rate", "type": "quantitative", "title": "false rate (strangers that are hits)"},
            "y": {**recall, "title": "recall"},
            "order": {"field": "at"},
            "color": colour,
        },
    }
    against = {
        **size,
        "layer": [
            {
                "data": {"values": [*rates, *false]},
                "mark": "line",
                "encoding": {
                    "x": {"field": "at", "type": "quantitative", "title": "threshold of the score"},
                    "y": {**recall, "title": "share with such a score"},
                    "color": colour,
                },
            },
            {
                "data": {"values": marks},
                "mark": {"type": "rule", "strokeDash": [4, 4]},
                "encoding": {"x": {"field": "at", "type": "quantitative"}},
            },
        ],
    }
    spec = {"$schema": SCHEMA, "background": "white", "hconcat": [curve, against]}
    path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def notable(pairs: list[Pair], shown: list[Photo], copy_from: float) -> Iterator[str]:
    """What is to be looked at: copies that were not found or not verified, and the strangers most alike."""
    scores = {(pair.photo, pair.change): pair.score for pair in pairs if pair.kind == "copy"}
    for name, photo in product(CHANGES, shown):
        score = scores.get((photo.name, name))
        if score is None or score < copy_from:
            yield f"{name}: {photo.name} " + ("is not among the hits" if score is None else f"{score:.2f}")
    for kind in ("stranger", "view"):
        others = sorted((pair for pair in pairs if pair.kind == kind), key=lambda pair: -pair.score)
        yield from (f"{kind}: {pair.photo} and {pair.theirs} {pair.score:.2f}" for pair in others[:10])


def report(pairs: list[Pair], shown: list[Photo], said: str, *, write: bool) -> None:
    """Print everything, and with `write` put the figures into the documentation."""
    settings, console = LeakageSettings(), Console(width=110)
    for line in notable(pairs, shown, settings.copy_from):
        console.print(line)
    rows = roc(pairs, len(shown))
    tables = [recall_table(pairs, len(shown), settings.copy_from, settings.doubt_from), roc_table(rows)]
    copy_from, doubt_from = thresholds([pair for pair in pairs if pair.file % 2 == 0])
    rest = sum(photo.file % 2 for photo in shown)
    held = recall_table([pair for pair in pairs if pair.file % 2], rest, copy_from, doubt_from)
    told = f"{rest} photos, with {copy_from} and {doubt_from} as the other files alone set them"
    console.print(said, *tables, told, held, sep="\n")
    if write:
        plot(rows, settings, DOCS / "leakage.svg")
        text = [f"{said}.", *map(markdown, tables), f"Held out, every second file: {told}.", markdown(held)]
        write_section("leakage", "\n\n".join(text), "curate-leakage.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--photos", type=Path, nargs="*", default=[], help="folders of photos of your own")
    parser.add_argument("--distractors", type=Path, nargs="*", default=[], help="folders of other pictures")
    parser.add_argument("--only", type=int, help="so many photos, for a first look")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/curate-leakage.md")
    options = parser.parse_args()
    shown = photos(options.photos)[: options.only]
    others, drawn = distractors(options.distractors)
    pairs = search_all(shown, others)
    report(pairs, shown, told_of(shown, len(others), drawn), write=options.write)


def told_of(shown: list[Photo], others: int, drawn: int) -> str:
    files = len({photo.file for photo in shown})
    pictures = f"{len(shown)} photos of {files} files × {len(CHANGES)} changes"
    return f"{pictures}, {len(views())} other views, {others} distractors ({drawn} of them rendered)"


if __name__ == "__main__":
    main()
