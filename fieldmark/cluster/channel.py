"""Questions and replies over a socket between two processes of ours, each message a pickle after its length.

    asked by      over             answered by
    the driver    a socket pair    the envoy      (envoy.py: the one process that knows Ray)
    the envoy     Ray              the actor      (actor.py: one a node, passes on)
    the actor     a socket pair    the keeper     (keeper.py: a node's containers and gateway)

When the asking end is gone the answering process ends. Both ends belong to one user and one run.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pickle
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fieldmark.errors import FieldmarkError, UsageError

_LENGTH = struct.Struct("!Q")
BUFFER = 2**20
Handlers = Mapping[str, Callable[..., Awaitable[Any]]]
Reply = tuple[str, Any]
"""What a question came to: (`ok`, value), (`usage`, one line for the user) or (`broken`, why)."""


class Broken(FieldmarkError):
    """The other end is gone, or could not do what it was asked."""


def ask_now(end: socket.socket, name: str, *args: Any) -> Any:
    """Ask and wait, while nothing else is asked. UsageError, Broken."""
    try:
        end.sendall(_framed((0, name, args)))
        (length,) = _LENGTH.unpack(_exactly(end, _LENGTH.size))
        _, reply = pickle.loads(_exactly(end, length))
    except (OSError, EOFError):
        raise Broken("its process ended") from None
    return value_of(reply)


def value_of(reply: Reply) -> Any:
    """The value of a reply; UsageError or Broken where it has none."""
    kind, value = reply
    if kind == "usage":
        raise UsageError(value)
    if kind != "ok":
        raise Broken(value)
    return value


async def reply_to(work: Awaitable[Any]) -> Reply:
    """What becomes of a question, whatever breaks."""
    try:
        return "ok", await work
    except UsageError as error:
        return "usage", str(error)
    except Broken as error:
        return "broken", str(error)
    except Exception as error:
        return "broken", f"{type(error).__name__}: {error}"[:500]


class Channel:
    """The asking end; many questions may be under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def over(cls, end: socket.socket) -> Channel:
        return cls(*await asyncio.open_unix_connection(sock=end, limit=BUFFER))

    async def ask(self, name: str, *args: Any) -> Any:
        """UsageError, Broken."""
        number = next(self._numbers)
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        if self._reading.done():
            raise Broken("its process ended")
        self._waiting[number] = reply
        try:
            self._writer.write(_framed((number, name, args)))
            with contextlib.suppress(OSError):  # the reader tells that it is gone
                await self._writer.drain()
            return value_of(await reply)
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """The other end reads the end of the stream, and ends."""
        self._reading.cancel()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        try:
            while True:
                number, reply = await _received(self._reader)
                if (waiting := self._waiting.get(number)) and not waiting.done():
                    waiting.set_result(reply)
        except (OSError, EOFError):
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_result(("broken", "its process ended"))


async def serve(end: socket.socket, handlers: Handlers) -> None:
    """Answer questions until the asking end is gone; what is still under way is then cancelled."""
    reader, writer = await asyncio.open_unix_connection(sock=end, limit=BUFFER)
    under_way: set[asyncio.Task[None]] = set()

    async def answer(number: int, name: str, args: tuple[Any, ...]) -> None:
        writer.write(_framed((number, await reply_to(handlers[name](*args)))))
        with contextlib.suppress(OSError):
            await writer.drain()

    try:
        while True:
            task = asyncio.create_task(answer(*await _received(reader)))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
    except (OSError, EOFError):
        pass
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        writer.close()


async def _received(reader: asyncio.StreamReader) -> Any:
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return pickle.loads(await reader.readexactly(length))


def _framed(message: Any) -> bytes:
    data = pickle.dumps(message)
    return _LENGTH.pack(len(data)) + data


def _exactly(end: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = end.recv(min(BUFFER, size - len(data)))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
