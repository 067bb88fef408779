"""amigo_player: plays AMIGO with any chat model. What the model writes is its turn, word for word.

    GET /turn ──> model ──> POST /turn ──> model … ──> over: the guess is the answer

All pictures stay in the conversation. A model that takes none may read them by `inspect_picture`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fieldmark.agents.acting import Acting
from fieldmark.agents.base import Agent, AgentAnswer, AgentStopped
from fieldmark.agents.ending import why_empty
from fieldmark.agents.messages import Message
from fieldmark.agents.model import ChatModel
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.playing.looking import looking
from fieldmark.agents.playing.table import Table
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Prompt

if TYPE_CHECKING:
    from fieldmark.tools.base import Tool

MOST_PICTURES = 64
"""In one request; the largest gallery of the paper has 43."""
MOST_TEXT = 8_000
"""Characters of a turn that the host takes."""
LOOKS_IN_A_ROW = 8
"""Replies with nothing but calls, between two turns."""


class Player:
    """One game: the conversation with the model, and the table."""

    def __init__(self, prompt: Prompt, gateway: GatewayClient) -> None:
        pictures = Pictures(gateway, prompt)
        self.table = Table(gateway, pictures)
        tools = [] if prompt.sees else [looking(self.table.gallery)]
        self._model = ChatModel(gateway, prompt, pictures, most_pictures=MOST_PICTURES)
        self._acting = Acting(prompt, gateway, tools, pictures)
        self._said: list[Message] = []

    def play(self) -> AgentAnswer:
        """To the end. Raises AgentStopped without a guess, or as the model does."""
        told = self.table.begin()
        text = ""
        while not told.over:
            self._said.append(told.message)
            text = self._turn()
            told = self.table.say(text[:MOST_TEXT])
        if told.guess is None:
            raise AgentStopped("max_turns", "the turns of the game were used up without a guess")
        return AgentAnswer(f"image {told.guess}", raw=text)

    def _turn(self) -> str:
        """The model's next text, after as many looks as it wants."""
        for look in range(LOOKS_IN_A_ROW + 1):
            offered = self._acting.schemas if look < LOOKS_IN_A_ROW else []
            reply = self._model.chat(self._said, offered)
            self._said.append(reply.message)
            if not reply.tool_calls:
                break
            calls = [self._acting.run(self._model.calls, n, call) for n, call in enumerate(reply.tool_calls)]
            self._said += self._acting.messages(calls)
        stop = None if reply.text else why_empty(reply)
        if stop:
            raise stop
        return reply.text


class AmigoPlayer:
    """A game by talk alone."""

    name = "amigo_player"
    uses_tools = False
    without_tools: frozenset[str] = frozenset()
    lean = False
    needs = Needs()

    def warm(self) -> None:
        """Nothing is left to import."""

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Play the host's game. Raises AgentStopped when there is no guess."""
        return Player(prompt, gateway).play()


AGENT: Agent = AmigoPlayer()
