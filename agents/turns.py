"""What tool-calling graphs have in common: the calls of one turn, and when turns are used up."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from string import Template
from typing import Annotated, Any, TypedDict

from fieldmark.agents.acting import Acting, Outcome
from fieldmark.agents.base import AgentAnswer, AgentStopped
from fieldmark.agents.ending import as_answer, why_empty
from fieldmark.agents.messages import Message, prompt_text
from fieldmark.agents.parsing import parse_answer
from fieldmark.agents.reply import Reply
from fieldmark.counting import counted
from fieldmark.task import Limits, Prompt
from fieldmark.tools.base import Tool
from fieldmark.tools.boxes import meaning
from fieldmark.tools.read_skill import skill_list

MALFORMED_TURNS = 3
"""Turns in a row whose calls were all unreadable, after which the model is asked to answer without tools."""

PARALLEL_CALLS = 4
"""Tool calls of one turn that run at once; the others wait."""

_NO_LIMIT = 1_000_000

Jobs = list[Any]
"""LangGraph's `Send`s, which are imported only with a graph: it reads the hints of a graph's functions."""


class TurnState(TypedDict, total=False):
    """`turn` counts model calls with tools; `reply` is the model's latest; `answer` or `stopped` ends the
    episode. `index` is set for a run of `act` only: which call of `reply` it carries out.
    """

    messages: Annotated[list[Message], operator.add]
    outcomes: Annotated[list[Outcome], operator.add]
    turn: int
    malformed: int
    reply: Reply
    index: int
    answer: AgentAnswer
    stopped: AgentStopped


class Turns:
    """The turns of one episode; `most` is how many it may have."""

    def __init__(self, acting: Acting, limits: Limits) -> None:
        self._acting = acting
        self.most = limits.turns or _NO_LIMIT

    def jobs(self, state: TurnState) -> Jobs:
        """One run of the node `act` for each call of the latest reply."""
        from langgraph.types import Send

        turn, reply = state["turn"], state["reply"]
        return [
            Send("act", TurnState(turn=turn, reply=reply, index=index))
            for index in range(len(reply.tool_calls))
        ]

    def act(self, state: TurnState) -> TurnState:
        """One tool call."""
        turn, index = state["turn"], state["index"]
        return {"outcomes": [self._acting.run(turn, index, state["reply"].tool_calls[index])]}

    def done(self, state: TurnState) -> list[Outcome]:
        """What came of this turn's calls, in their order."""
        return sorted(
            (row for row in state["outcomes"] if row.turn == state["turn"]), key=lambda row: row.index
        )

    def malformed(self, state: TurnState, done: Sequence[Outcome]) -> int:
        """Turns in a row, this one included, whose calls were all unreadable."""
        return state["malformed"] + 1 if all(row.malformed for row in done) else 0

    def spent(self, state: TurnState) -> bool:
        """Whether it is time to answer without tools."""
        return state["turn"] >= self.most or state["malformed"] >= MALFORMED_TURNS

    def why_none(self, state: TurnState, reply: Reply) -> AgentStopped | None:
        """The class of a last reply that holds no answer; None for one that says nothing at all."""
        if state["malformed"] >= MALFORMED_TURNS:
            return AgentStopped("tool_call_malformed", "the model's tool calls could not be read as JSON")
        if state["turn"] >= self.most:
            return AgentStopped("max_turns", f"no answer within {counted(self.most, 'turn')}")
        return why_empty(reply)


def warm() -> None:
    """Import what a graph is built and run with: of all that an agent imports, what takes longest."""
    import langgraph.graph
    import langgraph.types  # noqa: F401


def marked_answer(messages: Sequence[Message]) -> AgentAnswer | None:
    """The last thing the model marked as its answer: musings on the way are not an answer."""
    for message in reversed(messages):
        parsed = parse_answer(message.get("content") or "") if message["role"] == "assistant" else None
        if parsed and parsed.explicit:
            return as_answer(parsed, message["content"])
    return None


def instructions(name: str, prompt: Prompt, tools: Sequence[Tool], **more: str) -> str:
    """The prompt `agents/prompts/<name>.md` about this picture, these tools and the skills that are on."""
    skills = prompt.skills and any(tool.name == "read_skill" for tool in tools)
    turns = prompt.limits.turns
    return Template(prompt_text(name)).substitute(
        width=prompt.image.width,
        height=prompt.image.height,
        view_width=prompt.view.width,
        view_height=prompt.view.height,
        coordinates=f'{meaning(prompt.space)} (space "{prompt.space}")',
        skills=f"{skill_list(prompt.skills)}\n" if skills else "",
        turns=f"You have at most {counted(turns, 'turn')} with tools." if turns else "",
        **more,
    )
