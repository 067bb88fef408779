"""What happens beside an action: dialogs, downloads, new windows, requests in flight, the tab's end."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from playwright.async_api import BrowserContext, Dialog, Page, Request, Response

from fieldmark.tools.browsing.wire import Download

REFUSAL = "x-fieldmark-refusal"
"""Header of what the gateway itself answers instead of a site; no site can send it."""
NO_CONTENT = (204, 205)
_MAX_DIALOGS = 5
_QUIET = 0.4  # seconds without a request after which a page is taken for settled
_STEP = 0.05


class Watch:
    """Listens to one context and its one page; `begin` forgets what belonged to earlier actions.

    Dialogs are always dismissed at once, but `beforeunload`, which is accepted: whoever asks to leave a page
    leaves it. Other windows are closed; where the first of them wanted to go is `wanted`.
    """

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.crashed = False
        self._page = page
        self._in_flight: set[Request] = set()
        self._last_request = 0.0
        self.begin()
        context.on("dialog", self._on_dialog)
        context.on("page", self._on_window)
        context.on("request", self._on_request)
        context.on("requestfinished", self._on_done)
        context.on("requestfailed", self._on_failed)
        context.on("response", self._on_response)
        page.on("crash", self._on_crash)

    def begin(self) -> None:
        self.dialogs: list[str] = []
        self.notes: list[str] = []
        self.document: Response | None = None
        self.failure: str | None = None
        self.wanted: str | None = None
        self.refused = 0
        self._dialogs_left = _MAX_DIALOGS

    @property
    def aborted(self) -> bool:
        """Whether the last answer of a site was not shown as a page: a download, or nothing at all."""
        return self.document is not None and "ERR_ABORTED" in (self.failure or "")

    @property
    def download(self) -> Download | None:
        """What came instead of a page."""
        if self.document is None or not self.aborted or self.document.status in NO_CONTENT:
            return None
        headers = self.document.headers
        length = headers.get("content-length", "")
        return Download(
            url=self.document.url,
            disposition=headers.get("content-disposition", "")[:200],
            media_type=media_type(headers),
            bytes=int(length) if length.isdigit() else None,
        )

    @property
    def navigating(self) -> bool:
        """Whether the page waits for the first byte of another one."""
        return any(self._is_document(request) for request in self._in_flight)

    async def settle(self, seconds: float, document_seconds: float) -> bool:
        """Wait until no request has been under way for a while, or until `seconds` have passed; a new page
        on its way is waited for up to `document_seconds`. Returns whether it became quiet.
        """
        started = time.monotonic()
        self._last_request = max(self._last_request, started)
        while not self.crashed:
            now = time.monotonic()
            if not self._in_flight and now - self._last_request >= _QUIET:
                return True
            if now - started >= (document_seconds if self.navigating else seconds):
                return False
            await asyncio.sleep(_STEP)
        return False

    def _is_document(self, request: Request) -> bool:
        return request.is_navigation_request() and _page_of(request) is self._page and _is_main(request)

    async def _on_dialog(self, dialog: Dialog) -> None:
        if self._dialogs_left:
            self._dialogs_left -= 1
            self.dialogs.append(f"{dialog.type}: {dialog.message[:150]}")
        elif len(self.dialogs) == _MAX_DIALOGS:
            self.dialogs.append("… and more dialogs")
        if dialog.type == "beforeunload":
            await dialog.accept()
        else:
            await dialog.dismiss()

    async def _on_window(self, window: Page) -> None:
        await window.close()

    def _on_request(self, request: Request) -> None:
        self._last_request = time.monotonic()
        window = _page_of(request)
        if window is self._page:
            self._in_flight.add(request)
        elif request.is_navigation_request() and self.wanted is None:
            self.wanted = request.url

    def _on_done(self, request: Request) -> None:
        self._in_flight.discard(request)
        self._last_request = time.monotonic()

    def _on_failed(self, request: Request) -> None:
        self._on_done(request)
        if self._is_document(request):
            self.failure = request.failure

    def _on_response(self, response: Response) -> None:
        if self._is_document(response.request):
            self.document = response
            self.failure = None
        elif REFUSAL in response.headers:
            self.refused += 1

    def _on_crash(self, page: Page) -> None:
        self.crashed = True


def media_type(headers: dict[str, str]) -> str:
    """The plain media type of a reply, of harmless characters."""
    return re.sub(r"[^\w/.+-]", "", headers.get("content-type", "").partition(";")[0].lower())[:100]


def _page_of(request: Request) -> Page | None:
    """None for the first request of a new window, which has no frame yet."""
    try:
        return request.frame.page
    except Exception:  # Playwright raises its bare Error for both
        return None


def _is_main(request: Any) -> bool:
    return request.frame.parent_frame is None
