"""GET, PUT /memory/state: files that an agent of others keeps for later episodes, where a run has any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import web

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session

_STATUS = {"invalid_args": 400, "denied": 403}


class NativeState(Protocol):
    """What an episode begins with and may leave; ToolError says why it may not."""

    @property
    def files(self) -> Mapping[str, str]:
        """Path → text."""

    @property
    def writes(self) -> bool:
        """Whether what it leaves is kept."""

    def keep(self, files: Any) -> tuple[str, dict[str, Any]]:
        """The state as one text, and the fields of the `memory_state` event."""


async def begin(session: Session, request: web.BaseRequest) -> web.Response:
    """What earlier episodes left."""
    state = _state(session)
    return web.json_response({"files": dict(state.files), "writes": state.writes})


async def leave(session: Session, request: web.BaseRequest) -> web.Response:
    """What this one leaves, the last time it says so; kept when it ends with an answer."""
    state, body = _state(session), await read_json(session, request)
    try:
        files = body.get("files") if isinstance(body, dict) else None
        text, event = await session.in_thread(state.keep, files)
    except ToolError as error:
        raise Refused(_STATUS.get(error.kind, 400), error.kind, str(error)) from None
    await session.in_thread(session.blobs.put_text, text)
    session.log("gateway", "memory_state", event)
    return web.json_response({"taken": True})


def _state(session: Session) -> NativeState:
    if session.state is None:
        raise Refused(503, "unavailable", "this run carries no files of an agent")
    return session.state
