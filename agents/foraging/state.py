"""The state of a forager's graph, and how it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fieldmark.agents.foraging.ledger import Ledger, Verdict
from fieldmark.agents.foraging.stages import observe_part
from fieldmark.agents.messages import system, task_message, user
from fieldmark.agents.turns import TurnState, instructions
from fieldmark.task import Prompt
from fieldmark.tools.base import Tool


class State(TurnState, total=False):
    """`verdict` is the last one; `rounds` counts verifications."""

    ledger: Ledger
    verdict: Verdict | None
    rounds: int


class Node(Protocol):
    """A step of the graph: what it changes of the state."""

    def __call__(self, state: State) -> State: ...


def first_state(prompt: Prompt, tools: Sequence[Tool]) -> State:
    """The state before the first stage."""
    task = user(*task_message(prompt)["content"], observe_part())
    messages = [system(instructions("forager", prompt, tools)), task]
    return {
        "messages": messages,
        "outcomes": [],
        "turn": 0,
        "malformed": 0,
        "ledger": Ledger(),
        "verdict": None,
        "rounds": 0,
    }


def over(state: State) -> bool:
    """Whether the episode has its answer, or will have none."""
    return "answer" in state or "stopped" in state
