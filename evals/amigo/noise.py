"""One false answer a game, its place drawn beforehand by seed and episode (section 5 of the paper)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fieldmark.evals.amigo.constraint import Answer
from fieldmark.evals.amigo.rows import Noise, TurnRow
from fieldmark.evals.amigo.settings import NoiseSettings

_FLIPPED: dict[Answer, Answer] = {"Yes": "No", "No": "Yes"}


def perturbed(
    said: Answer, settings: NoiseSettings, episode: str, turns: Sequence[TurnRow]
) -> tuple[Answer, Noise | None]:
    """What is answered in place of `said`, given the turns before; see NoiseSettings."""
    if settings.kind == "none" or any(turn.noise for turn in turns):
        return said, None
    drawn = random.Random(f"{settings.seed}/{episode}")
    place, coin = drawn.randint(1, settings.within), drawn.choice(("Yes", "No"))
    before = sum(turn.reply in _FLIPPED for turn in turns if turn.valid)
    if settings.kind == "flip" and said in _FLIPPED and before + 1 == place:
        return _FLIPPED[said], Noise(kind="flip", true=said)
    if settings.kind == "unsure" and said == "Unsure":
        return ("Yes" if coin == "Yes" else "No"), Noise(kind="unsure", true=said)
    return said, None
