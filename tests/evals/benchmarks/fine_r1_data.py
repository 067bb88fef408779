"""Made-up records in the form of the Fine-R1 evaluation: drawn pictures, names of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image

RECORDS: dict[str, list[tuple[str, list[str]]]] = {
    "aircraft_seen": [("Which aircraft is this?", ["Zorvex 9", "Zorvex 9-200", "Kestrel 4", "Obrin A1"])],
    "aircraft_unseen": [("Which aircraft is this?", ["Obrin A1-300", "Obrin A1", "Zorvex 9", "Kestrel 4"])],
    "flower_seen": [
        ("Which flower is this?", ["moonfern", "golden moonfern", "starwort", "bellcap"]),
        ("Which flower is this?", ["golden moonfern", "moonfern", "starwort", "bellcap"]),
    ],
    "flower_unseen": [("Which flower is this?", ["bellcap", "starwort", "moonfern", "golden moonfern"])],
}
"""File → question and options; the first one is gold."""


def record(question: str, options: list[str], image: str = "photos/0.png", **more: Any) -> dict[str, Any]:
    return {
        "image_path": image, "question": question, "options": options, "ground_truth": options[0], **more
    }  # fmt: skip


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> Path:
    """One file, `name` without its suffix."""
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def folder(place: Path, images: Path | None = None) -> Path:
    """The files of RECORDS and their pictures, `photos/N.png` under `images`."""
    photos = (images or place) / "photos"
    photos.mkdir(parents=True, exist_ok=True)
    number = 0
    for name, rows in RECORDS.items():
        made = []
        for question, options in rows:
            colour = (40 * number, 90, 120)
            Image.new("RGB", (320 + number, 240), colour).save(photos / f"{number}.png")
            made.append(record(question, options, f"photos/{number}.png"))
            number += 1
        write(place, name, made)
    return place
