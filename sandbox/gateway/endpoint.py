"""From a base URL in any usual spelling to the URL of a route."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from fieldmark.sandbox.gateway.wire.formats import FORMATS


def endpoint(base_url: str, path: str) -> str:
    """The URL of a path such as `/chat/completions`.

    `http://h:p`, `…/v1`, `…/v1/v1`, `…/v1/chat/completions` mean the same; other paths and queries are kept.
    """
    parts = urlsplit(base_url)
    base = parts.path.rstrip("/")
    for wire in FORMATS:
        base = base.removesuffix(wire.PATH)
    base = base or "/v1"
    while base.endswith("/v1/v1"):
        base = base.removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, f"{base}{path}", parts.query, ""))


def public_url(url: str) -> str:
    """A URL without user, password and query, which can hold keys."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
