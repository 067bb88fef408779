"""Forward a port of 127.0.0.1 to a unix socket, byte by byte, for programs that cannot speak AF_UNIX.

Half-close passes through in both directions, and a slow reader slows its writer down (`drain`), so a
connection never holds more than a few hundred kilobytes.
"""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter

_CHUNK = 64 * 1024  # bytes
_BACKLOG = 512  # connections


async def listen(socket_path: str, port: int = 0) -> asyncio.Server:
    """Start forwarding in the running event loop; port 0 is any free one. OSError: the port is taken."""
    forwarding: set[asyncio.Task[None]] = set()  # asyncio itself holds them weakly: they would be collected

    def accept(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.create_task(_forward(socket_path, reader, writer))
        forwarding.add(task)
        task.add_done_callback(forwarding.discard)

    return await asyncio.start_server(accept, "127.0.0.1", port, backlog=_BACKLOG)


async def _forward(socket_path: str, reader: StreamReader, writer: StreamWriter) -> None:
    try:
        far_reader, far_writer = await asyncio.open_unix_connection(socket_path)
    except OSError:
        writer.close()
        return
    try:
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
    except OSError:
        pass  # one side went away: the other is closed below
    finally:
        far_writer.close()
        writer.close()


async def _pump(source: StreamReader, sink: StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
