"""How many requests a server gets at once, over all episodes: fewer when it has too much, then more again."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.pacing import Pace
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from tests.model_server import ModelServer, Reply

PAYLOAD = b'{"model": "scripted", "messages": []}'


def to(server: ModelServer) -> HttpUpstream:
    return HttpUpstream("scripted", server.url, back_off=wait_none())


async def call(upstream: HttpUpstream, clock: Clock | None = None, payload: bytes = PAYLOAD) -> Any:
    """One whole call of an episode; its reply, read to the end."""
    async with upstream.send("/chat/completions", payload, clock or Clock(), whole=True, headers={}) as reply:
        _ = [chunk async for chunk in reply.chunks]
        return reply


async def test_a_server_that_has_too_much_gets_half_then_one_more_each_round() -> None:
    pace, clock = Pace(most=8), Clock()
    places = [await pace.take(clock) for _ in range(8)]
    for place in places[:3]:  # a burst of refusals is one sign, not three
        pace.overloaded(place)
        pace.give_back(place)
    assert pace.limit == 4.0
    for place in places:
        pace.give_back(place)
    for _ in range(3):  # three rounds in which every place was taken
        round_ = [await pace.take(clock) for _ in range(int(pace.limit))]
        for place in round_:
            pace.went_well(place)
        for place in round_:
            pace.give_back(place)
    assert 6.0 < pace.limit <= 7.0


async def test_it_never_falls_below_one_and_does_not_grow_unused() -> None:
    pace, clock = Pace(most=8), Clock()
    for _ in range(5):
        place = await pace.take(clock)
        pace.overloaded(place)
        pace.give_back(place)
    assert pace.limit == 1.0
    pace.limit = 3.0
    place = await pace.take(clock)
    pace.went_well(place)
    assert pace.limit == 3.0


async def test_waiting_for_a_place_is_not_the_agents_time() -> None:
    pace, clock = Pace(most=1), Clock()
    first = await pace.take(Clock())
    second = asyncio.create_task(pace.take(clock))
    await asyncio.sleep(0.2)
    assert not second.done()
    pace.give_back(first)
    pace.give_back(await second)
    assert clock.waited > 0.15
    assert clock.charged < clock.wall - 0.15


async def test_who_is_cancelled_while_waiting_keeps_no_place() -> None:
    pace = Pace(most=1)
    first = await pace.take(Clock())
    waiting = [asyncio.create_task(pace.take(Clock())) for _ in range(2)]
    await asyncio.sleep(0)
    pace.give_back(first)  # the first of them has it now, and is cancelled before it knows
    waiting[0].cancel()
    pace.give_back(await asyncio.wait_for(waiting[1], 5))
    pace.give_back(await asyncio.wait_for(pace.take(Clock()), 5))


async def test_a_server_that_takes_three_at_once_is_asked_three_at_once() -> None:
    """12 episodes ask a real server that refuses the fourth request at once."""
    lock, state = threading.Lock(), {"now": 0, "refused": 0}

    def script(body: Any) -> Reply:
        with lock:
            if state["now"] >= 3:
                state["refused"] += 1
                return Reply(status=429)
            state["now"] += 1
        threading.Timer(0.02, leave).start()
        return Reply("ok", delay=0.03)

    def leave() -> None:
        with lock:
            state["now"] -= 1

    with ModelServer(script) as server:
        upstream = HttpUpstream("scripted", server.url)
        replies = await asyncio.gather(*(call(upstream) for _ in range(12)))
        await upstream.close()
    assert [reply.status for reply in replies] == [200] * 12
    told = upstream.pace.describe()
    assert told["most_at_once"] == 12
    assert told["limit"] < 6.5
    assert told["overloads"] >= 1


async def test_retry_after_holds_back_every_episode() -> None:
    """Case 5-01: the server wants no request for a second; none comes in it, from whomever."""
    came: list[float] = []

    def script(body: Any) -> Reply:
        came.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "1"}) if len(came) == 1 else Reply("ok")

    with ModelServer(script) as server:
        upstream, clock = to(server), Clock()
        first = asyncio.create_task(call(upstream))
        while not came:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        other = await call(upstream, clock)
        await first
        await upstream.close()
    assert min(came[1:]) - came[0] >= 0.99
    assert other.tries == 1
    assert other.waited > 0.5
    assert clock.waited > 0.5


@pytest.mark.parametrize("whole", [False, True])
async def test_a_call_holds_its_place_until_its_end(whole: bool) -> None:
    with ModelServer([Reply("one two three")]) as server:
        upstream = to(server)
        upstream.pace = Pace(most=1)
        payload = b'{"model": "scripted", "messages": [], "stream": true}'
        async with upstream.send("/chat/completions", payload, Clock(), whole=whole, headers={}) as reply:
            other = asyncio.create_task(call(upstream))
            await asyncio.sleep(0.1)
            assert len(server.requests) == 1
            _ = [chunk async for chunk in reply.chunks]
        await asyncio.wait_for(other, 10)
        assert len(server.requests) == 2
        await upstream.close()


async def test_a_call_that_is_cancelled_in_its_back_off_ends_at_once() -> None:
    """Case 5-20: Ctrl-C, or the end of an episode."""
    with ModelServer([Reply(status=429, headers={"Retry-After": "200"})]) as server:
        upstream = to(server)
        waiting = asyncio.create_task(call(upstream))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 5)
        assert len(server.requests) == 1
        await upstream.close()
