"""The web door without an episode: for `fieldmark tool` on the host's own command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway.web.door import Missed, WebDoor
from fieldmark.sandbox.gateway.web.exchange import Unreachable
from fieldmark.sandbox.gateway.web.policy import Denied, Policy
from fieldmark.sandbox.gateway.web.routes import described
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.tools.context import Page
from fieldmark.trace import By


class Nobody:
    """Nothing is recorded of what nobody's episode asks for."""

    blobs = None

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def log(self, by: By, kind: str, fields: dict[str, Any]) -> int:
        return -1

    def note_denied(self, method: str, url: str, reason: str) -> None:
        """Whoever asked is told by the ToolError."""


def fetcher(live: bool, site: Path | None = None) -> Callable[[str], tuple[bytes, Page]]:
    """A `Context.fetch` that blocks: the pages of `site`, and with `live` the web, under the usual policy."""
    door = WebDoor("live" if live else "offline", Policy(), site=Site(site) if site else None)

    def fetch(url: str) -> tuple[bytes, Page]:
        try:
            page = asyncio.run(door.fetch(Nobody(), url))
        except Denied as denied:
            raise ToolError(str(denied), "denied") from None
        except Missed as missed:
            raise ToolError(str(missed), "unavailable") from None
        except Unreachable as failure:
            raise ToolError(str(failure), "timeout" if failure.timed_out else "unavailable") from None
        return page.body, Page(**described(url, page))

    return fetch
