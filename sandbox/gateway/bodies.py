"""What a sandbox sends, read under limits: so many bytes at once, JSON of so many parts.

JSON is counted before it is parsed: 48 MB of `[],` would become gigabytes of objects.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from fieldmark.sandbox.gateway.replies import Refused
from fieldmark.sandbox.gateway.session import Session

MAX_BODY = 64 * 2**20
"""Bytes of one request, after decompression."""
MAX_HELD = 128 * 2**20
"""Bytes of all requests of one container that are being worked on."""
MAX_SMALL = 4 * 2**20
"""Bytes of a request that carries no picture and no conversation."""
MAX_DEPTH = 100
MAX_PARTS = 500_000

_HELD = web.RequestKey("held", int)


async def read_body(session: Session, request: web.BaseRequest, limit: int = MAX_BODY) -> bytes:
    """The whole body. Refused when it is too long, or broken off, or not what its headers say."""
    if (request.content_length or 0) > limit:
        raise _too_long(limit)
    body = bytearray()
    try:
        async for chunk in request.content.iter_any():
            _hold(session, request, len(chunk))
            body += chunk
            if len(body) > limit:
                raise _too_long(limit)
    except RequestPayloadError:
        raise Refused(400, "malformed", "the body is not what its headers say") from None
    return bytes(body)


async def read_json(session: Session, request: web.BaseRequest, limit: int = MAX_SMALL) -> Any:
    """The body as JSON; NaN and infinities spelt out become None."""
    return parse_json(await read_body(session, request, limit))


def parse_json(raw: bytes) -> Any:
    """JSON of at most MAX_PARTS values, nested at most MAX_DEPTH deep; Refused otherwise."""
    count_parts(raw)
    try:
        value = json.loads(raw, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise Refused(400, "malformed", "the body is not JSON") from None
    if _is_deeper(value, MAX_DEPTH):
        raise Refused(400, "malformed", f"the body is nested over {MAX_DEPTH} deep")
    return value


def count_parts(raw: bytes) -> None:
    """Refused when JSON has over MAX_PARTS values; costs milliseconds, whatever it is."""
    if raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MAX_PARTS:
        raise Refused(413, "too_large", f"the body has over {MAX_PARTS} parts")


def release(session: Session, request: web.BaseRequest) -> None:
    """The request has been answered: its bytes are no longer held."""
    session.held_bytes -= request.get(_HELD, 0)


def _hold(session: Session, request: web.BaseRequest, size: int) -> None:
    if session.held_bytes + size > MAX_HELD:
        raise Refused(413, "too_large", f"over {MAX_HELD} bytes of requests at once")
    session.held_bytes += size
    request[_HELD] = request.get(_HELD, 0) + size


def _too_long(limit: int) -> Refused:
    return Refused(413, "too_large", f"the body is over {limit} bytes")


def _is_deeper(value: Any, depth: int) -> bool:
    """Level by level, not by recursion, which a deep value would break."""
    level = [value]
    for _ in range(depth + 1):
        level = list(chain.from_iterable(_children(item) for item in level))
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
