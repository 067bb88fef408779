"""The same searches without an episode: for `fieldmark tool` on the host's own command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fieldmark.errors import SearchFault, ToolError
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.search import pictures
from fieldmark.sandbox.gateway.search.choosing import named_engine
from fieldmark.sandbox.gateway.search.door import SITE, SearchDoor
from fieldmark.sandbox.gateway.search.pages import SitePages
from fieldmark.sandbox.gateway.search.serpapi import SerpApi
from fieldmark.sandbox.gateway.web.alone import Nobody
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.sandbox.gateway.web.policy import Policy
from fieldmark.sandbox.gateway.web.site import Site
from fieldmark.trace import Box

Search = Callable[[str, str | None, str | None, int], dict[str, Any]]
Reverse = Callable[[bytes, Box | None, int], dict[str, Any]]


def searcher(asked: str, site: Path | None, key_env: str) -> Search:
    """A `Context.web_search` that blocks. UsageError for an unknown engine, a missing site or key."""
    engine = named_engine(asked)
    pages = SitePages(Site(site)) if engine == SITE and site else None
    api = None if engine == SITE else SerpApi.from_environment(key_env)
    door = SearchDoor(WebDoor("live", Policy()), engine=engine, pages=pages, api=api)

    def search(query: str, language: str | None, country: str | None, limit: int) -> dict[str, Any]:
        return _done(door.search(Clock(), Nobody(), query, language or "en", country or "", limit))

    return search


def reverser(key_env: str) -> Reverse:
    """A `Context.reverse_image` by Google Lens that blocks: the picture is sent to SerpApi."""
    door = SearchDoor(WebDoor("live", Policy()), lens=True, api=SerpApi.from_environment(key_env))

    def reverse(picture: bytes, box: Box | None, limit: int) -> dict[str, Any]:
        return _done(door.reverse(Clock(), Nobody(), _File(picture, box), "en", limit))

    return reverse


class _File:
    """A picture of the user's own, decoded in this process."""

    def __init__(self, picture: bytes, box: Box | None) -> None:
        self._picture = picture
        self._box = box

    async def jpeg(self) -> bytes:
        return pictures.small_jpeg(self._picture, self._box)

    async def same(self, others: list[bytes]) -> list[bool | None]:
        return pictures.same_as(self._picture, self._box, others)


def _done(job: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    try:
        return asyncio.run(job)
    except SearchFault as fault:
        raise ToolError(str(fault), "unavailable") from None
