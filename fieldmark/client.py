"""The lean client of a gateway: plain HTTP over its unix socket, standard library only.

Used inside a container by the worker, the agents and the tools; an import costs a few milliseconds.
"""

from __future__ import annotations

import json
import os
from typing import Any

from fieldmark.errors import FieldmarkError
from fieldmark.unix_http import Reply, exchange

SOCKET = "/run/fieldmark/gateway.sock"


class GatewayGone(FieldmarkError):
    """The gateway ended this episode (410) or no longer answers: stop working."""


class GatewayRefused(FieldmarkError):
    """The gateway answered with an error; `status` is its HTTP status, `kind` its machine word."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class GatewayClient:
    """One connection per call, so that any thread may use it. `timeout` is in seconds, None waits."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path or os.environ.get("FIELDMARK_SOCKET", SOCKET)
        self._view: bytes | None = None

    def call(
        self,
        method: str,
        route: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        timeout: float | None = 600.0,
    ) -> Reply:
        """Send bytes as they are, anything else as JSON; GatewayGone / GatewayRefused on failure."""
        payload = body if isinstance(body, bytes | None) else _json(body)
        headers = {} if payload is None else {"Content-Type": content_type}
        try:
            reply = exchange(self.path, method, route, headers, payload, timeout)
        except OSError as error:
            raise GatewayGone(f"the gateway does not answer: {error}") from error
        return _checked(reply)

    def get(self, route: str, *, timeout: float | None = 600.0) -> Reply:
        return self.call("GET", route, timeout=timeout)

    def view(self) -> bytes:
        """The episode's picture as models are shown it; fetched once."""
        if self._view is None:
            self._view = self.get("/image").body
        return self._view

    def post(self, route: str, body: Any, *, timeout: float | None = 600.0) -> Any:
        """POST JSON, return the JSON of the reply."""
        return self.call("POST", route, body, timeout=timeout).json()

    def event(self, kind: str, **fields: Any) -> int:
        """Claim one event; the gateway stamps and writes it. Its number in the trace, `seq`."""
        seq: int = self.post("/events", {"kind": kind, **fields})["seq"][-1]
        return seq


def _json(body: Any) -> bytes:
    """Compact UTF-8, as most clients write it: the gateway's record is then the request to the byte."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _checked(reply: Reply) -> Reply:
    if reply.status < 400:
        return reply
    if reply.status == 410:
        raise GatewayGone("the gateway ended this episode")
    try:
        error = reply.json()["error"]
        kind, message = str(error.get("kind") or error.get("code") or "error"), str(error["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        kind, message = "error", reply.body[:300].decode("utf-8", "replace")
    raise GatewayRefused(reply.status, kind, message)
