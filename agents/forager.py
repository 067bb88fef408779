"""forager: suspect, gather evidence, doubt, verify, answer at the level that the evidence carries.

    observe ──> acquire ──> act (one run per call) ──> gather ──> acquire …
                   └─> compare ──> verify ──> answered, or acquire again
                   └────────────────────────> conclude (one call without tools)

The ledger holds the hypotheses, the evidence with its numbers, and what was ruled out; each stage leaves it
in the trace (docs/forager.md). A candidate is answered only once the evidence tells it from its nearest
neighbour; else another round follows while there are turns, and then the level that the evidence carries is
answered. A model that writes no JSON has no hypotheses to verify: it uses its tools and concludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from langgraph.constants import END, START

from fieldmark.agents import turns
from fieldmark.agents.acting import Acting
from fieldmark.agents.base import Agent, AgentAnswer
from fieldmark.agents.foraging.comparing import comparison
from fieldmark.agents.foraging.ending import best_so_far, concluded, verified
from fieldmark.agents.foraging.ledger import Ledger, numbered
from fieldmark.agents.foraging.reading import read_thoughts, read_verdict
from fieldmark.agents.foraging.stages import (
    acquire_message,
    conclude_message,
    log_stage,
    verify_message,
)
from fieldmark.agents.foraging.state import Node, State, first_state, over
from fieldmark.agents.model import BudgetExhausted, ChatModel
from fieldmark.agents.pictures import Pictures
from fieldmark.agents.turns import PARALLEL_CALLS, Jobs, Turns, marked_answer
from fieldmark.client import GatewayClient
from fieldmark.needs import Needs
from fieldmark.task import Prompt

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from fieldmark.tools.base import Tool

MAX_ROUNDS = 3
"""Verifications in one episode; what is not decided by then is answered as far as it is."""

_STEPS_PER_TURN = 3  # acquire, act, gather
_STEPS_PER_ROUND = 2  # compare, verify
_STEPS_AROUND = 5  # observe, conclude, with room to spare


class Foraging:
    """The nodes of one episode's graph and the choices between them."""

    def __init__(self, model: ChatModel, acting: Acting, gateway: GatewayClient, prompt: Prompt) -> None:
        self._model = model
        self._acting = acting
        self._gateway = gateway
        self._sees = prompt.sees
        self._most_calls = prompt.limits.model_calls
        self._turns = Turns(acting, prompt.limits)

    def graph(self) -> CompiledStateGraph[State, Any, State, State]:
        """The compiled graph, without a checkpointer: an episode is never resumed in the middle."""
        from langgraph.graph import StateGraph

        graph = StateGraph(State)
        graph.add_node("observe", self._within_budget(self.observe))
        graph.add_node("acquire", self._within_budget(self.acquire))
        graph.add_node("act", self._turns.act)
        graph.add_node("gather", self.gather)
        graph.add_node("compare", self.compare)
        graph.add_node("verify", self._within_budget(self.verify))
        graph.add_node("conclude", self._within_budget(self.conclude))
        graph.add_conditional_edges(START, self.at_first, ["observe", "conclude"])
        graph.add_conditional_edges("observe", self.after_observe, ["acquire", "conclude", END])
        graph.add_conditional_edges("acquire", self.after_acquire, ["act", "compare", "conclude", END])
        graph.add_edge("act", "gather")
        graph.add_conditional_edges("gather", self.after_gather, ["acquire", "compare", "conclude"])
        graph.add_edge("compare", "verify")
        graph.add_conditional_edges("verify", self.after_verify, ["acquire", "conclude", END])
        graph.add_edge("conclude", END)
        return graph.compile()

    @property
    def recursion_limit(self) -> int:
        return _STEPS_PER_TURN * self._turns.most + _STEPS_PER_ROUND * MAX_ROUNDS + _STEPS_AROUND

    # --- the stages -------------------------------------------------------------------------------

    def observe(self, state: State) -> State:
        """What is seen, what it could be, what it could be mistaken for."""
        reply = self._model.chat(state["messages"])
        thoughts = read_thoughts(reply, state["ledger"])
        ledger = state["ledger"].with_thoughts(thoughts)
        seen = list(thoughts.observations) if thoughts else []
        self._log("observe", _best_of(ledger), ledger, observations=seen, turn=0)
        return {"messages": [reply.message], "reply": reply, "ledger": ledger}

    def acquire(self, state: State) -> State:
        """One turn with tools; text without calls ends the round."""
        messages, ledger = state["messages"], state["ledger"]
        begins = messages[-1]["role"] == "assistant"
        ask = [acquire_message(ledger, state["verdict"])] if begins else []
        reply = self._model.chat([*messages, *ask], self._acting.schemas)
        ledger = ledger.with_thoughts(read_thoughts(reply, ledger))
        turn = state["turn"] + 1
        if not reply.tool_calls:
            self._log("acquire", _best_of(ledger), ledger, turn=turn)
        return {"messages": [*ask, reply.message], "reply": reply, "turn": turn, "ledger": ledger}

    def gather(self, state: State) -> State:
        """The results of this turn in the order of its calls, each with its number as evidence."""
        done = self._turns.done(state)
        before = state["ledger"]
        ledger = before.with_outcomes(done)
        new = ledger.evidence[len(before.evidence) :]
        ids = ", ".join(each.id for each in new) or "nothing that can be cited"
        self._log("acquire", ids, ledger, new=new, turn=state["turn"])
        messages = self._acting.messages(numbered(done, before))
        return {"messages": messages, "malformed": self._turns.malformed(state, done), "ledger": ledger}

    def compare(self, state: State) -> State:
        """The task's picture beside one that was found of the candidate, if the model has not done so."""
        ledger, best = state["ledger"], state["ledger"].best
        call = comparison(ledger, best) if best and self._acting.offers("compare_images") else None
        if call is None:
            return {}
        outcome = self._acting.run(state["turn"], 0, call)
        after = ledger.with_outcomes([outcome], measured=True)
        new = after.evidence[len(ledger.evidence) :]
        self._log("compare", outcome.text[:200], after, new=new, turn=state["turn"])
        return {"ledger": after}

    def verify(self, state: State) -> State:
        """Whether the evidence supports exactly the best hypothesis rather than its nearest neighbour."""
        ledger, best = state["ledger"], state["ledger"].best
        assert best is not None  # `_settle` leads here with one only
        ask = verify_message(ledger, best, sees=self._sees)
        reply = self._model.chat([*state["messages"], ask])
        verdict = read_verdict(reply, ledger, best)
        if verdict and verdict.ruling == "refuted":
            ledger = ledger.without(best.name, verdict.why, verdict.cites)
        ruling = f"{best.name}: {verdict.ruling if verdict else 'no verdict could be read'}"
        self._log("verify", ruling, ledger, verdict=verdict, turn=state["turn"])
        update: State = {
            "messages": [ask, reply.message],
            "reply": reply,
            "ledger": ledger,
            "verdict": verdict,
        }
        if verdict and verdict.ruling == "exact":
            update["answer"] = self._answered(verified(ledger, verdict, reply.text), ledger)
        return {**update, "rounds": state["rounds"] + 1}

    def conclude(self, state: State) -> State:
        """The finest answer that the evidence carries, in one call without tools."""
        ledger, verdict = state["ledger"], state["verdict"]
        ask = conclude_message(ledger, verdict)
        reply = self._model.chat([*state["messages"], ask])
        ledger = ledger.with_thoughts(read_thoughts(reply, ledger))
        answer = concluded(ledger, verdict, reply)
        stop = None if answer else self._turns.why_none(state, reply)
        if stop:
            return {"stopped": stop}
        return {"answer": self._answered(answer or AgentAnswer("", raw=reply.text), ledger)}

    # --- the choices between them -----------------------------------------------------------------

    def at_first(self, state: State) -> str:
        return "observe" if self._calls_left() > 1 else "conclude"

    def after_observe(self, state: State) -> str:
        return END if over(state) else self._acquire_or("conclude", state)

    def after_acquire(self, state: State) -> str | Jobs:
        return END if over(state) else self._turns.jobs(state) or self._settle(state)

    def after_gather(self, state: State) -> str:
        return self._acquire_or(self._settle(state), state)

    def after_verify(self, state: State) -> str:
        if over(state):
            return END
        if state["verdict"] is None or state["rounds"] >= MAX_ROUNDS:
            return "conclude"
        return self._acquire_or("conclude", state)

    def _acquire_or(self, otherwise: str, state: State) -> str:
        """Another turn, if there are tools and turns, and calls for it, a verification and the answer."""
        reserve = 2 if state["ledger"].best else 1
        can = self._acting.schemas and not self._turns.spent(state) and self._calls_left() > reserve
        return "acquire" if can else otherwise

    def _settle(self, state: State) -> str:
        """To verification if there is a candidate, rounds are left and something is new since the last."""
        ledger, last = state["ledger"], state["verdict"]
        best = ledger.best
        if best is None or state["rounds"] >= MAX_ROUNDS or self._calls_left() < 2:
            return "conclude"
        same = last is not None and (last.candidate, last.known) == (best.name, len(ledger.evidence))
        return "conclude" if same else "compare"

    def _calls_left(self) -> float:
        return self._most_calls - self._model.calls if self._most_calls else float("inf")

    # --- budget and trace -------------------------------------------------------------------------

    def _within_budget(self, node: Node) -> Node:
        """The node; where the budget ends in it, what stands in the ledger is answered."""

        @wraps(node)
        def run(state: State) -> State:
            try:
                return node(state)
            except BudgetExhausted as error:
                found = best_so_far(state["ledger"], state["verdict"]) or marked_answer(state["messages"])
                return {"answer": self._answered(found, state["ledger"])} if found else {"stopped": error}

        return run

    def _answered(self, answer: AgentAnswer, ledger: Ledger) -> AgentAnswer:
        supported = bool(answer.evidence)
        message = f"{answer.text[:200]}{'' if supported else ' (unsupported: cites no evidence)'}"
        self._log("answer", message, ledger, supported=supported)
        return answer

    def _log(self, stage: str, message: str, ledger: Ledger, **more: Any) -> None:
        log_stage(self._gateway, stage, message, ledger, **more)


class Forager:
    """Evidence and verification around whatever tools the run offers, but `answer`: it answers itself."""

    name = "forager"
    uses_tools = True
    without_tools = frozenset({"answer"})
    lean = False
    needs = Needs()

    def warm(self) -> None:
        """LangGraph."""
        turns.warm()

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Run the graph to its end. Raises AgentStopped when there is no answer."""
        tools = [tool for tool in tools if tool.name not in self.without_tools]
        pictures = Pictures(gateway, prompt)
        model, acting = ChatModel(gateway, prompt, pictures), Acting(prompt, gateway, tools, pictures)
        foraging = Foraging(model, acting, gateway, prompt)
        end = foraging.graph().invoke(
            first_state(prompt, tools),
            {"recursion_limit": foraging.recursion_limit, "max_concurrency": PARALLEL_CALLS},
        )
        if "answer" not in end:
            raise end["stopped"]
        answer: AgentAnswer = end["answer"]
        return answer


def _best_of(ledger: Ledger) -> str:
    best = ledger.best
    return f"{best.name[:200]} of {len(ledger.hypotheses)}" if best else "no hypotheses could be read"


AGENT: Agent = Forager()
