"""closed_book: the picture, the question, one model call. What a model knows without any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fieldmark.agents.base import Agent, AgentAnswer
from fieldmark.agents.ending import answer_from
from fieldmark.agents.forms import FORMS
from fieldmark.agents.messages import prompt_text, system, task_message
from fieldmark.agents.model import ChatModel
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Prompt

if TYPE_CHECKING:
    from fieldmark.tools.base import Tool


class ClosedBook:
    """One call, no tools."""

    name = "closed_book"
    uses_tools = False
    without_tools: frozenset[str] = frozenset()
    needs = Needs()

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Ask once and read the reply. Raises AgentStopped when there is no answer in it."""
        form = FORMS[prompt.reply]
        asked = [system(prompt_text(form.closed_book)), task_message(prompt)]
        return answer_from(ChatModel(gateway, prompt).chat(asked), form.read)


AGENT: Agent = ClosedBook()
