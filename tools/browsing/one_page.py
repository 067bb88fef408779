"""The one page of an episode: what can be done on it, and what is seen of it afterwards."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from playwright.async_api import BrowserContext, ElementHandle, Error, Page
from playwright.async_api import TimeoutError as TooSlow

from fieldmark.errors import ToolError, ToolErrorKind
from fieldmark.tools.browsing.faults import explained, is_gone
from fieldmark.tools.browsing.reading import Reader
from fieldmark.tools.browsing.watch import NO_CONTENT, REFUSAL, Watch, media_type
from fieldmark.tools.browsing.wire import HEIGHT, WIDTH, Action, Look, Reply

T = TypeVar("T")
SECONDS = 20.0
"""Of an action, when it does not say otherwise."""
SETTLE_SECONDS = 2.5
LOOK_SECONDS = 8.0
PICTURE_SECONDS = 5.0
"""What may be added to an action: waiting for a page that never rests, reading it, taking its picture."""

_CLICK_SECONDS = 4.0  # for an element to be still and free, before the click goes to it all the same
_EMPTY_LOOKS, _EMPTY_SECONDS = 4, 0.5  # for a page without a word on it
_ERROR_PAGE_SECONDS = 2.0
_QUALITY = 70
_IS_NO_PAGE = "location.protocol === 'chrome-error:' || location.href === 'about:blank'"
_FAR = 10_000_000  # px
_REFUSALS: dict[str, ToolErrorKind] = {"denied": "denied", "timeout": "timeout"}


class Hung(Exception):
    """The page does not answer any more."""


class OnePage:
    """`first` is the number of the first element that it lists."""

    def __init__(self, context: BrowserContext, page: Page, first: int = 1) -> None:
        self.page = page
        self.watch = Watch(context, page)
        self.reader = Reader(page, first)
        self._verbs: dict[str, Callable[[Action], Awaitable[None]]] = {
            "open": self._open,
            "click": self._click,
            "type": self._type,
            "scroll": self._scroll,
            "back": self._back,
        }

    async def act(self, action: Action) -> Reply:
        """One action and what is seen then. ToolError; Hung; Playwright's Error when the tab is gone."""
        self.watch.begin()
        seconds, verb = action.get("seconds", SECONDS), action["action"]
        if verb not in ("open", "back") and await self._read(self.page.evaluate(_IS_NO_PAGE)):
            raise ToolError("no page is open: open a URL first", "invalid_args")
        if verb in self._verbs:
            await self._within(seconds, self._verbs[verb](action))
            await self._arrive(verb, seconds)
        return await self._reply(action)

    # --- actions ------------------------------------------------------------------------------------------

    async def _open(self, action: Action) -> None:
        await self._navigate(action["url"])

    async def _navigate(self, url: str) -> None:
        try:
            await self.page.goto(url, wait_until="commit", timeout=0)
        except Error as error:
            if self.watch.crashed or self.page.is_closed():
                raise
            if "interrupted by another navigation" in error.message:
                return  # what came instead is looked at like any other page
            if not self.watch.aborted:
                await self._error_page()
                raise explained(error.message) from None

    async def _error_page(self) -> None:
        """Chromium's own page on a failure comes after it is told, and would push the next page aside."""
        with suppress(Error):
            await self.page.wait_for_url(
                "chrome-error://**", wait_until="commit", timeout=_ERROR_PAGE_SECONDS * 1000
            )

    async def _click(self, action: Action) -> None:
        element = await self._element(action)
        try:
            await element.click(timeout=_CLICK_SECONDS * 1000, no_wait_after=True)
        except TooSlow:
            if await element.is_disabled():
                raise ToolError("the element is disabled", "invalid_args") from None
            await element.evaluate("element => element.click()")
            self.watch.notes.append("something lies over the element; the click went to it all the same")

    async def _type(self, action: Action) -> None:
        element, text = await self._element(action), action["text"]
        kind = await element.evaluate("element => element.localName")
        try:
            if kind == "select":
                await element.select_option(label=text, timeout=_CLICK_SECONDS * 1000)
            else:
                await element.fill(text, timeout=_CLICK_SECONDS * 1000)
        except Error as error:
            if is_gone(error):
                raise
            if kind == "select":
                raise ToolError(
                    "the menu has no such choice: `text` is one of its options", "invalid_args"
                ) from None
            raise ToolError(
                "the element takes no such text: choose a field, or click it", "invalid_args"
            ) from None
        if action.get("submit"):
            await element.press("Enter", no_wait_after=True)

    async def _scroll(self, action: Action) -> None:
        direction = action.get("direction", "down")
        away = _FAR if direction in ("top", "bottom") else 0.8 * HEIGHT * action.get("screens", 1)
        await self.page.mouse.move(WIDTH / 2, HEIGHT / 2)
        await self.page.mouse.wheel(0, -away if direction in ("up", "top") else away)

    async def _back(self, action: Action) -> None:
        await self.page.go_back(wait_until="commit", timeout=0)
        if self.page.url == "about:blank":
            await self.page.go_forward(wait_until="commit", timeout=0)
            raise ToolError("there is no page before this one", "invalid_args")

    async def _element(self, action: Action) -> ElementHandle:
        return await self.reader.element(action["element"].strip())

    # --- what comes of it ---------------------------------------------------------------------------------

    async def _within(self, seconds: float, work: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(seconds):
                await work
        except TimeoutError:
            what = "the site did not answer" if self.watch.navigating else "the action was not done"
            await self._stop_loading()
            await self._read(self.page.evaluate("0"))  # a page that hangs is no use to the next action
            raise ToolError(f"{what} within {seconds:g} s", "timeout") from None
        except Error as error:
            if is_gone(error):
                raise ToolError("the page changed meanwhile: look at it again", "runtime") from None
            raise

    async def _arrive(self, verb: str, seconds: float) -> None:
        """Wait until the page rests; follow a new window; say why nothing came."""
        quiet = await self.watch.settle(SETTLE_SECONDS, seconds)
        if self.watch.wanted and verb in ("click", "type"):
            self.watch.notes.append("a new window was opened: it is shown in this one page")
            await self._within(seconds, self._navigate(self.watch.wanted))
            quiet = await self.watch.settle(SETTLE_SECONDS, seconds)
        if self.watch.navigating:
            await self._stop_loading()
            raise ToolError(f"the site did not answer within {seconds:g} s", "timeout")
        if not quiet and not self.watch.aborted:
            self.watch.notes.append("the page goes on loading; this is what it shows so far")
        await self._refuse()

    async def _refuse(self) -> None:
        """ToolError when no page came: because of the gateway, of the network, or of the site."""
        document = self.watch.document
        kind = document.headers.get(REFUSAL) if document else None
        if document and kind:
            raise ToolError(await _reason(document.text()), _REFUSALS.get(kind, "unavailable"))
        if document and self.watch.aborted and document.status in NO_CONTENT:
            raise ToolError(f"the site answers without a page (HTTP {document.status})", "unavailable")
        if not self.watch.aborted and await self._read(self.page.evaluate(_IS_NO_PAGE)):
            raise explained(self.watch.failure or "")

    async def _stop_loading(self) -> None:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(2):
                session = await self.page.context.new_cdp_session(self.page)
                await session.send("Page.stopLoading")
                await session.detach()

    # --- what is seen -------------------------------------------------------------------------------------

    async def _reply(self, action: Action) -> Reply:
        reply, watch = Reply(url=self.page.url[:2000]), self.watch
        document = watch.document
        if document:
            reply["http"], reply["media_type"] = document.status, media_type(document.headers)
        if watch.download:
            reply["download"] = watch.download
        else:
            await self._see(action, reply)
        if watch.refused:
            watch.notes.append(f"{watch.refused} of its parts were refused or not to be had")
        return {**reply, "notes": watch.notes, "dialogs": watch.dialogs}

    async def _see(self, action: Action, reply: Reply) -> None:
        reply["title"] = (await self._read(self.page.title()))[:300]
        if action["action"] == "find":
            reply["found"] = await self._read(self.reader.find(action["text"]))
        if action["action"] != "screenshot":
            reply["look"] = await self._look()
        picture = await self._picture()
        if picture:
            reply["picture"] = picture

    async def _look(self) -> Look:
        """Again when the page was exchanged meanwhile, or while a script has not yet written anything."""
        for _ in range(_EMPTY_LOOKS):
            try:
                seen = await self._read(self.reader.look())
                if seen["total"] or seen["elements_total"]:
                    return seen
            except Error as error:
                if not is_gone(error):
                    raise
            await asyncio.sleep(_EMPTY_SECONDS)
        return await self._read(self.reader.look())

    async def _read(self, reading: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await reading
        except TimeoutError:
            raise Hung from None

    async def _picture(self) -> str | None:
        """A JPEG of the view, in base64; None where none can be taken."""
        try:
            data = await self.page.screenshot(
                type="jpeg", quality=_QUALITY, scale="css", timeout=PICTURE_SECONDS * 1000
            )
        except TooSlow:
            self.watch.notes.append("no picture could be taken of it")
            return None
        return base64.b64encode(data).decode()


async def _reason(body: Awaitable[str]) -> str:
    """What the gateway says in its refusal."""
    try:
        async with asyncio.timeout(2):
            return str(json.loads(await body)["error"]["message"])
    except (Error, TimeoutError, ValueError, KeyError, TypeError):
        return "the gateway refuses the page"
