"""An item of Pix2Fact becomes a row of `evals.benchmarks.rows`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldmark.evals.benchmarks.brought.lists import links, texts
from fieldmark.evals.benchmarks.brought.mapping import JOINED
from fieldmark.evals.benchmarks.brought.pictures import image_path, inside
from fieldmark.evals.benchmarks.pix2fact.names import FACETS, SCENES, known_as


def to_row(item: Mapping[str, Any], mapping: Mapping[str, str], pictures: str, number: int) -> dict[str, Any]:
    """`pictures` is their folder, relative to the root; `number` is the item's id where it has none.

    The boxes are not in it: they are read with the picture's size (`regions.py`).
    """
    said = {field: item.get(key) for field, key in mapping.items()}
    evidence = [item.get(key) for key in mapping.get("evidence", "").split(JOINED)]
    facets = {name: known_as(said.get(field), known) for field, (name, known) in FACETS.items()}
    return {
        "id": _text(said["id"]) if "id" in said else str(number),
        "question": _text(said["question"]),
        "image": inside(pictures, image_path(said["image"])),
        "gold": {
            "answer": _text(said["answer"]),
            "aliases": texts(said.get("aliases")),
            "evidence": links([value for value in evidence if value]),
        },
        "labels": {
            "top": known_as(said.get("top"), SCENES),
            "facets": {name: value for name, value in facets.items() if value},
        },
    }


def _text(value: Any) -> Any:
    """Numbers that a format has as numbers are texts here; 3.0 of a column of decimals is 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
