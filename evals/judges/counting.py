"""What one judgement asks of a model, added up."""

from __future__ import annotations

from fieldmark.evals.asking.request import Ask, Message
from fieldmark.records import JudgeUse


class Counting:
    """Asks for one judgement, and adds up what that used."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.use = JudgeUse()

    def ask(self, messages: list[Message], temperature: float | None, seed: int | None) -> str:
        text, tokens = self._ask(messages, temperature, seed)
        self.use = self.use.plus(tokens)
        return text
