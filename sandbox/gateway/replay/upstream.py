"""`replay:RUN` as a model: each request of an episode gets the reply that stood at its place in a recording.

The place is (task, epoch, role, purpose, n-th request). What is asked is compared with what was, see
`drift`; a difference is reported, never a reason for another reply.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fieldmark.errors import ModelFault
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.replay import reply
from fieldmark.sandbox.gateway.replay.drift import differences
from fieldmark.sandbox.gateway.replay.recording import Exchange, Recording
from fieldmark.sandbox.gateway.upstream import UpstreamReply, each
from fieldmark.sandbox.gateway.wire import messages
from fieldmark.sandbox.gateway.wire.common import Body, Format
from fieldmark.sandbox.gateway.wire.formats import format_of
from fieldmark.sandbox.gateway.wire.requests import stored_text, without_pictures
from fieldmark.trace import ModelResponse, Purpose, Role


class ReplayUpstream:
    """The model, or the eyes, of a recording. Name, sight and forced parameters are the recorded ones.

    `strict`: a request that differs from the recorded one stops the run. `task`: of `for_episode`.
    `changed` is given instead of the recorded response of the same call: a fork.
    """

    def __init__(
        self, recording: Recording, role: Role = "agent", *, strict: bool = False,
        task: str | None = None, epoch: int = 0, changed: ModelResponse | None = None,
    ) -> None:  # fmt: skip
        described = recording.model(role)
        self.name = str(described.get("name") or "?")
        self.sees = described.get("sees") is not False
        self.force: Mapping[str, Any] = described.get("force") or {}
        self._recording = recording
        self._role: Role = role
        self._strict = strict
        self._task = task
        self._epoch = epoch
        self._changed = changed
        self._recorded = recording.exchanges(task, epoch, role) if task is not None else {}
        self._asked: Counter[Purpose] = Counter()

    def for_episode(self, task: str, epoch: int) -> ReplayUpstream:
        return ReplayUpstream(self._recording, self._role, strict=self._strict, task=task, epoch=epoch)

    async def close(self) -> None:
        """Nothing to close."""

    @asynccontextmanager
    async def send(
        self, path: str, payload: bytes, clock: Clock, *, whole: bool, headers: Mapping[str, str],
        purpose: Purpose = "step",
    ) -> AsyncIterator[UpstreamReply]:  # fmt: skip
        if path == messages.COUNT_PATH:
            raise ModelFault("a recording cannot count tokens", kind="replay_missing")
        wire, place = format_of(path), self._place(purpose)
        recorded = self._exchange(place)
        asked, drift = await asyncio.to_thread(self._compared, wire, payload, recorded)
        if drift and self._strict:
            why = f"{drift}: run with --no-strict, or record again"
            raise self._fault(place, why, kind="drift", stops_run=True)
        response = await self._response(place, recorded)
        key = f"{self._task}/{self._epoch}/{self._role}/{place.purpose}/{place.number}"
        kind, chunks = reply.reply(wire, response, asked, model=self.name, key=key)
        yield UpstreamReply(
            response.http, kind, each(chunks), response.tries, drift=drift, forked=response.forked
        )

    def _place(self, purpose: Purpose) -> _Place:
        """Nothing is waited for before, so that requests keep their order."""
        self._asked[purpose] += 1
        return _Place(purpose, self._asked[purpose])

    def _exchange(self, place: _Place) -> Exchange:
        exchanges = self._recorded.get(place.purpose, [])
        if place.number > len(exchanges):
            made = f"only {len(exchanges)} are recorded" if exchanges else "none is recorded"
            raise self._fault(place, f"{made}: {self._record_again}")
        return exchanges[place.number - 1]

    async def _response(self, place: _Place, recorded: Exchange) -> ModelResponse:
        response = recorded.response
        if response is not None and reply.was_left(response):
            await asyncio.Event().wait()  # as then: until the agent leaves, or its time is over
        if response is None or not reply.is_whole(response):
            raise self._fault(place, f"its reply is not recorded whole: {self._record_again}")
        return self._changed if self._changed and self._changed.call == response.call else response

    def _compared(self, wire: Format, payload: bytes, recorded: Exchange) -> tuple[Body, str | None]:
        """The request as JSON, its pictures by their hashes; where it differs from the recorded one."""
        asked: Body = json.loads(without_pictures(payload.decode()).text)
        request = recorded.request
        try:
            was = json.loads(stored_text(request, self._recording.blobs)) | request.sent
        except KeyError:
            return asked, f"cannot be compared with the recorded {request.call}: a blob of it is gone"
        if request.wire != wire.NAME:
            return asked, f"differs from the recorded {request.call} in its wire format"
        places = ", ".join(differences(wire, asked, was))
        return asked, f"differs from the recorded {request.call} in {places}" if places else None

    @property
    def _record_again(self) -> str:
        return f"record it again with --model {self.name}"

    def _fault(
        self, place: _Place, why: str, *, kind: str = "replay_missing", stops_run: bool = False
    ) -> ModelFault:
        episode = f"task {self._task!r}" + (f", epoch {self._epoch}" if self._epoch else "")
        where = f"replay of {self._recording.name}, {episode}, {self._role} request {place.number}"
        return ModelFault(f"{where} ({place.purpose}) {why}", kind=kind, stops_run=stops_run)


@dataclass(frozen=True)
class _Place:
    """Where a request stands among those of its purpose, from 1."""

    purpose: Purpose
    number: int
