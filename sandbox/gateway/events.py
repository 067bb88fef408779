"""POST /events, PUT /blobs, POST /done: what a sandbox may claim, and how much of it."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from fieldmark.sandbox.gateway.replies import refusal
from fieldmark.sandbox.gateway.session import Session
from fieldmark.trace import SANDBOX_KINDS, Answer, ErrorInfo, parse_event

MAX_EVENTS = 5_000
MAX_EVENT_BYTES = 64_000
MAX_BLOB_BYTES = 200 * 10**6
MAX_ANSWER = 60_000


async def post_events(session: Session, request: web.BaseRequest) -> web.Response:
    """One event or a list. A forbidden kind is refused (403) and the attempt itself is logged."""
    try:
        body = json.loads(await request.read(), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return refusal(400, "malformed", "the body is not JSON")
    claims = body if isinstance(body, list) else [body]
    problem = next((p for claim in claims if (p := _problem(session, claim))), None)
    if problem:
        return problem
    return web.json_response({"seq": [_record(session, claim) for claim in claims]})


def _problem(session: Session, claim: Any) -> web.Response | None:
    if not isinstance(claim, dict):
        return refusal(400, "malformed", "an event is a JSON object")
    kind = claim.get("kind")
    if kind not in SANDBOX_KINDS:
        session.note("warning", f"refused an event of kind {str(kind)[:40]!r} that the sandbox may not write")
        return refusal(403, "denied", f"a sandbox may not write events of kind {str(kind)[:40]!r}")
    if session.counts["claimed_events"] >= MAX_EVENTS or len(json.dumps(claim)) > MAX_EVENT_BYTES:
        return _too_much(session, f"events: at most {MAX_EVENTS} of {MAX_EVENT_BYTES} bytes each")
    try:
        parse_event({**_fields(claim), "kind": kind, "seq": 0, "t": 0.0, "by": "sandbox"})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])  # begins with the kind
        return refusal(400, "malformed", f"{where}: {first['msg']}")
    return None


def _fields(claim: dict[str, Any]) -> dict[str, Any]:
    """What the sandbox says, without the stamps that only the gateway gives."""
    return {key: value for key, value in claim.items() if key not in ("seq", "t", "by", "kind")}


def _record(session: Session, claim: dict[str, Any]) -> int:
    session.counts["claimed_events"] += 1
    fields = _fields(claim)
    if claim["kind"] == "answer":
        fields["text"] = str(fields["text"])[:MAX_ANSWER]
    seq = session.log("sandbox", claim["kind"], **fields)
    if claim["kind"] == "answer":
        session.take_answer(Answer.model_validate({**fields, "seq": seq, "t": 0.0, "by": "sandbox"}))
    return seq


def _too_much(session: Session, what: str) -> web.Response:
    if "over_limit" not in session.counts:
        session.counts["over_limit"] = 0
        session.note("warning", f"over the limit of {what}; the rest is refused")
    session.counts["over_limit"] += 1
    return refusal(413, "too_large", f"over the limit of {what}")


async def put_blob(session: Session, request: web.BaseRequest) -> web.Response:
    """Store bytes; the sha256 is the gateway's own, never the sender's."""
    data = await request.read()
    if session.blob_bytes + len(data) > MAX_BLOB_BYTES:
        return _too_much(session, f"blobs: {MAX_BLOB_BYTES} bytes per episode")
    session.blob_bytes += len(data)
    try:
        return web.json_response({"blob": session.blobs.put(data, request.content_type)})
    except OSError as error:
        session.fail_on_disk(error)
        return refusal(507, "disk", "the host's disk is full")


async def done(session: Session, request: web.BaseRequest) -> web.Response:
    """The agent has finished, or says how it crashed."""
    try:
        error = (json.loads(await request.read()) or {}).get("error")
        info = error and ErrorInfo(
            boundary="agent",
            kind=str(error.get("kind", "crash"))[:40],
            message=str(error.get("message", ""))[:2000],
        )
    except (ValueError, AttributeError):
        return refusal(400, "malformed", 'the body is {"error": null} or {"error": {"kind", "message"}}')
    session.finish(info or None)
    return web.json_response({"ok": True})
