"""A record (`image_path`, `question`, `options`, `ground_truth`) becomes a row of `rows.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from fieldmark.evals.benchmarks.fine_r1.files import Slot
from fieldmark.evals.benchmarks.fine_r1.scoring import plain
from fieldmark.evals.benchmarks.rows import Bad

World = Literal["closed", "open"]
OptionOrder = Literal["official", "shuffled"]
KEYS = ("image_path", "question", "options", "ground_truth")


def to_row(
    record: dict[str, Any], slot: Slot, number: int, world: World, order: OptionOrder, seed: int
) -> dict[str, Any]:
    """`number` is the line of the record in its file. Bad: it lacks a key, or gold is no option of it."""
    missing = [key for key in KEYS if key not in record]
    if missing:
        raise Bad(f"no {missing[0]} (it has {', '.join(record) or 'no key'})")
    options = options_of(record)
    task_id = f"{slot.dataset}-{slot.split}-{number:05d}"
    ordered = shuffled(options, task_id, seed) if order == "shuffled" else options
    question = record["question"]
    if world == "closed" and isinstance(question, str):
        question = closed_question(question, ordered)
    return {
        "id": task_id,
        "question": question,
        "image": record["image_path"],
        "gold": {
            "answer": record["ground_truth"],
            "kind": slot.dataset,
            "options": ordered if world == "closed" else [],
        },
        "labels": {"split": slot.split, "top": slot.dataset},
    }


def options_of(record: dict[str, Any]) -> list[str]:
    """The options of a record as they stand there. Bad: no list of texts, or gold is none of them."""
    options = record["options"]
    if not isinstance(options, list) or not all(isinstance(each, str) and each.strip() for each in options):
        raise Bad("options is no list of texts")
    if plain(str(record["ground_truth"])) not in map(plain, options):
        raise Bad("ground_truth is none of its options")
    return options


def shuffled(options: Sequence[str], task_id: str, seed: int) -> list[str]:
    """A permutation that follows from seed and id alone, by SHA-256: the same on every machine."""

    def place(at: int) -> bytes:
        return hashlib.sha256(f"{seed}\n{task_id}\n{at}".encode()).digest()

    return [options[at] for at in sorted(range(len(options)), key=place)]


def closed_question(question: str, options: Sequence[str]) -> str:
    """The question with what is to be chosen from, in our own words."""
    listed = "\n".join(f"- {option}" for option in options)
    return f"{question}\nIt is one of these; give the one you choose as it is written here:\n{listed}"


def passes_by_accident(gold: str, options: Sequence[str]) -> bool:
    """Whether another option holds gold, so that choosing it passes where gold need only be included."""
    name = plain(gold)
    return any(name in plain(option) for option in options if plain(option) != name)
