"""Reverse image search in a local index: what is found again after each change of a picture, what is
falsely verified, ms per query and memory in large indexes.

Photos of fieldmark-mini are hidden among rendered pictures; other photos of it, in no index, show false
positives. The baselines answer by their nearest picture alone, which is generous to them. The large
indexes are of the same files as a real one: the photos, and invented pictures made of key points of
pictures that are really there. `--full` adds the index of a million.

    make bench    or    .venv/bin/python -m benchmarks.image_search --full --write
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter, ImageOps
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks._changes import Change, encoded, overlaid, part, rendered, screenshot, squeezed
from benchmarks._tables import markdown, write_section
from fieldmark.tools.image_index.arrays import Arrays, write_arrays
from fieldmark.tools.image_index.building import HOME, STORE, Built, build
from fieldmark.tools.image_index.candidates import candidates
from fieldmark.tools.image_index.features import Features, describe, describe_both
from fieldmark.tools.image_index.hashing import SAME_BITS
from fieldmark.tools.image_index.local_index import LocalIndex
from fieldmark.tools.image_index.store import WORD_POINTS, Row, Store
from fieldmark.tools.image_index.words import Words
from fieldmark.tools.pictures.upright import open_upright
from fieldmark.tools.reverse_image_search import VERIFIED

MINI = Path(__file__).parents[1] / "evals" / "benchmarks" / "fieldmark_mini"
PLANTED = sorted((MINI / "images").glob("m[012]*"))[:24]  # the photos; from m27 on they are drawings
STRANGERS = [p for p in sorted((MINI / "index").glob("x*")) if p.stem > "x06" and p.stem != "x13"]
BATCH = 5_000
MEMORY = 2 * 2**30  # as in the host's worker processes


def _blurred(image: Image.Image) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(max(image.size) / 256))


CHANGES: dict[str, Change] = {
    "as it is": lambda image: image,
    "crop to 50 % of the area": lambda image: part(image, 0.5),
    "crop to 25 %": lambda image: part(image, 0.25),
    "JPEG q10": squeezed,
    "blur (radius 1/256 of the side)": _blurred,
    "flip": ImageOps.mirror,
    "rotation 10°": lambda image: image.rotate(10, Image.Resampling.BICUBIC, expand=True),
    "rotation 90°": lambda image: image.rotate(90, expand=True),
    "flip + crop to 50 %": lambda image: ImageOps.mirror(part(image, 0.5)),
    "overlay": overlaid,
    "screenshot": screenshot,
}


AT_SCALE = ("crop to 50 % of the area", "JPEG q10", "flip", "overlay", "screenshot")


def changed(path: Path, change: Change) -> bytes:
    return encoded(change(open_upright(path.read_bytes())))


# --- what is found ------------------------------------------------------------------------------------


@dataclass
class Nearest:
    """A baseline: the nearest of `codes` (N, …) is its answer, said to be the same from `same` down."""

    name: str
    code: Callable[[bytes, Features], Any]
    apart: Callable[[Any, Any], Any]
    same: float
    codes: Any = None

    def best(self, data: bytes, features: Features) -> tuple[int, bool]:
        apart = self.apart(self.codes, self.code(data, features))
        return int(apart.argmin()), bool(apart.min() <= self.same)


def dhash(data: bytes, features: Features) -> Any:
    grey = np.asarray(open_upright(data).convert("L").resize((9, 8), Image.Resampling.LANCZOS), np.int16)
    return (grey[:, 1:] > grey[:, :-1]).ravel()


def baselines(paths: list[Path]) -> list[Nearest]:
    found = [
        Nearest("dHash", dhash, lambda codes, code: (codes != code).sum(axis=1), 10),
        Nearest(
            "pHash",
            lambda data, features: features.hash,
            lambda codes, code: np.bitwise_count(codes ^ code).sum(axis=1),
            SAME_BITS,
        ),
        Nearest(
            "global vector", lambda data, features: features.look, lambda codes, code: 1 - codes @ code, 0.1
        ),
    ]
    known = [(data, describe(data)) for data in (path.read_bytes() for path in paths)]
    for one in found:
        one.codes = np.stack([one.code(*item) for item in known])
    return found


def quality(index: LocalIndex, paths: list[Path], strangers: list[Path]) -> list[list[str]]:
    """A row a change: recall at 1 of each method, and of ours when verified; then false positives."""
    methods = baselines(paths)
    rows, falsely = [], np.zeros(len(methods) + 1, int)
    for name, change in track(CHANGES.items(), "changes", console=Console(stderr=True), transient=True):
        found = np.zeros(len(methods) + 2)
        for path in PLANTED:
            data = changed(path, change)
            views = describe_both(data)
            hit = index.search(views, 1)[0]
            named = [paths[one.best(data, views[0])[0]].stem for one in methods] + [hit.entity]
            right = [name == path.stem for name in named]
            found += [*right, right[-1] and hit.score >= VERIFIED]
        for path in strangers:
            data = changed(path, change)
            views = describe_both(data)
            hit = index.search(views, 1)[0]
            falsely += [*(one.best(data, views[0])[1] for one in methods), hit.score >= VERIFIED]
        rows.append([name, *(f"{value:.2f}" for value in found / len(PLANTED))])
    asked = len(strangers) * len(CHANGES)
    wrong = [f"{value} of {asked}" for value in falsely]
    return [*rows, ["false positives", *wrong[:-1], "", wrong[-1]]]


# --- large indexes ------------------------------------------------------------------------------------


def invented(real: list[Row], count: int) -> Iterator[Row]:
    """Pictures made of key points of `real` ones, each signature 8 bits off, and of mixed looks."""
    random = np.random.default_rng(3)
    words = np.concatenate([row.words.words for row in real])
    signatures = np.concatenate([row.words.signatures for row in real])
    looks = np.stack([row.look for row in real]).astype(np.float32)
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        chosen = random.integers(0, len(words), (len(numbers), WORD_POINTS))
        bits = random.integers(0, 2**64, (3, *chosen.shape), np.uint64)
        near = signatures[chosen] ^ np.bitwise_and.reduce(bits)
        one, two = random.integers(0, len(real), (2, len(numbers)))
        mixed = looks[one] + looks[two] + random.normal(0, 0.05, (len(numbers), looks.shape[1]))
        mixed = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float16)
        hashes = random.integers(0, 2**64, (len(numbers), 4), np.uint64)
        for at, number in enumerate(numbers):
            like = real[one[at]].id
            yield Row(like, f"invented {number}", mixed[at], hashes[at], Words(words[chosen[at]], near[at]))


def enlarge(home: Path, count: int) -> None:
    """Fill the index in `home` up to `count` pictures; a candidate's key points are those of a real one."""
    with closing(Store(home / STORE, writable=True)) as store:
        rows = list(store.rows())
        planted = {path.stem for path in PLANTED}
        others = [row for row in rows if row.entity not in planted]
        name = f"arrays-{count}"
        write_arrays(home / name, count, lambda: chain(rows, invented(others, count - len(rows))))
        store.publish(name, "..")


