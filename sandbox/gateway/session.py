"""One attempt at one task, seen from its gateway: clock, budget, trace, answer, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fieldmark.blobs import BlobStore
from fieldmark.errors import EpisodeFault, GatewayFault, HostFault, ModelFault
from fieldmark.prices import Costs
from fieldmark.records import Status
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.budget import MAX_REFUSED, Budget
from fieldmark.sandbox.gateway.citing import Citable
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.conversation.actions import Actions
from fieldmark.sandbox.gateway.conversation.tracker import Conversation
from fieldmark.sandbox.gateway.keeper import Keeper
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.tracer import Tracer
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sight import Shown
from fieldmark.skills.skill import Skill
from fieldmark.task import Prompt
from fieldmark.trace import Answer, By, ErrorInfo, Picture, Role, Tokens

if TYPE_CHECKING:
    from fieldmark.sandbox.gateway.game import Table
    from fieldmark.sandbox.gateway.memory import Memory
    from fieldmark.sandbox.gateway.search.door import SearchDoor
    from fieldmark.sandbox.gateway.states import NativeState
    from fieldmark.sandbox.gateway.web.door import WebDoor

HARD_STOP = 3
"""Wall time beyond this many limits is never the agent's doing: the gateway waited too long."""
CLOSE_GRACE = 10.0
"""Seconds an agent may take to end after its answer, before the answer is taken as final."""
EYES_CALLS = 40
"""Questions to the vision model in an episode; they use up none of the agent's own calls."""
LOOK_UPS_AT_ONCE = 2
MAX_NOTES = 100
MAX_DENIALS = 300
T = TypeVar("T")

