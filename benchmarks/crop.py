"""Cuts of large pictures: the gateway's worker processes beside plain Pillow and plain OpenCV, in one run.

    python -m benchmarks.crop [--megapixels 24 50 100] [--write]

Plain means what a script would do for each cut: read the file, decode all of it, crop, resize, encode as
JPEG, with quality 95 and without subsampling, as we do. Ours is `Backends.cut`, so its times have the way to
the worker process and back in them. Ratios are to plain Pillow's time for the same cut.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks._tables import write_section
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.clock import Clock

Box = tuple[int, int, int, int]
ROUNDS = 3
LONG = 1536
EPISODE = 6
"""Cuts of one picture in an episode."""
FORMATS: dict[str, dict[str, int]] = {
    "JPEG": {"quality": 90},
    "PNG": {"compress_level": 1},
    "WEBP": {"quality": 90, "method": 0},
}
"""JPEG at every size; the others, which are slow to make, at the first."""


def scene(megapixels: int) -> Image.Image:
    """A picture of a landscape's statistics: soft shapes at every size, and grain."""
    chance = np.random.default_rng(megapixels)
    height = int((megapixels * 1e6 * 3 / 4) ** 0.5)
    size = (height * 4 // 3, height)
    picture = Image.new("RGB", size, (110, 130, 150))
    for cells in (6, 40, 250):
        noise = Image.fromarray(chance.integers(0, 256, (cells * 3 // 4, cells, 3), dtype=np.uint8))
        picture = Image.blend(picture, noise.resize(size, Image.Resampling.BICUBIC), 0.35)
    grain = Image.fromarray(chance.integers(0, 256, (1024, 1024, 3), dtype=np.uint8))
    tiled = Image.new("RGB", size)
    for x in range(0, size[0], 1024):
        for y in range(0, size[1], 1024):
            tiled.paste(grain, (x, y))
    return Image.blend(picture, tiled, 0.06)


def boxes(size: tuple[int, int]) -> dict[str, tuple[Box, float]]:
    """Name -> (box, scale): a detail in the middle, enlarged; nearly all of it, reduced."""
    width, height = size
    left, top = width // 2, height // 2
    large = (width // 50, height // 50, width - width // 50, height - height // 50)
    return {
        "400x300 px": ((left, top, left + 400, top + 300), 768 / 400),
        "nearly all": (large, LONG / (large[2] - large[0])),
    }


def pillow(path: Path, box: Box, scale: float) -> bytes:
    Image.MAX_IMAGE_PIXELS = None
    part = Image.open(path).convert("RGB").crop(box)
    size = (round(part.width * scale), round(part.height * scale))
    buffer = io.BytesIO()
    part.resize(size, Image.Resampling.LANCZOS).save(buffer, "JPEG", quality=95, subsampling=0)
    return buffer.getvalue()


def opencv(path: Path, box: Box, scale: float) -> bytes:
    import cv2

    whole = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    assert whole is not None
    part = whole[box[1] : box[3], box[0] : box[2]]
    how = cv2.INTER_LANCZOS4 if scale > 1 else cv2.INTER_AREA
    small = cv2.resize(part, None, fx=scale, fy=scale, interpolation=how)
    options = [cv2.IMWRITE_JPEG_QUALITY, 95, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, 0x111111]
    return cv2.imencode(".jpg", small, options)[1].tobytes()


def ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


async def ours(path: Path, jobs: list[tuple[Box, float]]) -> list[float]:
    """ms of each cut of one picture, one after the other as an agent makes them."""
    backends = Backends()
    await backends.warm()
    spent = []
    for box, scale in jobs:
        started = time.perf_counter()
        await backends.cut(Clock(), str(path), box, scale, "image/jpeg")
        spent.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(0.3)  # far less than a model takes to think
    backends.close()
    return spent


def measured(path: Path, jobs: list[tuple[Box, float]]) -> dict[str, float]:
    """Best of ROUNDS in which all take turns: ms of the first cut, of a later one, of a whole episode."""
    best: dict[str, float] = {}

    def note(name: str, value: float) -> None:
        best[name] = min(value, best.get(name, value))

    for _ in range(ROUNDS):
        note("pillow", ms(lambda: pillow(path, *jobs[0])))
        note("opencv", ms(lambda: opencv(path, *jobs[0])))
        spent = asyncio.run(ours(path, jobs))
        note("first", spent[0])
        note("later", statistics.median(spent[1:]))
        note("episode", sum(spent))
    return best


def peak_mb(name: str, path: Path, box: Box, scale: float) -> float:
    """The most memory a fresh process took for one cut, in MB; ours for two, decoded and mapped."""
    asked = [name, str(path), *map(str, box), str(scale)]
    command = [sys.executable, "-m", "benchmarks.crop", "--peak", *asked]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_peak(name: str, path: str, *numbers: str) -> None:
    x0, y0, x1, y1, scale = map(float, numbers)
    box = (int(x0), int(y0), int(x1), int(y1))
    if name == "ours":
        from fieldmark.sandbox.gateway import imaging
        from fieldmark.sandbox.gateway.decoded import Decoded

        decoded = Decoded()
        for _ in range(2):
            with decoded.place(path) as place:
                imaging.cut(path, box, scale, "image/jpeg", 0.0, "none", place)
    else:
        {"pillow": pillow, "opencv": opencv}[name](Path(path), box, scale)
    status = Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def rows(megapixels: list[int], folder: Path) -> list[list[str]]:
    """The lines of the table."""
    lines = []
    for size in megapixels:
        picture = scene(size)
        for kind, options in FORMATS.items():
            if kind != "JPEG" and size != megapixels[0]:
                continue
            path = folder / f"{size}.{kind.lower()}"
            picture.save(path, kind, **options)
            for name, job in boxes(picture.size).items():
                lines.append([kind, f"{size} MP", name, *_cells(measured(path, [job] * EPISODE), path, job)])
                print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
            path.unlink()
    return lines


def _cells(spent: dict[str, float], path: Path, job: tuple[Box, float]) -> list[str]:
    base = spent["pillow"]
    ratios = [spent["opencv"] / base, spent["first"] / base, spent["later"] / base]
    episode = spent["episode"] / (EPISODE * base)
    peaks = "/".join(f"{peak_mb(name, path, *job):.0f}" for name in ("pillow", "opencv", "ours"))
    return [f"{base:.0f}", *(f"{ratio:.2f}" for ratio in (*ratios, episode)), peaks]


HEADER = [
    "file", "size", "box", "Pillow, ms", "OpenCV", "ours, first cut", "ours, later cuts",
    f"ours, {EPISODE} cuts", "peak MB: Pillow/OpenCV/ours",
]  # fmt: skip


NOTE = f"""\
All but the milliseconds and the memory are ratios to Pillow's time for the same cut: best of {ROUNDS} rounds
in which all took turns, on two cores with other work on them. An episode makes {EPISODE} cuts of one picture.
Plain Pillow and OpenCV read, decode and cut each time; our times have the way to a worker process and back in
them. Our first cut decodes; while the model thinks, the pixels are written to a file without a name, and
later cuts map it. Mapped pages count in the peak but belong to the kernel; a worker's own memory is limited
to 2 GB.
"""


def table(lines: list[list[str]]) -> str:
    """The result as Markdown."""
    every = [HEADER, ["---"] * 3 + ["---:"] * (len(HEADER) - 3), *lines]
    text = "\n".join(f"| {' | '.join(line)} |" for line in every)
    return f"{text}\n\n{NOTE}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megapixels", type=int, nargs="+", default=[24, 50, 100])
    parser.add_argument("--write", action="store_true", help="replace the section of docs/tools.md")
    parser.add_argument("--peak", nargs=7, help=argparse.SUPPRESS)
    asked: Any = parser.parse_args()
    if asked.peak:
        print_peak(*asked.peak)
        return
    with tempfile.TemporaryDirectory() as folder:
        text = table(rows(asked.megapixels, Path(folder)))
    print(text)
    if asked.write:
        write_section("crop", text)


if __name__ == "__main__":
    main()
