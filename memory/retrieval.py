"""Which notes an episode is shown: exact search in numpy, by text and by picture.

score = (text + look) / 2, each from 0 to 1: `text` is the cosine of the tf-idf vectors (`vectors.py`) of the
query and the note, `look` the cosine of the vectors of this episode's picture and of that which the note was
taken on (a picture without a vector: 0). Of equal scores the newer note goes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldmark.memory.notes import Note
from fieldmark.memory.vectors import Floats, cosines, rarity, text_vector


@dataclass(frozen=True)
class Stored:
    """A note and its vectors."""

    note: Note
    text: Floats
    look: Floats | None


@dataclass(frozen=True)
class Hit:
    """`score` and its two halves, 0 to 1; `same` are the names of other notes with the very same text."""

    note: Note
    score: float
    text: float
    look: float
    same: tuple[str, ...] = ()


def best(stored: Sequence[Stored], query: str, look: Floats | None, limit: int) -> list[Hit]:
    """The `limit` best notes for a query and the vector of a picture; of those that say the same, one."""
    if not stored:
        return []
    texts = np.stack([each.text for each in stored])
    weights = rarity(texts)
    by_text = cosines(texts * weights, text_vector(query) * weights)
    by_look = _looks(stored, look)
    scores = (by_text + by_look) / 2
    alike: dict[str, list[int]] = {}
    for at in np.lexsort((-np.arange(len(stored)), -scores.round(6))):
        alike.setdefault(stored[at].note.text, []).append(int(at))
    return [
        Hit(
            stored[first].note,
            score=round(float(scores[first]), 4),
            text=round(float(by_text[first]), 4),
            look=round(float(by_look[first]), 4),
            same=tuple(stored[at].note.note for at in others),
        )
        for first, *others in list(alike.values())[:limit]
    ]


def _looks(stored: Sequence[Stored], look: Floats | None) -> Floats:
    found = np.zeros(len(stored), np.float32)
    if look is None:
        return found
    rows = [at for at, each in enumerate(stored) if each.look is not None and each.look.shape == look.shape]
    if rows:
        found[rows] = cosines(np.stack([stored[at].look for at in rows]), look)  # type: ignore[misc]
    return found.clip(0, 1)
