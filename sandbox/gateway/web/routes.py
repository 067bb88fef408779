"""POST /fetch: one page for a tool, its bytes as they came and what is known of them in a header."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aiohttp import web

from fieldmark.sandbox.gateway.bodies import read_json
from fieldmark.sandbox.gateway.replies import refusal
from fieldmark.sandbox.gateway.session import Session
from fieldmark.sandbox.gateway.web.door import Missed
from fieldmark.sandbox.gateway.web.exchange import Exchange, Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied

NO_WEB = "this run offers no web: use the tools that are offered"


async def fetch(session: Session, request: web.BaseRequest) -> web.Response:
    """Open `url`, redirects followed. A page's own 404 or 500 is a page: its status stands in `X-Page`."""
    try:
        url = str((await read_json(session, request))["url"])
    except (KeyError, TypeError):
        return refusal(400, "invalid_args", 'the body is {"url": "https://…"}')
    if session.web is None:
        session.note_denied("GET", url[:500], NO_WEB)
        return refusal(403, "denied", NO_WEB)
    try:
        page = await session.work(session.web.fetch(session, url))
    except Denied as denied:
        return refusal(403, "denied", str(denied))
    except Missed as missed:
        return refusal(503, "unavailable", str(missed))
    except Unreachable as failure:
        return refusal(504 if failure.timed_out else 503, _kind(failure), str(failure))
    except OSError as error:
        session.fail_on_disk(error)
        return refusal(507, "disk", "the host's disk is full")
    return web.Response(
        body=page.body,
        content_type="application/octet-stream",
        headers={"X-Page": json.dumps(described(url, page))},
    )


def described(url: str, page: Exchange) -> dict[str, Any]:
    """The fields of a `tools.context.Page`."""
    return {
        "url": url,
        "final_url": page.url,
        "http": page.http,
        "media_type": page.media_type,
        "disposition": page.headers.get("content-disposition", ""),
        "blob": hashlib.sha256(page.body).hexdigest() if page.body else None,
        "bytes": len(page.body),
        "truncated": page.truncated,
    }


def _kind(failure: Unreachable) -> str:
    return "timeout" if failure.timed_out else "unavailable"
