"""How many requests a model's server gets at once: fewer when it says that it is too much, then more again.

Additive increase, multiplicative decrease, as TCP does it (Chiu and Jain 1989): by one for each round of
requests that went well while every place was taken, to half of what was in flight for each round of refusals.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from fieldmark.sandbox.gateway.clock import Clock

MOST = 256.0
"""Requests in flight at most: where a server never complains, the run's `parallel` is what limits them."""


@dataclass
class Place:
    """One request in flight. `began`: seconds of the monotonic clock."""

    began: float
    taken: bool = True


class Pace:
    """The places of one upstream, shared by all episodes of a process; first come, first served.

    `limit` is how many there are now, never below 1.
    """

    def __init__(self, most: float = MOST) -> None:
        self.limit = self._most = most
        self._in_flight = self._highest = self._overloads = 0
        self._last_cut = self._held_until = 0.0
        self._waited = 0.0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def take(self, clock: Clock) -> Place:
        """Wait for a place; that is the gateway's time, not the agent's."""
        began = time.monotonic()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._let_in()
        if not turn.done():
            with clock.waiting():
                await self._wait(turn)
        now = time.monotonic()
        self._waited += now - began
        return Place(now)

    def give_back(self, place: Place) -> None:
        """The request is over, however it ended; a second time does nothing."""
        if place.taken:
            place.taken = False
            self._in_flight -= 1
            self._let_in()

    def went_well(self, place: Place) -> None:
        """The server took the request. More are tried only where every place was taken."""
        if place.began > self._last_cut and self._in_flight >= int(self.limit):
            self.limit = min(self._most, self.limit + 1 / self.limit)

    def overloaded(self, place: Place) -> None:
        """The server said that it has too much to do; those that began before it said so say it again."""
        if place.began > self._last_cut:
            self._last_cut = time.monotonic()
            self._overloads += 1
            self.limit = max(1.0, min(self.limit, self._in_flight) / 2)

    def hold(self, seconds: float) -> None:
        """The server wants no request for so long (Retry-After): from no episode."""
        self._held_until = max(self._held_until, time.monotonic() + seconds)

    def describe(self) -> dict[str, Any]:
        """What it came to: most requests in flight, places at the end (None: never fewer), cuts, waits."""
        return {
            "most_at_once": self._highest,
            "limit": round(self.limit, 1) if self._overloads else None,
            "overloads": self._overloads,
            "waited_seconds": round(self._waited, 1),
        }

    async def _wait(self, turn: asyncio.Future[None]) -> None:
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it got the place in the very moment it was cancelled
                self._in_flight -= 1
                self._let_in()
            raise

    def _let_in(self) -> None:
        held = self._held_until - time.monotonic()
        if held > 0 and self._queue:
            asyncio.get_running_loop().call_later(held, self._let_in)
            return
        while self._queue and self._in_flight < int(self.limit):
            turn = self._queue.popleft()
            if not turn.done():
                self._in_flight += 1
                self._highest = max(self._highest, self._in_flight)
                turn.set_result(None)
