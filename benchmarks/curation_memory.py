"""Candidates of a curation: seconds and peak memory of import and decisions, by their number.

    .venv/bin/python benchmarks/curation_memory.py 2500 10000

Memory is flat where four times the pictures take about the same: one picture is in memory at a time,
beside 32 bytes of each for near copies and its class. Pictures are drawn here, 96 px, in folders of ten.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image


def draw(folder: Path, count: int) -> None:
    """Soft noise, no two alike."""
    for number in range(count):
        place = folder / f"class_{number // 10:05}"
        place.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).integers(0, 255, (12, 12, 3), np.uint8)
        picture = Image.fromarray(noise).resize((96, 96), Image.Resampling.BICUBIC)
        picture.save(place / f"{number}.jpg", quality=90)


def measure(source: Path, project: Path) -> None:
    """Import, decide and walk through, in this process; prints what it took."""
    from fieldmark.evals.curation.importing import decide_import, import_all
    from fieldmark.evals.curation.project import Project
    from fieldmark.evals.curation.sources.reading import read

    made, started = Project.create(project), time.monotonic()
    told = import_all(made, "drawn", read(source, licence="CC0-1.0"))
    read_in = time.monotonic()
    kept = decide_import(made).counts["keep"]
    decided = time.monotonic()
    rows = sum(1 for _ in made.candidates(after="import"))
    made.funnel()
    walked = time.monotonic()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{told.read:7,} read, {kept:,} kept, {rows:,} walked through: {read_in - started:.0f} s to read,"
        f" {decided - read_in:.0f} s to decide, {walked - decided:.1f} s to walk; peak {peak:.0f} MB"
    )


def main() -> None:
    if sys.argv[1] == "--measure":
        measure(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    for count in map(int, sys.argv[1:]):
        with TemporaryDirectory() as folder:
            draw(Path(folder) / "in", count)
            paths = [f"{folder}/in", f"{folder}/set"]
            subprocess.run([sys.executable, __file__, "--measure", *paths], check=True)


if __name__ == "__main__":
    main()
