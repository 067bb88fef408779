"""closed_book_search: closed book, with the web search of the model's own provider, through Responses.

The search is the provider's: it runs on its server, past every rule of the run (web policy, guard list,
archive). The trace says so (`provider_search` of a request, `provider_calls` of a reply). As in Pix2Fact's
paper (arXiv 2602.00593, appendix C) the model decides whether and how often it searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fieldmark.agents.base import Agent, AgentAnswer
from fieldmark.agents.closed_book import conversation
from fieldmark.agents.ending import answer_from
from fieldmark.agents.forms import FORMS
from fieldmark.agents.model import ModelUnavailable, model_error
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.responses import read_responses, request
from fieldmark.agents.wire import Wire
from fieldmark.client import GatewayClient, GatewayRefused
from fieldmark.needs import Needs

if TYPE_CHECKING:
    from fieldmark.task import Prompt
    from fieldmark.tools.base import Tool

SEARCH: list[dict[str, Any]] = [{"type": "web_search"}]


class ClosedBookSearch:
    """One call, no tool but the provider's search."""

    name = "closed_book_search"
    uses_tools = False
    without_tools: frozenset[str] = frozenset()
    needs = Needs(wire="responses")
    lean = True

    def warm(self) -> None:
        """Nothing is left to import."""

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Ask once and read the reply. Raises AgentStopped when there is no answer in it."""
        messages = Wire(prompt, Pictures(gateway, prompt)).render(conversation(prompt, search=True))
        try:
            raw = gateway.post("/v1/responses", request(prompt.model, messages, SEARCH), timeout=None)
        except GatewayRefused as error:
            raise model_error(error) from error
        except ValueError as error:
            raise ModelUnavailable(f"the model's reply is not JSON: {error}") from error
        return answer_from(read_responses(raw), FORMS[prompt.reply].read)


AGENT: Agent = ClosedBookSearch()
