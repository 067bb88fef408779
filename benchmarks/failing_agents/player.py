"""Player: an agent's turns from its own script, through a real model call each.

The model that these agents run with is a puppet: it says what the last message asks for, word for word. So
every act is a call in a model's response, as with any agent, and what fails is the script.
"""

import json
from typing import Any

from fieldmark.agents.own import Asked, Reply, Tools

CUE = "PLAY "
WRONG = "Saab 340"
"""An answer that is right for no task of fieldmark-mini, and beside none."""


class Player:
    """`sees`: it shows the model the picture."""

    def __init__(self, prompt: Asked, tools: Tools, *, sees: bool = True) -> None:
        self._prompt, self._tools = prompt, tools
        self._messages = [prompt.message()]
        if not sees:
            self.forget_the_picture()

    def act(self, name: str, **arguments: Any) -> str:
        """One act; the text of its result."""
        reply = self._turn({"calls": [{"name": name, "arguments": arguments}]})
        results = self._tools.carry_out(reply.tool_calls)
        self._messages += [reply.message, *results]
        return str(results[0]["content"])

    def say(self, text: str) -> Reply:
        """The model's last word."""
        return self._turn({"text": text})

    def forget_the_picture(self) -> None:
        """From now on the model is shown the question alone."""
        self._messages[0] = {"role": "user", "content": [{"type": "text", "text": self._prompt.question}]}

    def ask_the_same(self) -> Reply:
        """A request that does not differ from the one before."""
        return self._prompt.model.chat([*self._messages, _cue({"text": ""})], self._tools)

    def _turn(self, turn: dict[str, Any]) -> Reply:
        self._messages.append(_cue(turn))
        return self._prompt.model.chat(self._messages, self._tools)


def _cue(turn: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": CUE + json.dumps(turn)}]}
