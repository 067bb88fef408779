"""closed_book: the picture, the question, one model call. What a model knows without any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fieldmark.agents.base import Agent, AgentAnswer
from fieldmark.agents.ending import answer_from
from fieldmark.agents.forms import FORMS
from fieldmark.agents.messages import Message, prompt_text, system, task_message
from fieldmark.agents.model import ChatModel
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs

if TYPE_CHECKING:
    from fieldmark.task import Prompt
    from fieldmark.tools.base import Tool


class ClosedBook:
    """One call, no tools of ours. `search` are tools that the model's server carries out itself."""

    uses_tools = False
    without_tools: frozenset[str] = frozenset()
    needs = Needs()
    lean = True

    def __init__(self, name: str = "closed_book", search: Sequence[dict[str, Any]] = ()) -> None:
        self.name = name
        self._search = list(search)

    def warm(self) -> None:
        """Nothing is left to import."""

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Ask once and read the reply. Raises AgentStopped when there is no answer in it."""
        asked = conversation(prompt, search=bool(self._search))
        reply = ChatModel(gateway, prompt).chat(asked, self._search or None)
        return answer_from(reply, FORMS[prompt.reply].read)


def conversation(prompt: Prompt, *, search: bool) -> list[Message]:
    """What a model is asked; `search`: and that its server lets it search the web."""
    texts = [FORMS[prompt.reply].closed_book, *(["provider_search"] if search else [])]
    return [system("\n\n".join(map(prompt_text, texts))), task_message(prompt)]


AGENT: Agent = ClosedBook()
