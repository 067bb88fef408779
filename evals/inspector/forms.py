"""The fields of a form that was sent."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST = 64 * 1024
"""Bytes of a form."""


async def form_of(request: Request, what: str) -> dict[str, str]:
    """Name → value; HTTPException 413, "too long for `what`", over MOST bytes."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST:
            raise HTTPException(413, f"too long for {what}")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=20))
