"""The gateway's own answers, in its own shape and in those of the wire formats."""

from __future__ import annotations

from aiohttp import web

from fieldmark.sandbox.gateway.wire.formats import format_of

NO_RETRY = {"x-should-retry": "false"}
"""What the clients of OpenAI and Anthropic obey; 400 and 410 are statuses that no client tries again."""


class Refused(Exception):
    """A request that is answered with an error and does nothing else."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def reply(self, route: str) -> web.Response:
        """The answer, in the shape that the clients of a route read."""
        return refusal(self.status, self.kind, str(self), route)


def refusal(status: int, kind: str, message: str, route: str = "") -> web.Response:
    """An error: under `/v1/` in the shape of the route's wire format, else in the gateway's own."""
    if not route.startswith("/v1/"):
        return web.json_response({"error": {"kind": kind, "message": message}}, status=status)
    body = format_of(route).error(status, kind, message)
    return web.json_response(body, status=status, headers=NO_RETRY)


def gone(route: str = "") -> web.Response:
    """The episode is over; whoever asks should end."""
    return refusal(410, "gone", "this episode is over", route)
