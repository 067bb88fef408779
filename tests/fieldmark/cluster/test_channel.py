"""Questions and replies between two processes: many at once, and what breaks is told."""

from __future__ import annotations

import asyncio
import socket

import pytest

from fieldmark.cluster.channel import Broken, Channel, Handlers, ask_now, serve
from fieldmark.errors import UsageError


async def add(one: int, other: int) -> int:
    await asyncio.sleep(0.02 * one)
    return one + other


async def refuse() -> None:
    raise UsageError("no such thing: name another")


async def fail() -> None:
    raise ValueError("seven")


HANDLERS: Handlers = {"add": add, "refuse": refuse, "fail": fail, "never": asyncio.Event().wait}


async def test_replies_find_their_questions_whatever_comes_first() -> None:
    here, there = socket.socketpair()
    serving = asyncio.create_task(serve(there, HANDLERS))
    channel = await Channel.over(here)
    assert await asyncio.gather(*(channel.ask("add", n, 10) for n in (3, 1, 2))) == [13, 11, 12]
    with pytest.raises(UsageError, match="no such thing"):
        await channel.ask("refuse")
    with pytest.raises(Broken, match="ValueError: seven"):
        await channel.ask("fail")
    await channel.close()
    await serving


async def test_a_side_that_is_gone_breaks_what_is_asked_and_ends_what_is_under_way() -> None:
    here, there = socket.socketpair()
    serving = asyncio.create_task(serve(there, HANDLERS))
    channel = await Channel.over(here)
    asked = asyncio.create_task(channel.ask("never"))
    await asyncio.sleep(0.05)
    serving.cancel()
    with pytest.raises(Broken, match="its process ended"):
        await asked
    with pytest.raises(Broken):
        await channel.ask("add", 1, 1)
    await channel.close()


def test_asked_without_a_loop() -> None:
    here, there = socket.socketpair()

    def answer() -> None:
        asyncio.run(serve(there, HANDLERS))

    import threading

    thread = threading.Thread(target=answer)
    thread.start()
    assert ask_now(here, "add", 1, 2) == 3
    with pytest.raises(UsageError, match="name another"):
        ask_now(here, "refuse")
    here.close()
    thread.join(10)
    assert not thread.is_alive()
