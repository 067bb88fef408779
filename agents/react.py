"""react: think, act, think again, as a LangGraph graph, until there is an answer.

    think ──> act (one run per tool call, in parallel) ──> gather ──> think … ──> END
      └─> last (one turn without tools) ──> END

`gather` restores the order of the calls and shows the pictures that tools returned. The state holds
references to pictures, never their bytes. The turn budget is counted here, and LangGraph's recursion
limit is derived from it, so that limit is never what ends an episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langgraph.constants import END, START

from fieldmark.agents import turns
from fieldmark.agents.acting import Acting
from fieldmark.agents.base import Agent, AgentAnswer
from fieldmark.agents.ending import as_answer
from fieldmark.agents.messages import prompt_text, system, task_message, text_part, user
from fieldmark.agents.model import BudgetExhausted, ChatModel
from fieldmark.agents.parsing import parse_answer
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.turns import PARALLEL_CALLS, Jobs, Turns, TurnState, instructions, marked_answer
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Limits, Prompt

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from fieldmark.tools.base import Tool

_STEPS_PER_TURN = 3  # think, act, gather
_STEPS_AROUND = 5  # the last turn, with room to spare


class Loop:
    """The nodes of one episode's graph and the choices between them."""

    def __init__(self, model: ChatModel, acting: Acting, limits: Limits) -> None:
        self._model = model
        self._acting = acting
        self._turns = Turns(acting, limits)

    def graph(self) -> CompiledStateGraph[TurnState, Any, TurnState, TurnState]:
        """The compiled graph, without a checkpointer: an episode is never resumed in the middle."""
        from langgraph.graph import StateGraph

        graph = StateGraph(TurnState)
        graph.add_node("think", self.think)
        graph.add_node("act", self._turns.act)
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
        return _STEPS_PER_TURN * self._turns.most + _STEPS_AROUND

    def think(self, state: TurnState) -> TurnState:
        """One model call with tools. Text without calls is the answer, if there is one in it."""
        try:
            reply = self._model.chat(state["messages"], self._acting.schemas)
        except BudgetExhausted as error:
            return _out_of_budget(state, error)
        update: TurnState = {"messages": [reply.message], "reply": reply, "turn": state["turn"] + 1}
        parsed = parse_answer(reply.text, truncated=reply.truncated)
        if not reply.tool_calls and parsed.answer:
            update["answer"] = as_answer(parsed, reply.text)
        return update

    def after_think(self, state: TurnState) -> str | Jobs:
        if "answer" in state or "stopped" in state:
            return END
        return self._turns.jobs(state) or "last"

    def gather(self, state: TurnState) -> TurnState:
        """The results of this turn in the order of its calls, then the pictures in one user message."""
        done = self._turns.done(state)
        malformed = self._turns.malformed(state, done)
        update: TurnState = {"messages": self._acting.messages(done), "malformed": malformed}
        answers = [row.answer for row in done if row.answer]
        if answers:
            update["answer"] = answers[-1]
        return update

    def after_gather(self, state: TurnState) -> str:
        if "answer" in state:
            return END
        return "last" if self._turns.spent(state) else "think"

    def last(self, state: TurnState) -> TurnState:
        """One turn without tools for the best answer so far."""
        ask = user(text_part(prompt_text("react_last_turn")))
        try:
            reply = self._model.chat([*state["messages"], ask])
        except BudgetExhausted as error:
            return _out_of_budget(state, error)
        parsed = parse_answer(reply.text, truncated=reply.truncated)
        stop = None if parsed.answer else self._turns.why_none(state, reply)
        if stop:
            return {"messages": [ask], "stopped": stop}
        return {"messages": [ask, reply.message], "answer": as_answer(parsed, reply.text)}


class React:
    """A tool-calling loop over whatever tools the run offers."""

    name = "react"
    uses_tools = True
    without_tools: frozenset[str] = frozenset()
    lean = False
    needs = Needs()

    def warm(self) -> None:
        """LangGraph."""
        turns.warm()

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


def first_state(prompt: Prompt, tools: Sequence[Tool]) -> TurnState:
    """The state before the first turn."""
    messages = [system(_instructions(prompt, tools)), task_message(prompt)]
    return {"messages": messages, "outcomes": [], "turn": 0, "malformed": 0}


def _instructions(prompt: Prompt, tools: Sequence[Tool]) -> str:
    by_tool = any(tool.name == "answer" for tool in tools)
    how = 'reply with {"answer": …, "confidence": …, "rationale": …} and call no tool.'
    return instructions("react", prompt, tools, how="call the tool `answer`." if by_tool else how)


def _out_of_budget(state: TurnState, error: BudgetExhausted) -> TurnState:
    answer = marked_answer(state["messages"])
    return {"answer": answer} if answer else {"stopped": error}


AGENT: Agent = React()
