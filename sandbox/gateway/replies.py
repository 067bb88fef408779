"""The gateway's own answers, in its own shape and in OpenAI's."""

from __future__ import annotations

from aiohttp import web


class Refused(Exception):
    """A request that is answered with an error and does nothing else."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def reply(self, route: str) -> web.Response:
        """The answer, in the shape that the clients of a route read."""
        shape = openai_error if route.startswith("/v1/") else refusal
        return shape(self.status, self.kind, str(self))


def refusal(status: int, kind: str, message: str) -> web.Response:
    """An error in the gateway's own shape."""
    return web.json_response({"error": {"kind": kind, "message": message}}, status=status)


def openai_error(status: int, code: str, message: str) -> web.Response:
    """An error in the shape that OpenAI's clients read; 400 is what they do not retry."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status)


def gone() -> web.Response:
    """The episode is over; whoever asks should end."""
    return refusal(410, "gone", "this episode is over")
