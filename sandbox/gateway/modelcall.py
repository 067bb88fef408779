"""One model call, taken apart for the trace, and what is sent of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fieldmark import jsonl
from fieldmark.sandbox.gateway.bodies import count_parts, parse_json
from fieldmark.sandbox.gateway.conversation.said import Asked, read
from fieldmark.sandbox.gateway.headers import picture_size
from fieldmark.sandbox.gateway.receipts import known_receipt
from fieldmark.sandbox.gateway.replay.fork import ForkUpstream
from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.gateway.wire import requests
from fieldmark.sandbox.gateway.wire.common import (
    Body,
    Format,
    provider_search,
)
from fieldmark.sandbox.gateway.wire.forcing import forced
from fieldmark.trace import Picture, Role

MAX_MESSAGES = 2_000
MAX_SETTINGS = 64_000
"""Bytes of what stands in the trace itself: all of a request but its conversation and tool schemas."""
PASSED = ("accept", "anthropic-", "openai-beta", "user-agent", "x-stainless-")
"""Beginnings of the headers that go on to the upstream. None holds a key: that is the gateway's own."""
TELLING = frozenset(
    {
        "user-agent", "anthropic-version", "anthropic-beta", "openai-beta", "traceparent",
        "x-session-id", "x-parent-session-id", "session-id", "session_id", "thread-id",
    }
)  # fmt: skip
"""Headers that are recorded: what a client is, and which of its sessions or sub-agents is asking."""


@dataclass(frozen=True)
class ModelRequest:
    """A request that may be sent. `fields` are those of its event, `payload` the bytes for the upstream,
    `digest` is of the bytes that came, `said` what they say of the conversation.
    """

    wire: Format
    role: Role
    fields: dict[str, Any]
    payload: bytes
    digest: bytes
    headers: dict[str, str]
    pictures: list[Picture]
    said: Asked

    @property
    def streams(self) -> bool:
        """Whether a streamed reply is asked for."""
        return bool(self.fields["asked"].get("stream"))


def take_apart(
    session: Session, upstream: Upstream, wire: Format, raw: bytes, headers: Mapping[str, str],
    role: Role = "agent",
) -> ModelRequest:  # fmt: skip
    """Read and store a request. Refused when it is none of this format, or over a limit."""
    whole, apart, body = parse(wire, raw)
    telling = _lower(headers, lambda name: name in TELLING)
    said = read(wire, body, telling)  # of what the agent said itself, in a fork too
    text, forked = _forked(upstream, role, wire, whole, apart, body)
    if forked:
        whole, apart, body = parse(wire, text.encode())
    sent = changes(wire, upstream, body)
    for picture in apart.pictures:
        if picture.blob not in session.known_pictures:  # those are stored; hashing megabytes again takes time
            session.blobs.put(picture.data, picture.media_type)
    pictures = [_picture(session, picture) for picture in apart.pictures]
    receipt = known_receipt(session, pictures)
    fields = {
        "role": role,
        "purpose": "side",  # the agent's own requests: `Conversation`
        "wire": wire.NAME,
        "model": upstream.name,
        "sent": sent,
        **requests.fields(wire, whole, apart, body, session.blobs.put_text),
        "pictures": [picture.model_dump(exclude_none=True) for picture in pictures],
        "task_picture": receipt and receipt.model_dump(),
        "provider_search": provider_search(body) or None,
        "partial": wire.is_partial(body) or None,
        "headers": telling or None,
        "forked": forked,
    }
    payload = requests.changed(whole, sent).encode() if sent or forked else raw
    digest = hashlib.sha256(raw).digest()
    return ModelRequest(wire, role, fields, payload, digest, passed_on(headers), pictures, said)


def parse(wire: Format, raw: bytes) -> tuple[str, requests.Apart, Body]:
    """The text of a request; the same without its pictures; that, parsed. Refused when it is no request."""
    count_parts(raw)
    try:
        whole = raw.decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the body is not JSON in UTF-8") from None
    apart = requests.without_pictures(whole)
    body = parse_json(apart.text.encode())
    if not isinstance(body, dict) or not wire.is_request(body):
        raise Refused(400, "malformed", f"the body is not a {wire.TITLE} request")
    _check_size(wire, body)
    return whole, apart, body


def changes(wire: Format, upstream: Upstream, body: Body) -> Body:
    """What is sent otherwise than it was asked: the model's name, and parameters that the run forces."""
    values = {"model": upstream.name, **forced(wire, upstream.force, body)}
    return {key: value for key, value in values.items() if key not in body or body[key] != value}


def _forked(
    upstream: Upstream, role: Role, wire: Format, whole: str, apart: requests.Apart, body: Body
) -> tuple[str, Body | None]:  # fmt: skip
    """A request as it goes out of a fork, and what of it is changed there."""
    if role != "agent" or not isinstance(upstream, ForkUpstream):
        return whole, None
    return upstream.arriving(wire, whole, body, {picture.blob for picture in apart.pictures}) or (whole, None)


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that go on to the upstream."""
    return _lower(headers, lambda name: name.startswith(PASSED) and name != "accept-encoding")


def _check_size(wire: Format, body: Body) -> None:
    items = body.get(wire.ITEMS)
    if isinstance(items, list) and len(items) > MAX_MESSAGES:
        raise Refused(413, "too_large", f"a request has at most {MAX_MESSAGES} messages")
    settings = {key: body[key] for key in body.keys() - {wire.SYSTEM, wire.ITEMS, "tools"}}
    if len(jsonl.encode(settings)) > MAX_SETTINGS:
        raise Refused(413, "too_large", f"the settings of a request are over {MAX_SETTINGS} bytes")


def _picture(session: Session, picture: requests.Bytes) -> Picture:
    known = session.known_pictures.get(picture.blob)
    if known is None:
        width, height = picture_size(picture.data)
        known = Picture(blob=picture.blob, media_type=picture.media_type, width=width, height=height)
        session.known_pictures[picture.blob] = known
    return known.model_copy(update={"media_type": picture.media_type})


def _lower(headers: Mapping[str, str], wanted: Callable[[str], bool]) -> dict[str, str]:
    return {name.lower(): value[:1000] for name, value in headers.items() if wanted(name.lower())}
