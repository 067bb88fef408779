"""POST /memory/recall, POST /memory/remember: the notes of a run, where it has a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from aiohttp import web

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session

MAX_QUERY = 500
MAX_TEXT = 2_000
MOST_READS = 100
"""Times an episode may ask for notes."""
_STATUS = {"invalid_args": 400, "denied": 403}


class Memory(Protocol):
    """What an episode may do with the notes of its run; ToolError says why it may not."""

    @property
    def left(self) -> int:
        """How many notes may still be taken."""

    def recall(self, query: str, limit: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """`{"found", "hits"}` for the agent, and the fields of the `memory_read` event."""

    def remember(
        self, text: str, kind: str, cites: Collection[int], results: Mapping[int, str]
    ) -> dict[str, Any]:
        """The fields of the `memory_write` event."""


async def recall(session: Session, request: web.BaseRequest) -> web.Response:
    """Search the notes of earlier episodes."""
    memory, body = _memory(session), await _object(session, request)
    query, limit = body.get("query"), body.get("limit", 5)
    if not isinstance(query, str) or not query.strip() or type(limit) is not int or limit < 1:
        raise Refused(400, "invalid_args", "query is a text, limit a whole number from 1")
    if session.counts.get("memory_reads", 0) >= MOST_READS:
        raise Refused(403, "denied", f"an episode may ask for notes {MOST_READS} times")
    told, event = memory.recall(_plain(query)[:MAX_QUERY], limit)
    _count(session, "memory_reads")
    session.log("gateway", "memory_read", event)
    return web.json_response(told)


async def remember(session: Session, request: web.BaseRequest) -> web.Response:
    """Take a note; it is kept when the episode ends with an answer."""
    memory, body = _memory(session), await _object(session, request)
    text, kind, cites = body.get("text"), body.get("kind"), body.get("cites")
    if not isinstance(text, str) or not isinstance(kind, str) or len(text) > MAX_TEXT:
        raise Refused(400, "invalid_args", f"text, of at most {MAX_TEXT} characters, and kind are texts")
    if not isinstance(cites, list) or not all(type(seq) is int for seq in cites):
        raise Refused(400, "invalid_args", "cites is a list of numbers of results")
    try:
        event = memory.remember(_plain(text), kind, cites, session.citable.results)
    except ToolError as error:
        raise Refused(_STATUS.get(error.kind, 400), error.kind, str(error)) from None
    _count(session, "memory_writes")
    session.log("gateway", "memory_write", event)
    return web.json_response({"taken": True, "left": memory.left})


def _memory(session: Session) -> Memory:
    if session.memory is None:
        raise Refused(503, "unavailable", "this run has no memory")
    return session.memory


def _count(session: Session, what: str) -> None:
    session.counts[what] = session.counts.get(what, 0) + 1


async def _object(session: Session, request: web.BaseRequest) -> dict[str, Any]:
    body = await read_json(session, request)
    if not isinstance(body, dict):
        raise Refused(400, "malformed", "the body is a JSON object")
    return body


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
