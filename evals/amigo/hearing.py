"""What a player's text is: a guess, one question, several, or something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fieldmark.tools.model_text import without_thinking

Sort = Literal["guess", "question", "questions", "guesses", "echo", "other"]
_GUESS = re.compile(r"\bmy (?:final )?guess\b[^#?\n]{0,80}#\s*(\d{1,6})", re.IGNORECASE)
_ENDED = re.compile(r"\bend of uploading\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.?!？\n]*[?？]")
_OPENS = re.compile(
    r"^(?:do|does|is|are|has|have|can|could|would|will|did|was|were)\b[^.!\n]*", re.IGNORECASE
)
_AUXILIARY = re.compile(r"\b(?:do|does|is|are|has|have|can|could|would|will|did|was|were)(?:n't)?\b")
_ASKS_FOR_MORE = re.compile(r"\b(?:what|which|how|where|who|whose|why|when)\b")


@dataclass(frozen=True)
class Heard:
    """`question` is the only question of a text, `guess` the only number that it guesses."""

    sort: Sort
    question: str = ""
    guess: int | None = None


def hear(text: str) -> Heard:
    """Thinking and emphasis are left out; a line of a guess goes over questions beside it."""
    said = without_thinking(text).replace("*", "").strip()
    guesses = {int(number) for number in _GUESS.findall(said)}
    if guesses:
        return Heard("guess", guess=guesses.pop()) if len(guesses) == 1 else Heard("guesses")
    questions = [found.strip() for found in _SENTENCE.findall(said) if found.strip(" ?？")]
    questions = questions or [found.group().strip() for found in [_OPENS.match(said)] if found]
    if questions:
        return Heard("question", questions[0]) if len(questions) == 1 else Heard("questions")
    return Heard("echo" if _ENDED.search(said) else "other")


def is_yes_no(question: str) -> bool:
    """Whether Yes or No can answer it: no word such as "which" comes before its verb."""
    plain = question.lower()
    more = _ASKS_FOR_MORE.search(plain)
    verb = _AUXILIARY.search(plain)
    return more is None or (verb is not None and verb.start() < more.start())