_ENDED_AS: dict[str, Status] = {
    **dict.fromkeys(("empty", "truncated", "reasoning_only", "refused", "tool_call_malformed"), "empty"),
    **dict.fromkeys(("budget", "max_turns"), "budget"),
}
"""What an agent says of ending without an answer → the episode's status; any other word is `agent_error`."""


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended. `error` is set for `agent_error` and `sandbox_error`."""

    status: Status
    answer: Answer | None = None
    error: ErrorInfo | None = None
    stops_run: bool = False


@dataclass(frozen=True)
class Pictures:
    """The staged picture: where its original lies on the host, and the bytes of the view."""

    original_path: str
    view: bytes


class Session:
    """Everything the gateway knows of an attempt. `ended` resolves once, to its Outcome."""

    def __init__(
        self, prompt: Prompt, pictures: Pictures, *, tracer: Tracer, clock: Clock, blobs: BlobStore,
        upstream: Upstream, backends: Backends, skills: Sequence[Skill] = (), web: WebDoor | None = None,
        search: SearchDoor | None = None, eyes: Upstream | None = None, costs: Costs | None = None,
        actions: Actions | None = None, memory: Memory | None = None, state: NativeState | None = None,
        table: Table | None = None,
    ) -> None:  # fmt: skip
        self.prompt = prompt
        self.pictures = pictures
        self.blobs = Keeper(blobs)
        self.upstream = upstream
        self.backends = backends
        self.skills = skills
        self.web = web
        self.search = search
        self.eyes = eyes
        self.eyes_left = EYES_CALLS
        self.memory = memory
        self.state = state
        self.table = table
        self.citable = Citable()
        self.clock = clock
        self.ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.answer: Answer | None = None
        self.last_text = ""  # of the agent's model
        self.counts = {"model_calls": 0, "acts": 0, "claimed_events": 0, "calls_without_usage": 0}
        self.tokens = Tokens()
        self.role_tokens: dict[Role, Tokens] = {}
        self.held_bytes = 0  # of request bodies that are being worked on
        self.known_pictures: dict[str, Picture] = {p.blob: p for p in (prompt.image, prompt.view)}
        self.looked_at: dict[str, bool] = {}  # pictures that were decoded: whether they are the task's
        self.shown: list[Shown] = []
        self.conversation = Conversation(actions)
        self._tracer = tracer
        self.budget = Budget(prompt.limits)
        self._costs = costs or Costs({})
        self._disk_error: OSError | None = None
        self._notes = self._denials = 0
        self._looking_up = asyncio.Semaphore(LOOK_UPS_AT_ONCE)
        self._working: set[asyncio.Task[Any]] = set()
        self._watch: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The agent gets the episode now: its clock starts."""
        self.clock.restart()
        self._watch = asyncio.create_task(self._watch_limit())

    # -- trace ---------------------------------------------------------------------------------

    def log(self, by: By, kind: str, fields: dict[str, Any]) -> int:
        """Write one event. A disk that takes no more ends the attempt as the host's fault."""
        if self._tracer.closed:  # a claim that arrived after the end
            return -1
        try:
            seq = self._tracer.write(by, kind, fields)
        except OSError as error:
            self.fail_on_disk(error)
            return -1
        self.citable.saw(seq, by, kind, fields)
        return seq

    def log_all(self, lines: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Events of the gateway's own: kind and fields of each."""
        for kind, fields in lines:
            self.log("gateway", kind, fields)

    def note(self, level: str, message: str) -> None:
        """A `log` event of the gateway's own; a sandbox that provokes very many gets no more of them."""
        self._notes += 1
        if self._notes <= MAX_NOTES:
            last = "; further notes are not written" if self._notes == MAX_NOTES else ""
            self.log("gateway", "log", {"level": level, "message": message + last})

    def note_over_limit(self, message: str) -> None:
        """Something was too large or too much: noted once, then counted."""
        if "over_limit" not in self.counts:
            self.counts["over_limit"] = 0
            self.note("warning", f"{message}; what is over a limit is refused")
        self.counts["over_limit"] += 1

    def note_denied(self, method: str, url: str, reason: str) -> None:
        """A web request that the policy denied; the first MAX_DENIALS are written, all are counted."""
        self.counts["denied"] = self._denials = self._denials + 1
        if self._denials <= MAX_DENIALS:
            self.log(
                "gateway",
                "egress",
                {
                    "method": method,
                    "url": url,
                    "bytes": 0,
                    "http": 403,
                    "decision": "denied",
                    "reason": reason,
                },
            )

    # -- budget --------------------------------------------------------------------------------

    def take_model_call(self, digest: bytes) -> str:
        """The name of the next model call. Refused (400) when a budget of the episode is used up.

        `digest` is of the request. An agent that will not stop asking is stopped.
        """
        if self.budget.take(digest, self.tokens, self._costs.spent(self.tokens, self.role_tokens)):
            self.counts["model_calls"] += 1
            return f"m{self.counts['model_calls']}"
        why = self.budget.hit or ""
        if self.budget.refused == 1:
            self.note("warning", why)
        if self.budget.refused > MAX_REFUSED:
            self.finish()
        raise Refused(400, "budget_exhausted", why)

    def add_tokens(self, tokens: Tokens | None, role: Role = "agent") -> None:
        """Sum what the upstream reported; a response without usage is counted as such, not as 0."""
        if tokens is None or tokens.input is None or tokens.output is None:
            key = "calls_without_usage" if role == "agent" else f"{role}_calls_without_usage"
            self.counts[key] = self.counts.get(key, 0) + 1
            return
        total = self.tokens if role == "agent" else self.role_tokens.setdefault(role, Tokens())
        for field in ("input", "output", "cached", "reasoning"):
            more = getattr(tokens, field)
            if more is not None:
                setattr(total, field, (getattr(total, field) or 0) + more)

    @property
    def cost(self) -> float | None:
        """USD so far, of the agent's calls and of those of other models; None where any of it is unknown."""
        return self._costs.whole(self.tokens, self.role_tokens, self.counts)

    async def work(self, job: Coroutine[Any, Any, Any]) -> Any:
        """Run a job that must be over (or cancelled) before the trace is closed."""
        task = asyncio.ensure_future(job)
        self._working.add(task)
        try:
            return await task
        finally:
            self._working.discard(task)

    async def look_up(self, job: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Run a look-up of the host; one container has only a few at once, so that others get theirs."""
        async with self._looking_up:
            return await job(self.clock, *args)

    async def in_thread(self, job: Callable[..., T], *args: Any) -> T:
        """Hash, pack and write where it holds up no other episode."""
        return await asyncio.get_running_loop().run_in_executor(self.backends.threads, job, *args)

    # -- the end -------------------------------------------------------------------------------

    def take_answer(self, answer: Answer) -> None:
        """The last answer counts; an agent that does not end soon after is not waited for."""
        self.answer = answer
        asyncio.get_running_loop().call_later(CLOSE_GRACE, self._close_after_answer, answer)

    def finish(self, error: ErrorInfo | None = None) -> None:
        """The agent said that it has finished, or crashed, or its container died by its own doing."""
        if self.answer is not None and self.answer.text.strip():
            if error:
                self.note("warning", f"after its answer: {error.message}")
            self._end(Outcome("answered", self.answer))
        elif self.budget.hit:
            self._end(Outcome("budget", self.answer, error))
        else:
            self._end(
                Outcome(_ENDED_AS.get(error.kind, "agent_error") if error else "empty", self.answer, error)
            )

    def fail(self, fault: EpisodeFault) -> None:
        """Something other than the agent broke."""
        self._end(_failed(fault, self.answer))

    def fail_on_disk(self, error: OSError) -> None:
        self._disk_error = error
        self.fail(disk_fault(error))

    async def close(self, outcome: Outcome) -> Outcome:
        """Stop what still runs, then write `episode_end` and close the trace.

        Returns the outcome, or the host's fault when not all of the trace could be written.
        """
        jobs = [*self._working, *([self._watch] if self._watch else [])]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        self.log_all(self.conversation.end())
        self.log(
            "runner",
            "episode_end",
            {
                "status": outcome.status,
                "error": outcome.error and outcome.error.model_dump(),
                "seconds": round(self.clock.wall, 3),
                "charged_seconds": round(self.clock.charged, 3),
                "counts": self.counts,
                "tokens": self.tokens.model_dump(exclude_none=True) or None,
                "role_tokens": {
                    role: tokens.model_dump(exclude_none=True) for role, tokens in self.role_tokens.items()
                }
                or None,
                "cost": self.cost,
            },
        )
        self._tracer.close()
        if self._disk_error is None or outcome.stops_run:
            return outcome
        return _failed(disk_fault(self._disk_error), self.answer)

    def abandon(self) -> None:
        """The run was interrupted: this attempt never happened; its trace stays uncommitted."""
        for job in [*self._working, *([self._watch] if self._watch else [])]:
            job.cancel()
        self._end(Outcome("sandbox_error"))
        self._tracer.close()

    def _end(self, outcome: Outcome) -> None:
        if not self.ended.done():
            self.ended.set_result(outcome)

    def _close_after_answer(self, answer: Answer) -> None:
        if not self.ended.done() and self.answer is answer:
            self.note("warning", f"the agent did not end within {CLOSE_GRACE:g} s of its answer")
            self.finish()

    async def _watch_limit(self) -> None:
        limit = self.prompt.limits.seconds
        while self.clock.charged < limit and self.clock.wall <= HARD_STOP * limit:
            await asyncio.sleep(max(0.02, min(1.0, limit - self.clock.charged)))
        if self.clock.charged < limit:
            message = f"the model kept this episode waiting over {HARD_STOP} x its limit"
            self.fail(ModelFault(message, kind="waited"))
        elif self.answer is not None:
            self.finish()
        else:
            if not self.counts["model_calls"]:
                self.note("warning", "the agent did not ask its model once: it may have hung at its start")
            self._end(Outcome("timeout"))


def _failed(fault: EpisodeFault, answer: Answer | None) -> Outcome:
    error = ErrorInfo(boundary=fault.boundary, kind=fault.kind, message=str(fault))
    return Outcome("sandbox_error", answer, error, fault.stops_run)


def disk_fault(error: OSError) -> HostFault:
    """The run folder takes no more: every further episode would break alike."""
    return HostFault(f"the run folder cannot be written: {error.strerror}", kind="disk", stops_run=True)


def host_or_gateway_fault(error: Exception) -> EpisodeFault:
    """What broke inside a route, when it was not the request: the host's disk, or a bug of ours."""
    if isinstance(error, OSError) and error.errno:
        return disk_fault(error)
    return GatewayFault(f"the gateway failed: {type(error).__name__}: {error}"[:500], kind="bug")
