"""An item of a manifest becomes a row of `evals.benchmarks.rows`: fields by their mapped keys, made plain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldmark.evals.benchmarks.brought.lists import links, texts
from fieldmark.evals.benchmarks.brought.pictures import image_path, inside
from fieldmark.evals.benchmarks.fika import labels


def to_row(item: Mapping[str, Any], mapping: Mapping[str, str], pictures: str) -> dict[str, Any]:
    """`pictures` is their folder, relative to the root. What is no text stays, to be refused."""
    said = {field: item.get(key) for field, key in mapping.items()}
    image = inside(pictures, image_path(said["image"]))
    question = _text(said["question"])
    answer, aliases = _answers(said["answer"], texts(said.get("aliases")))
    gold = {"answer": answer, "aliases": aliases, "evidence": links(said.get("evidence"))}
    gold |= {name: texts(said[name]) for name in ("finer", "broader") if name in said}
    if said.get("match"):
        gold["match"] = said["match"]
    return {
        "id": _text(said["id"]),
        "question": question,
        "image": image,
        "gold": gold,
        "labels": {
            "split": labels.split(said.get("split")),
            "top": labels.top(said.get("top")),
            "mid": labels.english(said.get("mid")),
            "source": labels.english(said.get("source")),
            "language": labels.language(said.get("language"), question if isinstance(question, str) else ""),
        },
    }


def _text(value: Any) -> Any:
    """Numbers that a format has as numbers are texts here."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _answers(answer: Any, aliases: Any) -> tuple[Any, Any]:
    """A list of answers is the answer and more aliases."""
    if isinstance(answer, list) and answer and isinstance(aliases, list):
        return answer[0], [*answer[1:], *aliases]
    return _text(answer), aliases
