"""POST /events, PUT /blobs, POST /done: what a sandbox may claim, and how much of it."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import ValidationError

from fieldmark import jsonl
from fieldmark.sandbox.gateway.bodies import read_body, read_json
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import SANDBOX_KINDS, Answer, ErrorInfo, parse_event

MAX_EVENTS = 5_000
MAX_EVENT_BYTES = 64_000
MAX_ANSWER = 60_000
MAX_NATIVE = 100_000
"""Tool calls that an agent's own log may count: what is claimed goes into a published row."""


async def post_events(session: Session, request: web.BaseRequest) -> web.Response:
    """One event or a list. A forbidden kind is refused (403) and the attempt itself is logged."""
    body = await read_json(session, request)
    claims = body if isinstance(body, list) else [body]
    if session.counts["claimed_events"] + len(claims) > MAX_EVENTS:
        raise _too_much()
    for claim in claims:
        _check(session, claim)
    return web.json_response({"seq": [_record(session, claim) for claim in claims]})


def _check(session: Session, claim: Any) -> None:
    """Refused when this is no event that a sandbox may write."""
    if not isinstance(claim, dict):
        raise Refused(400, "malformed", "an event is a JSON object")
    kind = claim.get("kind")
    if not isinstance(kind, str) or kind not in SANDBOX_KINDS:
        session.note("warning", f"refused an event of kind {str(kind)[:40]!r} that the sandbox may not write")
        raise Refused(403, "denied", f"a sandbox may not write events of kind {str(kind)[:40]!r}")
    if len(jsonl.encode(claim)) > MAX_EVENT_BYTES:
        raise _too_much()
    try:
        parse_event({**_fields(claim), "kind": kind, "seq": 0, "t": 0.0, "by": "sandbox"})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])  # begins with the kind
        raise Refused(400, "malformed", f"{where}: {first['msg']}") from None


def _fields(claim: dict[str, Any]) -> dict[str, Any]:
    """What the sandbox says, without the stamps that only the gateway gives."""
    return {key: value for key, value in claim.items() if key not in ("seq", "t", "by", "kind")}


def _record(session: Session, claim: dict[str, Any]) -> int:
    session.counts["claimed_events"] += 1
    fields = _fields(claim)
    if claim["kind"] == "answer":
        fields["text"] = str(fields["text"])[:MAX_ANSWER]
    elif claim["kind"] == "tool_call":
        fields, before = session.conversation.claim(fields)
        session.log_all(before)
    seq = session.log("sandbox", claim["kind"], fields)
    native = fields.get("native")
    if isinstance(native, dict) and type(own := native.get("tool_calls")) is int and 0 <= own <= MAX_NATIVE:
        session.counts["native_tool_calls"] = own
    if claim["kind"] == "answer":
        session.take_answer(Answer.model_validate({**fields, "seq": seq, "t": 0.0, "by": "sandbox"}))
    return seq


def _too_much() -> Refused:
    what = f"events: at most {MAX_EVENTS} of {MAX_EVENT_BYTES} bytes each"
    return Refused(413, "too_large", f"over the limit of {what}")


async def put_blob(session: Session, request: web.BaseRequest) -> web.Response:
    """Store bytes; the sha256 is the gateway's own, never the sender's."""
    data = await read_body(session, request)
    blob = await session.in_thread(session.blobs.put, data, request.content_type)
    return web.json_response({"blob": blob})


async def done(session: Session, request: web.BaseRequest) -> web.Response:
    """The agent has finished, or says how it crashed."""
    body = await read_json(session, request)
    error = body.get("error") if isinstance(body, dict) else body
    if error is not None and not isinstance(error, dict):
        raise Refused(400, "malformed", 'the body is {"error": null} or {"error": {"kind", "message"}}')
    session.finish(_said(error) if error else None)
    return web.json_response({"ok": True})


def _said(error: dict[str, Any]) -> ErrorInfo:
    kind, message = str(error.get("kind", "crash")), str(error.get("message", ""))
    return ErrorInfo(boundary="agent", kind=_plain(kind)[:40], message=_plain(message)[:2000])


def _plain(text: str) -> str:
    """Without lone surrogates, which no file and no reader takes."""
    return text.encode("utf-8", "replace").decode()
