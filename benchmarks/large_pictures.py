"""Large pictures: a drawn set in the shape of Pix2Fact, and what a run over it takes of memory.

    .venv/bin/python -m benchmarks.large_pictures make drawn --tasks 4      # the set, with a registry
    .venv/bin/python -m benchmarks.large_pictures measure --tasks 100 --parallel 8

Every picture is 24 megapixels with one small sign, which Tesseract reads. Half of the questions ask for its
text, half for the aircraft that bears the mark on it, a fact that stands in the registry alone. `measure`
runs closed book with a stand-in server that is sent whole pictures, and `react` with `builtin/scout`, which
reads the originals; it prints the peak resident memory of the command and of all its worker processes.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from fieldmark.rundir import RunDir
from tests.model_server import ModelServer, Reply

SIZE = (6000, 4000)
TEXT_PX = 64
SIGNS = ("Orla Venn Books", "Quill Lane 48", "Harbour Office", "Tea and Maps")
MARKS = (
    ("G-EUPT", "Airbus", "A319-131"),
    ("D-AIMC", "Airbus", "A380-841"),
    ("N801AC", "Boeing", "787-8"),
    ("F-GSPI", "Boeing", "777-228ER"),
)
SCENES = ("Markets & Vendors", "Urban Streets", "Office Spaces", "City Skylines")
FIELDMARK = str(Path(sys.executable).with_name("fieldmark"))


def make(folder: Path, tasks: int) -> None:
    """`Pix2Fact_1k.csv` with its pictures, and `registry.csv`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = [_item(folder, number) for number in range(tasks)]
    with (folder / "Pix2Fact_1k.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    head = "registration,icao24,type,manufacturer,model,operator,built,source,date"
    lines = [f"{mark},,,{maker},{model},,,drawn,2026-01-01" for mark, maker, model in MARKS]
    (folder / "registry.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")


def _item(folder: Path, number: int) -> dict[str, str]:
    asks_mark = number % 2 == 1
    mark, maker, model = MARKS[number // 2 % len(MARKS)]
    sign = mark if asks_mark else SIGNS[number // 2 % len(SIGNS)]
    box = _draw(folder / "images" / f"{number}.jpg", sign, number)
    return {
        "index": str(number),
        "local_image_path": f"images/{number}.jpg",
        "[Final]question": "Which aircraft bears the mark on the small plate?"
        if asks_mark
        else "What does the small sign say?",
        "[Final]answer": f"{maker} {model}" if asks_mark else sign,
        "image_category": SCENES[number % len(SCENES)],
        "knowledge_domain": "Product & Corporate Info" if asks_mark else "Geography & General Facts",
        "visual_perception_type": "OCR",
        "reasoning_logic_type": "Chained/Indirect Query" if asks_mark else "Direct Lookup",
        "bounding_box": json.dumps(box),
    }


def _draw(path: Path, sign: str, seed: int) -> list[int]:
    """A wall with a grain, so that the file is large, and a small white sign somewhere; the sign's box."""
    chance = np.random.default_rng(seed)
    grain = chance.integers(96, 112, (SIZE[1], SIZE[0], 1), dtype=np.uint8)
    image = Image.fromarray(np.repeat(grain, 3, axis=2))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=TEXT_PX)
    width = int(draw.textlength(sign, font=font))
    x, y = int(chance.integers(200, SIZE[0] - width - 200)), int(chance.integers(200, SIZE[1] - 300))
    box = [x, y, x + width + 80, y + TEXT_PX + 60]
    draw.rectangle(box, fill="white")
    draw.text((x + 40, y + 24), sign, fill="black", font=font)
    image.save(path, quality=90)
    return box


def measure(folder: Path, out: Path, options: list[str]) -> tuple[float, str]:
    """One `fieldmark run` as a user starts it: the peak MB of it and its workers, and how it ended."""
    command = [
        *(FIELDMARK, "run", "--benchmark", "pix2fact", "--data", str(folder / "Pix2Fact_1k.csv")),
        *("--registry", str(folder / "registry.csv"), "--no-probe", "--no-preflight", "--out", str(out)),
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0.0
    while process.poll() is None:
        most = max(most, _resident(process.pid))
        time.sleep(0.2)
    if process.returncode:
        raise SystemExit(process.stderr.read() if process.stderr else "the run failed")
    answered = sum(record.status == "answered" for record in RunDir.open(out).episodes())
    right = sum(verdict.label == "correct" for verdict in RunDir.open(out).verdicts().values())
    return most, f"{answered} answered, {right} correct"


def _resident(pid: int) -> float:
    """MB of a process and all below it; pages that they share count once each (PSS where it is told)."""
    try:
        threads = Path(f"/proc/{pid}/task").glob("*/children")  # any thread may have started a process
        children = [child for thread in threads for child in thread.read_text().split()]
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # it has ended
        return 0.0
    own = next((int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")), 0)
    return own / 1024 + sum(_resident(int(child)) for child in children)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["make", "measure"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--react-tasks", type=int, help="of these, how many react is given (default: all)")
    parser.add_argument("--parallel", type=int, default=8)
    options = parser.parse_args()
    if options.what == "make":
        if options.folder is None:
            parser.error("make needs a folder")
        make(options.folder, options.tasks)
        return
    with tempfile.TemporaryDirectory() as name, ModelServer([Reply('{"answer": "?"}', delay=0.2)]) as server:
        folder, parallel = Path(name), ["--parallel", str(options.parallel)]
        make(folder / "drawn", options.tasks)
        runs = {
            "closed book, whole pictures": [
                *("--agent", "closed_book", "--model", "scripted", "--base-url", server.url),
                *("--image-side", "16384"),
            ],
            "react, builtin/scout": [
                *("--agent", "react", "--limit", str(options.react_tasks or options.tasks)),
            ],
        }
        for number, (title, told) in enumerate(runs.items()):
            peak, ended = measure(folder / "drawn", folder / str(number), [*told, *parallel])
            print(f"{title}: peak {peak:,.0f} MB, {ended}", flush=True)


if __name__ == "__main__":
    main()
