"""What the player is told, in our own words with the rules of the paper's prompt (its figure 13)."""

from __future__ import annotations

from fieldmark.evals.amigo.lexicon import Lexicon
from fieldmark.evals.amigo.settings import GameSettings

END = "End of uploading"
PROMPT = "prompt.md"


def opening(prompt: str, lexicon: Lexicon, settings: GameSettings) -> str:
    """The rules; with `tell_budget` how many turns there are, which the paper's prompt does not say."""
    prohibited = ", ".join(each.name for each in lexicon.prohibited.values())
    text = prompt.strip().replace("{noun}", lexicon.noun).replace("{prohibited}", prohibited)
    if settings.tell_budget:
        text += f"\n11. You have {settings.turns} turns in all; a Skip takes one too."
    return text


def upload(first: str, batch: int, batches: int, images: list[int]) -> str:
    """With batch number `batch` of `batches`: the rules before the first, the signal with the last."""
    said = [first] if batch == 1 else []
    said.append(f"Batch {batch}: pictures {images[0]} to {images[-1]}.")
    return "\n\n".join([*said, END] if batch == batches else said)
