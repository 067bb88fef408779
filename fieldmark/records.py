"""The rows of a run folder: what became of an episode, and the judge's word on its answer."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from fieldmark.trace import ErrorInfo, Role, Tokens

Status = Literal["answered", "empty", "timeout", "agent_error", "budget", "sandbox_error"]
AGENT_STATUSES = frozenset({"answered", "empty", "timeout", "agent_error", "budget"})
"""The statuses that are the agent's and count in every denominator; `sandbox_error` is ours."""

PERSON = "person"
"""The agent of an exam (`fieldmark exam`): the trace holds what it handed in, not what it did."""

VerdictLabel = Literal["correct", "partially_correct", "incorrect", "uncertain"]


class Row(BaseModel):
    """A row keyed by (`id`, `epoch`); fields of newer versions are kept when read."""

    model_config = ConfigDict(extra="allow")

    id: str
    epoch: int = 0

    @property
    def key(self) -> tuple[str, int]:
        return (self.id, self.epoch)


class Sight(BaseModel):
    """What of the task picture reached the model of an agent, by the requests that its server did not refuse.

    `width` × `height` is the largest that was `delivered`, `first_call` the first model call that held it.
    `lost_at` is the call from which on the main conversation held it no more. `calls` are the model calls,
    `with_picture` those that held it, `refused` those that held it and that the server would not take.
    """

    model_config = ConfigDict(extra="allow")

    delivered: Literal["exact", "resampled", "none"]
    width: int = 0
    height: int = 0
    first_call: str | None = None
    lost_at: str | None = None
    calls: int = 0
    with_picture: int = 0
    refused: int = 0


class GameRow(Row):
    """A game of an episode as it was left, whole (`evals/amigo/rows.py`): it tells the target."""

    game: dict[str, Any]


class EpisodeRecord(Row):
    """One finished episode. `seconds` is wall time since the lease; `charged_seconds` leaves out the
    time the gateway itself waited; `tokens` are the agent's, `role_tokens` those of other models; `cost` is
    USD, None where a price or a usage is unknown; `trace` is the file name under `traces/`; `started` is
    UTC ISO 8601; `picture` is what of the task picture reached the model.
    """

    attempt: int = 0
    status: Status
    agent: str
    model: str
    answer: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    seconds: float
    charged_seconds: float
    counts: dict[str, int] = {}
    tokens: Tokens | None = None
    role_tokens: dict[Role, Tokens] = {}
    cost: float | None = None
    error: ErrorInfo | None = None
    picture: Sight | None = None
    started: str
    trace: str


class Leak(Row):
    """Whether an agent came upon its task picture itself (`copied`), and whether that gave the answer away.

    `leaked` is None where a copy was found and gold is not here to tell. `ways`: how copies were found.
    """

    copied: bool
    leaked: bool | None
    ways: list[str] = []


class JudgeUse(BaseModel):
    """What was asked of a judge's model for one answer: `calls` that it replied to, those `without_usage`,
    and the `tokens` of the others.
    """

    model_config = ConfigDict(extra="allow")

    calls: int = 0
    without_usage: int = 0
    tokens: Tokens = Tokens()

    def plus(self, tokens: Tokens | None) -> JudgeUse:
        """One reply more; None: it said nothing of its usage."""
        if tokens is None or tokens.input is None or tokens.output is None:
            return self.model_copy(update={"calls": self.calls + 1, "without_usage": self.without_usage + 1})
        return self.model_copy(update={"calls": self.calls + 1, "tokens": added(self.tokens, tokens)})


def added(one: Tokens, other: Tokens) -> Tokens:
    """The sum of what is known; None where neither says anything."""
    return Tokens(**{name: _sum(getattr(one, name), getattr(other, name)) for name in Tokens.model_fields})


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


class Verdict(Row):
    """Is the answer right. `score` is a fraction 0–1. `finer`: more specific than gold and compatible.

    `reason` can quote gold, so it is stored in the private part of the run folder only. `judge` names the
    judge and, for one that is a model, its settings: a hash that `judges` in run.json spells out. `repaired`
    and `truncated` mark a verdict that was read from a faulty reply. `votes` of a panel: label → how many.
    `use`: what the judge's model was asked for it; None without a model.
    """

    label: VerdictLabel
    score: float
    judge: str
    finer: bool = False
    repaired: bool = False
    truncated: bool = False
    votes: dict[VerdictLabel, int] | None = None
    use: JudgeUse | None = None
    reason: str | None = None
