"""The searches of a run: by words and by picture, with what the guard list withholds taken out."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlencode, urlsplit

from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.search import lens
from fieldmark.sandbox.gateway.search.asking import LENS, SEARCH, UPLOAD, Asker, Question, begin, count, write
from fieldmark.sandbox.gateway.search.copies import note_copies
from fieldmark.sandbox.gateway.search.engines import (
    country_of,
    lens_hits,
    lens_params,
    search_params,
    web_hits,
)
from fieldmark.sandbox.gateway.search.pages import SitePages
from fieldmark.sandbox.gateway.search.serpapi import SerpApi
from fieldmark.sandbox.gateway.web.door import Ledger, WebDoor
from fieldmark.sandbox.gateway.web.policy import Denied, Policy

SITE = "site"
_CANDIDATES = 50
"""Pages of a site that are looked at before the guard list and the limit."""


class SearchDoor:
    """Shared by the episodes of a run. `engine` answers `search`: `site`, an engine of SerpApi, or None.

    `lens`: whether `reverse` is offered, by Google Lens. `api` is None where nothing goes out.
    """

    def __init__(
        self, web: WebDoor, *, engine: str | None = None, pages: SitePages | None = None, lens: bool = False,
        api: SerpApi | None = None,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.lens = lens
        self._web = web
        self._pages = pages
        self._api = api
        self._asker = Asker(web)

    async def search(
        self, clock: Clock, session: Ledger, query: str, language: str, country: str, limit: int
    ) -> dict[str, Any]:
        """`{found, hits: [{rank, title, url, snippet, source}], engine, withheld?}`.

        ToolError: this search failed. SearchFault: no search will do.
        """
        begin(session)
        if self._pages is not None:
            hits = self._pages.search(query, _CANDIDATES)
            write(session, SEARCH, f"site:?{urlencode({'q': query})}", "replayed", 200, "site")
        else:
            hits = await self._by_engine(clock, session, query, language, country or country_of(language))
        kept, withheld = _kept(hits, self._web.policy, session)
        ranked = [{"rank": rank, **hit} for rank, hit in enumerate(kept[:limit], 1)]
        return {"found": bool(ranked), "hits": ranked, "engine": self.engine, **withheld}

    async def reverse(
        self, clock: Clock, session: Ledger, subject: lens.Subject, language: str, limit: int
    ) -> dict[str, Any]:
        """`{found, hits: [{rank, title, page, source, thumbnail, image, score, same_picture}], engine,
        withheld?}`; a search engine gives no `score`. ToolError, SearchFault.
        """
        begin(session)
        reply = await self._by_lens(clock, session, await subject.jpeg(), language)
        kept, withheld = _kept(lens_hits(reply), self._web.policy, session)
        ranked = [{"rank": rank, **hit, "score": None} for rank, hit in enumerate(kept[:limit], 1)]
        with clock.waiting():  # the look at the thumbnails is ours
            await lens.mark_same(ranked, subject, self._web, session)
        note_copies(session, ranked)
        return {"found": bool(ranked), "hits": ranked, "engine": "google_lens", **withheld}

    def describe(self) -> dict[str, Any]:
        """For run.json: what answers, and why searching ended early."""
        told: dict[str, Any] = {"engine": self.engine, "lens": self.lens, "stopped": self._asker.stopped}
        if self._api is not None and self._api.base_url:  # a stand-in, not SerpApi
            told["server"] = urlsplit(self._api.base_url).hostname
        return {name: value for name, value in told.items() if value}

    async def _by_engine(
        self, clock: Clock, session: Ledger, query: str, language: str, country: str
    ) -> list[dict[str, Any]]:
        params = search_params(self.engine or "", query, language, country)

        async def send() -> dict[str, Any]:
            reply = await self._sender.search(clock, params)
            if web_hits(reply):
                return reply
            # "no results" is often passing: https://github.com/serpapi/public-roadmap/issues/974
            return await self._sender.search(clock, {**params, "no_cache": "true"})

        return web_hits(await self._asker.ask(session, Question(SEARCH, params), send))

    async def _by_lens(self, clock: Clock, session: Ledger, jpeg: bytes, language: str) -> dict[str, Any]:
        params = lens_params(language, country_of(language))
        question = Question(LENS, {**params, "image": f"sha256:{hashlib.sha256(jpeg).hexdigest()}"})

        async def send() -> dict[str, Any]:
            image_id = await self._sender.upload(clock, jpeg)
            blob = session.blobs.put(jpeg, "image/jpeg") if session.blobs is not None else None
            why = "the task picture, or a box of it, sent to SerpApi"
            write(
                session, UPLOAD, "https://serpapi.com/image", "allowed", 200, why, size=len(jpeg), blob=blob
            )
            return await self._sender.search(clock, {**params, "image_id": image_id})

        return await self._asker.ask(session, question, send)

    @property
    def _sender(self) -> SerpApi:
        if self._api is None:
            raise RuntimeError("a search was sent in a run that sends none")
        return self._api


def _kept(
    hits: list[dict[str, Any]], policy: Policy, session: Ledger
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The hits that the guard list lets through, and `{"withheld": n}` where it held some back."""
    kept = [hit for hit in hits if not any(_guarded(policy, url) for url in _addresses(hit))]
    withheld = len(hits) - len(kept)
    if withheld:
        count(session, "search_withheld", withheld)
    return kept, {"withheld": withheld} if withheld else {}


def _guarded(policy: Policy, url: str) -> bool:
    try:
        policy.check(url)
    except Denied as denied:
        return denied.guarded
    return False


def _addresses(hit: dict[str, Any]) -> list[str]:
    """Where a hit leads: its URLs, and its source where that is one (Baidu's links hide where they lead)."""
    shown = str(hit["source"]).partition(" ")[0]
    urls = [str(hit.get(name) or "") for name in ("url", "page", "image")]
    return [url for url in urls if url] + (
        [shown if "://" in shown else f"https://{shown}"] if "." in shown else []
    )
