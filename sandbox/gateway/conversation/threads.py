"""Which conversation a request belongs to, and what it is there: a step, a side call, a retry.

An agent may talk to its model in several conversations: its own, those of its sub-agents, and side calls
(a title, a summary, a tool that asks the model). Told apart by the session that the client names, else by
what was said: a request belongs where it goes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from fieldmark.sandbox.gateway.conversation.calls import OpenCall
from fieldmark.sandbox.gateway.conversation.said import Asked, plain_id

Purpose = Literal["step", "side", "retry"]


@dataclass
class Sent:
    """A request that was sent. `failed`: no reply that a client could use came, None: still waiting."""

    call: str
    keys: tuple[int, ...]
    role: int
    has_tools: bool
    failed: bool | None = None


@dataclass
class Thread:
    """One conversation. `works`: a request of it had tools. `parent` and `parent_call`: of a sub-agent, the
    conversation and the call that began it. `results`: of its last request, by plain id.
    """

    name: str
    session: str | None
    parent: str | None = None
    parent_call: str | None = None
    works: bool = False
    sent: list[Sent] = field(default_factory=list)
    tools: tuple[str, ...] = ()
    results: Counter[str] = field(default_factory=Counter)
    calls: list[OpenCall] = field(default_factory=list)

    def common(self, asked: Asked) -> int:
        """How many messages at the beginning the request shares with the last one here."""
        last = self.sent[-1].keys if self.sent else ()
        pairs = enumerate(zip(last, asked.keys, strict=False))
        return next((index for index, (old, new) in pairs if old != new), min(len(last), len(asked.keys)))

    def answers(self, asked: Asked) -> bool:
        """Whether the request holds a new result of a call that is open here."""
        ids = {plain_id(call.id) for call in self.calls}
        return any(count > self.results[name] for name, count in asked.results.items() if name in ids)

    def same_before(self, asked: Asked) -> Sent | None:
        """The latest request here that said the same and had no usable reply."""
        same = [
            old for old in self.sent
            if (old.keys, old.role, old.has_tools) == (asked.keys, asked.role, bool(asked.tools))
        ]  # fmt: skip
        return same[-1] if same and same[-1].failed and not asked.partial else None

    def before(self, asked: Asked) -> Sent | None:
        """The latest request here that this one goes on from: its last message is kept in its place."""
        kept = [
            old for old in self.sent
            if 0 < len(old.keys) < len(asked.keys) and asked.keys[len(old.keys) - 1] == old.keys[-1]
        ]  # fmt: skip
        return max(reversed(kept), key=lambda old: len(old.keys), default=None)

    def add(self, call: str, asked: Asked) -> Sent:
        sent = Sent(call, asked.keys, asked.role, bool(asked.tools))
        self.sent.append(sent)
        self.works = self.works or bool(asked.tools)
        self.tools = asked.tools or self.tools
        self.results = asked.results
        return sent


class Threads:
    """The conversations of an episode, the latest used first."""

    def __init__(self) -> None:
        self._all: list[Thread] = []

    @property
    def working(self) -> bool:
        """Whether the agent has offered tools to its model anywhere."""
        return any(thread.works for thread in self._all)

    def open_calls(self) -> list[OpenCall]:
        """All that wait for a result, those of the latest conversation first."""
        return [call for thread in self._all for call in thread.calls]

    def of(self, asked: Asked) -> Thread:
        """The request's conversation, a new one if it goes on with none."""
        thread = self._known(asked) or self._new(asked)
        if thread in self._all:
            self._all.remove(thread)
        self._all.insert(0, thread)
        return thread

    def purpose(self, thread: Thread, asked: Asked) -> Purpose:
        """What a request is, its being sent again apart: without tools beside an agent that works with
        tools it is a side call, unless it goes on with a conversation that works.
        """
        return "step" if asked.tools or thread.works or not self.working else "side"

    def _known(self, asked: Asked) -> Thread | None:
        near = [thread for thread in self._all if thread.session == asked.session]
        # a call without tools goes on with a conversation only in the same role
        near = [t for t in near if t.sent and (asked.tools or t.sent[-1].role == asked.role)]
        best = max(near, key=lambda thread: thread.common(asked), default=None)
        if best and best.common(asked):
            return best
        return next((thread for thread in near if thread.answers(asked)), None)

    def _new(self, asked: Asked) -> Thread:
        thread = Thread(f"t{len(self._all) + 1}", asked.session)
        workers = [other for other in self._all if other.works]
        if not asked.tools or not workers:
            return thread
        above = asked.parent_session
        named = [other for other in workers if above is not None and other.session == above]
        call = _beginner(named or workers, asked)
        if call is None and above is None:
            again = [other for other in workers if _same_role(other, asked)]
            if again:  # the same agent, with a fresh context
                return again[0]
        thread.parent = (named or workers)[0].name
        if call:
            call.adopted = True
            thread.parent_call = call.tap
            thread.parent = next(other.name for other in workers if call in other.calls)
        return thread


def _same_role(thread: Thread, asked: Asked) -> bool:
    role = thread.sent[-1].role
    return (thread.session, thread.tools, role) == (asked.session, asked.tools, asked.role)


def _beginner(threads: list[Thread], asked: Asked) -> OpenCall | None:
    """The open call that began a sub-agent: the one that holds its first message, else the first."""
    calls = [c for t in threads for c in t.calls if c.side == "subagent" and not c.adopted]
    first = asked.said[0].text if asked.said else ""
    told = [c for c in calls if isinstance(c.values, dict) and first in map(str, c.values.values())]
    return next(iter(told or calls), None)
