"""Draw the garments, label them, and generate the episodes over them.

    python -m fieldmark.evals.benchmarks.amigo_garments.compose [FOLDER]

The committed pictures came from this script; it needs Pillow alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from fieldmark.evals.amigo.episode import EPISODES, IMAGES, load_images
from fieldmark.evals.amigo.generating import TAUS, GeneratorSettings, generate
from fieldmark.evals.benchmarks.amigo_garments.drawing import draw
from fieldmark.evals.benchmarks.amigo_garments.garment import garments
from fieldmark.jsonl import encode

HERE = Path(__file__).resolve().parent
TONES = 255
"""Of a picture's palette, which keeps it at a few kB."""


def compose(folder: Path) -> None:
    """Write `images/`, `images.jsonl` and `episodes.jsonl`; `lexicon.toml` is taken as it stands."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, garment in enumerate(garments(), 1):
        name = f"images/g{number:03}.png"
        picture = draw(garment).quantize(TONES, dither=Image.Dither.NONE)
        picture.save(folder / name, "PNG", optimize=True)
        rows.append({"id": f"g{number:03}", "image": name, "attributes": garment.attributes})
    (folder / IMAGES).write_bytes(b"".join(map(encode, rows)))
    images = load_images(folder)
    episodes = [each for tau in TAUS for each in generate(images, tau, GeneratorSettings())]
    lines = [encode(each.model_dump(mode="json")) for each in episodes]
    (folder / EPISODES).write_bytes(b"".join(lines))


if __name__ == "__main__":
    compose(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
