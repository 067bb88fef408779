"""react: think, act, think again, as a LangGraph graph, until there is an answer.

    think ──> act (one run per tool call, in parallel) ──> gather ──> think … ──> END
      └─> last (one turn without tools) ──> END

`gather` restores the order of the calls and shows the pictures that tools returned. The state holds
references to pictures, never their bytes. The turn budget is counted here, and LangGraph's recursion
limit is derived from it, so that limit is never what ends an episode.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from fieldmark.agents.acting import Acting, Outcome
from fieldmark.agents.base import Agent, AgentAnswer, AgentStopped
from fieldmark.agents.ending import as_answer, why_empty
from fieldmark.agents.messages import Message, prompt_text, system, task_message, text_part, user
from fieldmark.agents.model import BudgetExhausted, ChatModel
from fieldmark.agents.parsing import parse_answer
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.reply import Reply
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Limits, Prompt
from fieldmark.tools.boxes import meaning
from fieldmark.tools.read_skill import skill_list

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from fieldmark.tools.base import Tool

MALFORMED_TURNS = 3
"""Turns in a row whose calls were all unreadable, after which the model is asked to answer without tools."""

PARALLEL_CALLS = 4
"""Tool calls of one turn that run at once; the others wait."""

_STEPS_PER_TURN = 3  # think, act, gather
_STEPS_AROUND = 5  # the last turn, with room to spare
_NO_LIMIT = 1_000_000


class State(TypedDict, total=False):
    """`turn` counts think steps with tools; `reply` is the model's latest; `answer` or `stopped` ends the
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


class Loop:
    """The nodes of one episode's graph and the choices between them."""

    def __init__(self, model: ChatModel, acting: Acting, limits: Limits) -> None:
        self._model = model
        self._acting = acting
        self._turns = limits.turns or _NO_LIMIT

    def graph(self) -> CompiledStateGraph[State, Any, State, State]:
        """The compiled graph, without a checkpointer: an episode is never resumed in the middle."""
        graph = StateGraph(State)
        graph.add_node("think", self.think)
        graph.add_node("act", self.act)
        graph.add_node("gather", self.gather)
        graph.add_node("last", self.last)
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", self.after_think, ["act", "last", END])
        graph.add_edge("act", "gather")
        graph.add_conditional_edges("gather", self.after_gather, ["think", "last", END])
        graph.add_edge("last", END)
        return graph.compile()

    @property
    def recursion_limit(self) -> int:
        return _STEPS_PER_TURN * self._turns + _STEPS_AROUND

    def think(self, state: State) -> State:
        """One model call with tools. Text without calls is the answer, if there is one in it."""
        try:
            reply = self._model.chat(state["messages"], self._acting.schemas)
        except BudgetExhausted as error:
            return _out_of_budget(state, error)
        update: State = {"messages": [reply.message], "reply": reply, "turn": state["turn"] + 1}
        parsed = parse_answer(reply.text, truncated=reply.truncated)
        if not reply.tool_calls and parsed.answer:
            update["answer"] = as_answer(parsed, reply.text)
        return update

    def after_think(self, state: State) -> str | list[Send]:
        if "answer" in state or "stopped" in state:
            return END
        reply = state["reply"]
        jobs = [State(turn=state["turn"], reply=reply, index=index) for index in range(len(reply.tool_calls))]
        return [Send("act", job) for job in jobs] or "last"

    def act(self, state: State) -> State:
        """One tool call."""
        turn, index = state["turn"], state["index"]
        return {"outcomes": [self._acting.run(turn, index, state["reply"].tool_calls[index])]}

    def gather(self, state: State) -> State:
        """The results of this turn in the order of its calls, then the pictures in one user message."""
        turn = state["turn"]
        done = sorted((row for row in state["outcomes"] if row.turn == turn), key=lambda row: row.index)
        malformed = state["malformed"] + 1 if all(row.malformed for row in done) else 0
        update: State = {"messages": self._acting.messages(done), "malformed": malformed}
        answers = [row.answer for row in done if row.answer]
        if answers:
            update["answer"] = answers[-1]
        return update

    def after_gather(self, state: State) -> str:
        if "answer" in state:
            return END
        spent = state["turn"] >= self._turns or state["malformed"] >= MALFORMED_TURNS
        return "last" if spent else "think"

    def last(self, state: State) -> State:
        """One turn without tools for the best answer so far."""
        ask = user(text_part(prompt_text("react_last_turn")))
        try:
            reply = self._model.chat([*state["messages"], ask])
        except BudgetExhausted as error:
            return _out_of_budget(state, error)
        parsed = parse_answer(reply.text, truncated=reply.truncated)
        stop = None if parsed.answer else self._why_none(state, reply)
        if stop:
            return {"messages": [ask], "stopped": stop}
        return {"messages": [ask, reply.message], "answer": as_answer(parsed, reply.text)}

    def _why_none(self, state: State, reply: Reply) -> AgentStopped | None:
        if state["malformed"] >= MALFORMED_TURNS:
            return AgentStopped("tool_call_malformed", "the model's tool calls could not be read as JSON")
        if state["turn"] >= self._turns:
            return AgentStopped("max_turns", f"no answer within {self._turns} turns")
        return why_empty(reply)


class React:
    """A tool-calling loop over whatever tools the run offers."""

    name = "react"
    uses_tools = True
    without_tools: frozenset[str] = frozenset()
    needs = Needs()

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Run the graph to its end. Raises AgentStopped when there is no answer."""
        pictures = Pictures(gateway, prompt)
        model = ChatModel(gateway, prompt, pictures)
        loop = Loop(model, Acting(prompt, gateway, tools, pictures), prompt.limits)
        end = loop.graph().invoke(
            first_state(prompt, tools),
            {"recursion_limit": loop.recursion_limit, "max_concurrency": PARALLEL_CALLS},
        )
        if "answer" not in end:
            raise end["stopped"]
        answer: AgentAnswer = end["answer"]
        return answer


def first_state(prompt: Prompt, tools: Sequence[Tool]) -> State:
    """The state before the first turn."""
    messages = [system(_instructions(prompt, tools)), task_message(prompt)]
    return {"messages": messages, "outcomes": [], "turn": 0, "malformed": 0}


def _instructions(prompt: Prompt, tools: Sequence[Tool]) -> str:
    by_tool = any(tool.name == "answer" for tool in tools)
    skills = prompt.skills and any(tool.name == "read_skill" for tool in tools)
    turns = prompt.limits.turns
    return Template(prompt_text("react")).substitute(
        width=prompt.image.width,
        height=prompt.image.height,
        view_width=prompt.view.width,
        view_height=prompt.view.height,
        coordinates=f'{meaning(prompt.space)} (space "{prompt.space}")',
        skills=f"{skill_list(prompt.skills)}\n" if skills else "",
        turns=f"You have at most {turns} turns with tools." if turns else "",
        how="call the tool `answer`."
        if by_tool
        else 'reply with {"answer": …, "confidence": …, "rationale": …} and call no tool.',
    )


def _out_of_budget(state: State, error: BudgetExhausted) -> State:
    """The last thing the model marked as its answer, or none: musings on the way are not an answer."""
    for message in reversed(state["messages"]):
        parsed = parse_answer(message.get("content") or "") if message["role"] == "assistant" else None
        if parsed and parsed.explicit:
            return {"answer": as_answer(parsed, message["content"])}
    return {"stopped": error}


AGENT: Agent = React()
