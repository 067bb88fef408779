"""The wire formats that the gateway speaks."""

from __future__ import annotations

from fieldmark.sandbox.gateway.wire import chat, messages, responses
from fieldmark.sandbox.gateway.wire.common import Format

FORMATS: tuple[Format, ...] = (chat, responses, messages)


def format_of(path: str) -> Format:
    """The format of a route or of a path below a base URL; what belongs to none is Chat Completions'."""
    return next((wire for wire in FORMATS if path.removeprefix("/v1").startswith(wire.PATH)), chat)


def format_named(name: str) -> Format:
    """The format that an event names in `wire`; KeyError for another word."""
    return {wire.NAME: wire for wire in FORMATS}[name]
