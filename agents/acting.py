"""Acting: one tool call of a model turned into messages, whatever the model wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.messages import Message, picture_part, text_part, tool, user
from fieldmark.agents.pictures import Pictures, RememberingContext
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.arguments import parsed, readable
from fieldmark.tools.base import Tool, schema
from fieldmark.tools.calling import call_by_name
from fieldmark.tools.offer import Offer
from fieldmark.trace import CallRequest, Picture


@dataclass(frozen=True)
class Outcome:
    """What came of call number `index` of a turn. `answer` is set when it was the final answer."""

    turn: int
    index: int
    call: CallRequest
    text: str
    pictures: list[Picture]
    malformed: bool
    answer: AgentAnswer | None


class Acting:
    """Runs the tools that a prompt offers, for one episode. Any thread may call `run`."""

    def __init__(
        self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool], pictures: Pictures
    ) -> None:
        self._sees = prompt.sees
        self._offer = Offer.of(prompt, tools)
        self._context = RememberingContext(gateway, prompt, pictures)
        self.schemas = [schema(tool) for tool in tools]

    def run(self, turn: int, index: int, call: CallRequest) -> Outcome:
        """One call; a wrong name, broken arguments and a failing tool all become text for the model.

        `turn` and `index` name the call in the trace: the same pair never comes twice.
        """
        result = call_by_name(
            call.name, call.arguments, self._offer, self._context, door="graph", model_call=call.id,
            call=f"t{turn}.{index}",
        )  # fmt: skip
        answered = call.name == "answer" and result.ok
        return Outcome(
            turn,
            index,
            call,
            result.for_model(),
            result.pictures,
            malformed=not readable(call.arguments),
            answer=_answer(call.arguments) if answered else None,
        )

    def messages(self, outcomes: list[Outcome]) -> list[Message]:
        """One tool message per call; then, for a model that sees, one user message with the pictures."""
        said = [tool(outcome.call.id, outcome.text) for outcome in outcomes]
        shown = [part for outcome in outcomes for part in _shown(outcome)] if self._sees else []
        return [*said, user(*shown)] if shown else said


def _shown(outcome: Outcome) -> list[dict[str, Any]]:
    parts = []
    for picture in outcome.pictures:
        parts.append(text_part(f"Picture returned by {outcome.call.name} (call {outcome.call.id}):"))
        parts.append(picture_part(picture))
    return parts


def _answer(arguments: str) -> AgentAnswer:
    """What the `answer` tool has posted already."""
    args = parsed(arguments)
    return AgentAnswer(str(args["text"]), args.get("confidence"), args.get("rationale"), posted=True)
