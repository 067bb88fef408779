"""Agent (who decides) and AgentAnswer (what it says), and how an agent ends without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fieldmark.errors import FieldmarkError

if TYPE_CHECKING:
    from fieldmark.client import GatewayClient
    from fieldmark.needs import Needs
    from fieldmark.task import Prompt
    from fieldmark.tools.base import Tool


class AgentAnswer(NamedTuple):
    """What an agent says at the end. `confidence` is a fraction 0-1; an empty `text` is no answer.

    `raw` is the model's reply that `text` was read from. `posted` is true when the `answer` tool has
    already sent the answer through the gateway, so that the worker does not send it twice. `parsed_by` says
    how `text` was found in `raw` (`fieldmark.agents.parsing`), where it was.
    """

    text: str
    confidence: float | None = None
    rationale: str | None = None
    evidence: Sequence[int | str] = ()
    raw: str = ""
    posted: bool = False
    parsed_by: str | None = None


class AgentStopped(FieldmarkError):
    """An agent ended without an answer; `kind` is the machine word that reaches `POST /done`.

    Kinds: `budget` (model calls used up), `max_turns`, `truncated` (cut at the token limit before an
    answer), `reasoning_only` (all of it in the reasoning field), `refused`, `tool_call_malformed`,
    `model_refused`, `model_unavailable`. Anything else that an agent raises is reported as `crash`.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Agent(Protocol):
    """One file `agents/<name>.py` with a module constant `AGENT` makes an agent.

    `uses_tools` is whether the tools of the run are offered to it; one that does not use tools gets none.
    `without_tools` are tools that it has no use for. `needs` is what its container must have.
    `lean`: it works through `gateway` alone and reads no more than attributes of the prompt, so that neither
    Pydantic is imported nor the relay started for it.
    """

    name: str
    uses_tools: bool
    without_tools: frozenset[str]
    needs: Needs
    lean: bool

    def warm(self) -> None:
        """Import what `solve` takes, in the container and while nobody waits; the host never needs it."""
        ...

    def solve(self, prompt: Prompt, gateway: GatewayClient, tools: Sequence[Tool]) -> AgentAnswer:
        """Answer the prompt. Raises AgentStopped; lets GatewayGone pass (the episode has ended)."""
        ...
