"""A web site in a thread of its own whose pages a test may change meanwhile."""

from __future__ import annotations

from aiohttp import web

from tests.threaded_server import ThreadedServer


class PageServer(ThreadedServer):
    """`pages`: path → the body of an HTML page, or `→ PATH` for a redirect; anything else is 404."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__()
        self.pages = pages
        self.asked: list[str] = []

    def _routes(self, router: web.UrlDispatcher) -> None:
        router.add_get("/{path:.*}", self._page)

    async def _page(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        text = self.pages.get(request.path)
        if text is None:
            return web.Response(status=404, text="no such page")
        if text.startswith("→ "):
            raise web.HTTPFound(text[2:])
        return web.Response(text=f"<html><body>{text}</body></html>", content_type="text/html")
