"""Forward 127.0.0.1:8118 to the gateway's socket, byte by byte, for programs that cannot speak AF_UNIX.

One daemon thread runs an event loop of its own. Half-close passes through in both directions, and a slow
reader slows its writer down (`drain`), so a connection never holds more than a few hundred kilobytes.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from asyncio import StreamReader, StreamWriter

DEFAULT_PORT = 8118
_CHUNK = 64 * 1024  # bytes
_BACKLOG = 512  # connections


def start_relay(socket_path: str, port: int | None = None) -> int:
    """Start forwarding; returns the port, 0 when off.

    `port` None means the environment's FIELDMARK_RELAY_PORT, else 8118; 0 is off. A port that is taken
    is reported on stderr and otherwise ignored: the agents of this package do not need the relay.
    """
    wanted = _port_of_environment() if port is None else port
    if wanted == 0:
        return 0
    ready = threading.Event()
    relay = _Relay(socket_path, wanted, ready)
    threading.Thread(target=relay.run, name="relay", daemon=True).start()
    ready.wait()
    return relay.port


def _port_of_environment() -> int:
    return int(os.environ.get("FIELDMARK_RELAY_PORT") or DEFAULT_PORT)


class _Relay:
    def __init__(self, socket_path: str, wanted: int, ready: threading.Event) -> None:
        self.port = 0
        self._socket_path = socket_path
        self._wanted = wanted
        self._ready = ready
        self._open: set[asyncio.Task[None]] = (
            set()
        )  # asyncio itself holds them weakly: they would be collected

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            print(f"relay: cannot listen on 127.0.0.1:{self._wanted}: {error}", file=sys.stderr)
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", self._wanted, backlog=_BACKLOG)
        self.port = self._wanted
        self._ready.set()
        await server.serve_forever()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.create_task(self._forward(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _forward(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._socket_path)
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
