"""Chromium's and Playwright's ways to fail → a ToolError; nothing that a page wrote passes into a message."""

from __future__ import annotations

import re

from playwright.async_api import Error

from fieldmark.errors import ToolError, ToolErrorKind

_CODES: dict[str, tuple[ToolErrorKind, str]] = {
    "ERR_TOO_MANY_REDIRECTS": ("unavailable", "the site redirects without end"),
    "ERR_UNSAFE_PORT": ("denied", "the port is not one of the web"),
    "ERR_TUNNEL_CONNECTION_FAILED": ("unavailable", "the gateway opens no web page now"),
    "ERR_PROXY_CONNECTION_FAILED": ("unavailable", "the gateway does not answer"),
    "ERR_INVALID_URL": ("invalid_args", "the URL cannot be read"),
    "ERR_INVALID_REDIRECT": ("unavailable", "the site redirects to what is no web page"),
    "ERR_UNSAFE_REDIRECT": ("denied", "the site redirects to what is no web page"),
    "ERR_TIMED_OUT": ("timeout", "the site took too long"),
}


def explained(message: str) -> ToolError:
    """A failed navigation, from the message of Playwright or the text of the failure."""
    code = re.search(r"net::(ERR_\w+)", message)
    if code:
        kind, what = _CODES.get(code[1], ("unavailable", "the page cannot be read"))
        return ToolError(f"{what} ({code[1]})", kind)
    if "invalid url" in message.lower():
        return ToolError("the URL cannot be read", "invalid_args")
    return ToolError("the page cannot be opened", "unavailable")


def is_gone(error: Error) -> bool:
    """Whether an element or a document was replaced meanwhile."""
    text = error.message.lower()
    return any(word in text for word in ("not attached", "detached", "disposed", "context was destroyed"))
