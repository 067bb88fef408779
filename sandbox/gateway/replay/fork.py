"""The model of a fork: a recording as far as the fork, then the model itself, with one thing changed.

A request belongs to the recording when the one at its place (purpose, n-th request) was made there before
the fork. Nothing is added to the trace at the fork: the event that was changed has `forked`, so that the
numbers of events, which agents are told, stay those of the recording.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.replay.change import Change, Rewritten
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.sandbox.gateway.replay.upstream import ReplayUpstream
from fieldmark.sandbox.gateway.upstream import Upstream, UpstreamReply
from fieldmark.sandbox.gateway.wire import messages
from fieldmark.sandbox.gateway.wire.common import Body, Format
from fieldmark.trace import Purpose, Role


@dataclass(frozen=True)
class Fork:
    """A place in a recorded episode. Requests whose event is numbered below `seq` are answered from there."""

    recording: Recording
    task: str
    epoch: int
    seq: int
    change: Change

    def before(self, role: Role) -> Counter[Purpose]:
        """How many requests of each purpose are answered from the recording."""
        made = self.recording.exchanges(self.task, self.epoch, role)
        return Counter(
            {
                purpose: sum(each.request.seq < self.seq for each in exchanges)
                for purpose, exchanges in made.items()
            }
        )


class ForkUpstream:
    """`live` answers after the fork; None: the recording goes on, as far as it goes.

    As long as requests belong to the recording, name and forced parameters are the recorded ones.
    """

    def __init__(self, fork: Fork, live: Upstream | None, role: Role = "agent") -> None:
        self._fork = fork
        self._live = live
        self._role: Role = role
        changed = fork.change.response if role == "agent" else None
        self._recorded = ReplayUpstream(
            fork.recording, role, task=fork.task, epoch=fork.epoch, changed=changed
        )
        self.name = self._recorded.name
        self.sees = self._recorded.sees
        self.force: Mapping[str, Any] = self._recorded.force
        self._before = fork.before(role)
        self._asked: Counter[Purpose] = Counter()
        self._arrived = 0
        self._lock = threading.Lock()

    def for_episode(self, task: str, epoch: int) -> ForkUpstream:
        """Whichever epoch it is, it is a continuation of the recorded one."""
        live = self._live and self._live.for_episode(task, epoch)
        return ForkUpstream(self._fork, live, self._role)

    def arriving(self, wire: Format, whole: str, body: Body, pictures: set[str]) -> Rewritten | None:
        """A request of the agent has come: how it goes out; None: as it came."""
        with self._lock:  # each request comes in a thread of its own
            self._arrived += 1
            if not self._is_left:
                return None
            if self._live:
                self.name, self.force = self._live.name, self._live.force
        return self._fork.change.rewritten(wire, whole, body, pictures)

    async def close(self) -> None:
        if self._live:
            await self._live.close()

    @asynccontextmanager
    async def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AsyncIterator[UpstreamReply]:  # fmt: skip
        if path == messages.COUNT_PATH:
            is_before = not self._is_left
        else:
            self._asked[purpose] += 1
            is_before = self._asked[purpose] <= self._before[purpose]
        to = self._recorded if is_before or self._live is None else self._live
        async with to.send(path, payload, clock, whole=whole, headers=headers, purpose=purpose) as reply:
            # after the fork requests are other ones for that
            yield reply if is_before else replace(reply, drift=None)

    @property
    def _is_left(self) -> bool:
        return self._arrived > self._before.total()
