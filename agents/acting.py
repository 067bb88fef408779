"""Acting: one tool call of a model turned into messages, whatever the model wrote."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fieldmark.agents.base import AgentAnswer
from fieldmark.agents.context import RememberingContext
from fieldmark.agents.messages import Message, picture_part, text_part, tool, user
from fieldmark.agents.pictures import Pictures
from fieldmark.client import GatewayClient
from fieldmark.task import Prompt
from fieldmark.tools.arguments import parsed, readable
from fieldmark.tools.base import Tool, schema
from fieldmark.tools.calling import call_by_name
from fieldmark.tools.offer import Offer
from fieldmark.trace import CallRequest, Picture


@dataclass(frozen=True)
class Outcome:
    """What came of call number `index` of a turn. `answer` is set when it was the final answer.

    `seq` is that of the `tool_result` event in the trace; `data` is what the tool gave beside its text.
    """

    turn: int
    index: int
    call: CallRequest
    text: str
    pictures: list[Picture]
    malformed: bool
    answer: AgentAnswer | None
    ok: bool
    data: Any
    seq: int | None


class Acting:
    """Runs the tools that a prompt offers, for one episode. Any thread may call `run`."""

    def __init__(
        self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool], pictures: Pictures
    ) -> None:
        self._offer = Offer.of(prompt, tools)
        self._own = itertools.count(1)
        self._gateway = gateway
        self._prompt = prompt
        self._pictures = pictures
        self.schemas = [schema(tool) for tool in tools]

    def offers(self, name: str) -> bool:
        """Whether there is a tool of that name."""
        return name in self._offer.tools

    def run(self, turn: int, index: int, call: CallRequest) -> Outcome:
        """One call; a wrong name, broken arguments and a failing tool all become text for the model.

        A call with an empty id is the agent's own, not one that the model asked for; those of the model are
        named in the trace by `turn` and `index`, the same pair never comes twice.
        """
        context = RememberingContext(self._gateway, self._prompt, self._pictures)
        result = call_by_name(
            call.name, call.arguments, self._offer, context, door="graph", model_call=call.id or None,
            call=f"t{turn}.{index}" if call.id else f"own{next(self._own)}",
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
            ok=result.ok,
            data=result.data,
            seq=context.result_seq,
        )

    def messages(self, outcomes: list[Outcome]) -> list[Message]:
        """One tool message per call; then, for a model that sees, one user message with the pictures."""
        said = [tool(outcome.call.id, outcome.text) for outcome in outcomes]
        shown = [part for outcome in outcomes for part in _shown(outcome)] if self._prompt.sees else []
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
