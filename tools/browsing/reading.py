"""Reads a page through page.js: its frames one after the other, as one text and one list of elements."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.resources import files
from typing import Any, cast

from playwright.async_api import ElementHandle, Error, Frame, Page

from fieldmark.errors import ToolError
from fieldmark.tools.browsing.wire import Found, Look

CHARS = 3_000
ELEMENTS = 40
"""Of a page that one result shows."""
HITS = 5
AROUND = 200
"""Places of words that are shown, and characters on either side of each."""
FRAMES = 8
_FRAME_SECONDS = 2.0
_SCRIPT = (files("fieldmark.tools.browsing") / "page.js").read_text(encoding="utf-8")


class Reader:
    """Numbers elements as it lists them, from `first`: a number is never given twice."""

    def __init__(self, page: Page, first: int = 1) -> None:
        self.next = first
        self._page = page
        self._listed: list[int] = []

    async def look(self) -> Look:
        """What is seen from the top of the view down, the frames behind the page itself."""
        seen = await self._look(self._page.main_frame, 0.0, CHARS, ELEMENTS)
        for frame, top in await self._frames():
            room = CHARS - len(seen["text"]) - len(frame.url[:200]) - 12
            if room <= 0:
                break
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_FRAME_SECONDS):
                    _join(seen, await self._look(frame, top, room, ELEMENTS - len(seen["elements"])), frame)
        self._listed = [element["number"] for element in seen["elements"]]
        return seen

    async def find(self, words: str) -> Found:
        """Where words stand, in the frames too; the first place is scrolled into view."""
        asked = {"words": words, "hits": HITS, "around": AROUND}
        found: Found = await self._ask(self._page.main_frame, "find", asked)
        for frame, _ in await self._frames():
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_FRAME_SECONDS):
                    more: Found = await self._ask(frame, "find", asked)
                found["places"] = (found["places"] + more["places"])[:HITS]
                found["hits"] += more["hits"]
                found["total"] += more["total"]
        return found

    async def element(self, name: str) -> ElementHandle:
        """By its number, else by what it says. ToolError `not_found`."""
        if name.isascii() and name.isdigit():
            asked: list[tuple[str, Any]] = [("element", {"number": int(name)})]
        else:
            asked = [("named", {"text": name, "exact": exact}) for exact in (True, False)]
        frames = [self._page.main_frame, *(frame for frame, _ in await self._frames())]
        for verb, what in asked:
            for frame in frames:
                handle = await frame.evaluate_handle(_SCRIPT, [verb, what])
                found = handle.as_element()
                if found:
                    return found
        raise ToolError(self._not_there(name), "not_found")

    async def _look(self, frame: Frame, top: float, chars: int, elements: int) -> Look:
        asked = {"top": top, "chars": chars, "elements": max(0, elements), "next": self.next}
        seen = await self._ask(frame, "look", asked)
        self.next = seen.pop("next")
        return cast(Look, seen)

    async def _ask(self, frame: Frame, verb: str, asked: dict[str, Any]) -> Any:
        return await frame.evaluate(_SCRIPT, [verb, asked])

    async def _frames(self) -> list[tuple[Frame, float]]:
        """The frames that are seen, each with the px of it that lie above the view."""
        shown = []
        for frame in self._page.frames[1 : FRAMES + 1]:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_FRAME_SECONDS):
                    box = await (await frame.frame_element()).bounding_box()
                if box and box["width"] > 2 and box["height"] > 2 and box["y"] + box["height"] > 0:
                    shown.append((frame, max(0.0, -box["y"])))
        return shown

    def _not_there(self, name: str) -> str:
        if not name.isdigit():
            return "nothing on the page says that: use the number of an element of the last result"
        if not self._listed:
            return f"there is no element {name} on the page now, and the last result listed none"
        first, last = min(self._listed), max(self._listed)
        return (
            f"element {name} is not on the page now: it belonged to an earlier state of it or to another "
            f"page; the last result listed numbers from {first} to {last}"
        )


def _join(seen: Look, more: Look, frame: Frame) -> None:
    if more["text"].strip():
        seen["text"] += f"\n\n[frame {frame.url[:200]}]\n{more['text']}"
    seen["elements"] += more["elements"]
    for number in ("shown", "total", "above", "elements_total"):
        seen[number] += more[number]
