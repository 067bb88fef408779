"""One Chromium with one page, started with the first action, and again when it has died."""

from __future__ import annotations

import asyncio
import os

from playwright.async_api import Browser, Error, Playwright, async_playwright

from fieldmark.errors import ToolError
from fieldmark.tools.browsing.one_page import (
    LOOK_SECONDS,
    PICTURE_SECONDS,
    SECONDS,
    SETTLE_SECONDS,
    Hung,
    OnePage,
)
from fieldmark.tools.browsing.wire import HEIGHT, WIDTH, Action, Reply

EXECUTABLE = "/usr/bin/chromium"
LAUNCH_SECONDS = 30.0
_AFTERWARDS = 2 * (SETTLE_SECONDS + LOOK_SECONDS + PICTURE_SECONDS)
_CLOSE_SECONDS = 3.0

_SWITCHES = [
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    "--js-flags=--max-old-space-size=256",
    "--disk-cache-size=1",
    "--disable-gpu",
    "--mute-audio",
    "--disable-extensions",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
]
"""One renderer for all frames, with a bounded heap: a container has 1 GB for everything."""

_UNPROXIED = ("update.googleapis.com", "*.gvt1.com")
"""Chromium asks here for updates whatever it is told; without the proxy that leads nowhere, and no agent's
trace shows it.
"""


class Chromium:
    """Not for two actions at once. `port` is of the relay to the browser's own door of the gateway."""

    def __init__(self, port: int) -> None:
        self.beyond_help = False
        self._port = port
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._page: OnePage | None = None
        self._next = 1
        self._notes: list[str] = []

    def note(self, text: str) -> None:
        """Say something with the next result."""
        self._notes.append(text)

    async def act(self, action: Action) -> Reply:
        """Raises ToolError. After a crash or a page that hangs, the next action begins with an empty page."""
        try:
            return await self._act(action)
        except ToolError as error:
            raise ToolError("; ".join([*self._told(), str(error)]), error.kind) from None

    async def _act(self, action: Action) -> Reply:
        page = await self._ready()
        seconds = action.get("seconds", SECONDS)
        try:
            async with asyncio.timeout(2 * seconds + _AFTERWARDS):
                reply = await page.act(action)
        except (Hung, TimeoutError):
            await self._drop(page)
            raise ToolError("the page does not respond any more and was closed", "timeout") from None
        except Error as error:
            raise await self._fault(page, error) from None
        except ToolError as error:
            if page.watch.crashed:
                raise await self._fault(page, error) from None
            raise
        reply["notes"] = [*self._told(), *reply["notes"]]
        return reply

    def _told(self) -> list[str]:
        told, self._notes = self._notes, []
        return told

    async def _ready(self) -> OnePage:
        if self._browser and not self._browser.is_connected():
            self.note("the browser had crashed and was started again with an empty page")
            self._forget()
        if self._page and (self._page.watch.crashed or self._page.page.is_closed()):
            self.note("the page had crashed; this is a new one")
            await self._drop(self._page)
        try:
            async with asyncio.timeout(LAUNCH_SECONDS):
                return await self._page_of_a_browser()
        except (Error, TimeoutError):
            self.beyond_help = True
            raise ToolError(
                "the browser could not be started; the next call tries again", "unavailable"
            ) from None

    async def _page_of_a_browser(self) -> OnePage:
        if self._page and self._browser:
            return self._page
        if self._browser:
            try:
                self._page = await self._new_page(self._browser)
                return self._page
            except Error:  # its page's end was told before its own
                self.note("the browser had crashed and was started again with an empty page")
                self._forget()
        self._browser = await self._launch()
        self._page = await self._new_page(self._browser)
        return self._page

    async def _launch(self) -> Browser:
        # else a font that never comes costs the picture
        os.environ["PW_TEST_SCREENSHOT_NO_FONTS_READY"] = "1"
        self._playwright = self._playwright or await async_playwright().start()
        return await self._playwright.chromium.launch(
            executable_path=EXECUTABLE,
            args=_SWITCHES,
            proxy={"server": f"http://127.0.0.1:{self._port}", "bypass": ",".join(_UNPROXIED)},
            timeout=LAUNCH_SECONDS * 1000,
        )

    async def _new_page(self, browser: Browser) -> OnePage:
        context = await browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            ignore_https_errors=True,
            service_workers="block",
            accept_downloads=False,
        )
        return OnePage(context, await context.new_page(), self._next)

    async def _fault(self, page: OnePage, error: Exception) -> ToolError:
        """What to say of an unexpected end; the page is given up where it is not whole."""
        if self._browser and not self._browser.is_connected():
            self._forget()
            return ToolError("the browser crashed, perhaps of a page that is too heavy; the next call starts "
                             "a new one", "runtime")  # fmt: skip
        if page.watch.crashed or page.page.is_closed():
            await self._drop(page)
            return ToolError("the page crashed, perhaps because it is too heavy; open another one", "runtime")
        return ToolError(f"the browser could not do that ({type(error).__name__})", "runtime")

    def _forget(self) -> None:
        """The browser is gone; numbers of its elements are not given again."""
        self._next = self._page.reader.next if self._page else self._next
        self._browser = self._page = None

    async def _drop(self, page: OnePage) -> None:
        """Close the context of a page; when not even that works, the whole process is to end."""
        self._next, self._page = page.reader.next, None
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await page.page.context.close()
        except (Error, TimeoutError):
            self.beyond_help = True