def speed(home: Path) -> list[str]:
    """In a process as limited as the host's: a row of the table of large indexes."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    index = LocalIndex(home)
    peak = PrivateMemory()
    times, found = [], 0
    for path, change in product(PLANTED[::2], AT_SCALE):
        data = changed(path, CHANGES[change])
        started = time.perf_counter()
        views = describe_both(data)
        described = time.perf_counter()
        candidates(index.arrays, views)
        listed = time.perf_counter()
        hit = index.search(views, 1)[0]
        done = time.perf_counter()
        times.append((described - started, listed - described, done - listed))
        found += hit.entity == path.stem and hit.score >= VERIFIED
    scanning = []
    for path in PLANTED[:5]:
        look = describe(path.read_bytes()).look
        started = time.perf_counter()
        nearest(index.arrays.looks, look)
        scanning.append(time.perf_counter() - started)
    size = sum(getattr(index.arrays, field.name).nbytes for field in fields(Arrays))
    describing, listing, searching = 1000 * np.median(times, axis=0)
    return [
        f"{len(index):,}",
        f"{size / 1e6:,.0f}",
        *(f"{part:.0f}" for part in (describing + searching, describing, listing, searching - listing)),
        f"{1000 * statistics.median(scanning):.0f}",
        f"{found / len(times):.2f}",
        f"{peak.stop():.0f}",
    ]


def nearest(looks: Any, look: Any) -> int:
    """The global vector alone, exactly, in blocks."""
    blocks = range(0, len(looks), 1 << 14)
    return int(
        np.concatenate([looks[at : at + (1 << 14)].astype(np.float32) @ look for at in blocks]).argmax()
    )


class PrivateMemory:
    """The most MB of private memory of this process, looked at every 5 ms; mapped files do not count."""

    def __init__(self) -> None:
        self._most, self._goes_on = 0, True
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._goes_on = False
        self._thread.join()
        return self._most * resource.getpagesize() / 1e6

    def _watch(self) -> None:
        while self._goes_on:
            _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
            self._most = max(self._most, resident - shared)
            time.sleep(0.005)


def in_own_process(home: Path) -> list[str]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(speed, home).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distractors", type=int, default=200, help="rendered pictures in the index")
    parser.add_argument(
        "--strangers", type=Path, help="a folder of photos that are not in the index, as well"
    )
    parser.add_argument("--full", action="store_true", help="the index of 1,000,000 pictures too")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/tools.md")
    options = parser.parse_args()
    strangers = [*STRANGERS, *(sorted(options.strangers.iterdir()) if options.strangers else ())]
    console = Console(width=130)
    found = Table(
        "change",
        "dHash",
        "pHash",
        "global vector",
        "fieldmark",
        "fieldmark, verified",
        title="found at rank 1",
    )
    large = Table(
        "pictures", "arrays, MB", "query, ms", "describe", "candidates", "check",
        "global vector alone, ms", "found and verified", "private MB", title="large indexes",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [Path(shutil.copy(path, folder)) for path in PLANTED]
        for seed in range(options.distractors):
            paths.append(folder / f"rendered-{seed}.png")
            paths[-1].write_bytes(encoded(rendered(seed)))
        built = build(folder)
        for row in quality(LocalIndex.open(folder), paths, strangers):
            found.add_row(*row)
        console.print(found)
        for count in [built.pictures, 10_000, *([1_000_000] if options.full else [])]:
            if count > built.pictures:
                enlarge(folder / HOME, count)
            large.add_row(*in_own_process(folder / HOME))
        console.print(large)
    console.print(f"{built.pictures} pictures described in {built.seconds:.0f} s")
    if options.write:
        write_section("image_search", text(found, large, len(strangers), built))


def text(found: Table, large: Table, strangers: int, built: Built) -> str:
    return f"""
{len(PLANTED)} photos among {built.pictures - len(PLANTED)} rendered pictures, each searched for after a
change; {strangers} other photos, changed alike, are in no index and must not be verified. For the baselines
the nearest picture, however far, counts as found.

{markdown(found)}

Large indexes: the same photos among invented pictures made of real key points, in files like those of a
real index; medians of whole queries
and their three parts, in a process of 2 GB as the host's. *Found* is after {", ".join(AT_SCALE)}.
Times move with the machine (the committed ones: two cores at a load of 7): read the ratios.

{markdown(large)}
"""


if __name__ == "__main__":
    main()
