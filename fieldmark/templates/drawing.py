"""The one task of a new benchmark: a picture with a text, drawn."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

TEXT = "HARBOUR 27"


def draw_benchmark(folder: Path) -> None:
    """Write `tasks.jsonl` and `images/sign.png` into `folder`."""
    (folder / "images").mkdir(parents=True)
    picture = Image.new("RGB", (800, 500), "seagreen")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((80, 150, 720, 350), fill="white", outline="black", width=6)
    pen.text((400, 250), TEXT, fill="black", font=ImageFont.load_default(90), anchor="mm")
    picture.save(folder / "images" / "sign.png")
    task = {
        "id": "sign-1",
        "question": "Which text stands on the sign?",
        "image": "images/sign.png",
        "gold": {"answer": TEXT, "match": "exact_text", "source": "drawn"},
        "labels": {"split": "drawn", "top": "Product", "mid": "Sign"},
    }
    (folder / "tasks.jsonl").write_text(json.dumps(task) + "\n", encoding="utf-8")
