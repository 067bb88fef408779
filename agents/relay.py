"""The gateway's routes on 127.0.0.1:8118, for programs that cannot speak AF_UNIX.

One daemon thread runs an event loop of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

from fieldmark.relay import listen

DEFAULT_PORT = 8118


def start_relay(socket_path: str, port: int | None = None) -> int:
    """Start forwarding; returns the port, 0 when off.

    `port` None means the environment's FIELDMARK_RELAY_PORT, else 8118; 0 is off. A port that is taken
    is reported on stderr and otherwise ignored: the agents of this package do not need the relay.
    """
    wanted = _port_of_environment() if port is None else port
    if wanted == 0:
        return 0
    relay = _Relay(socket_path, wanted)
    threading.Thread(target=relay.run, name="relay", daemon=True).start()
    relay.ready.wait()
    return relay.port


def _port_of_environment() -> int:
    return int(os.environ.get("FIELDMARK_RELAY_PORT") or DEFAULT_PORT)


class _Relay:
    """`port` is 0 until the relay listens; `ready` is set when it does, or cannot."""

    def __init__(self, socket_path: str, wanted: int) -> None:
        self.port = 0
        self.ready = threading.Event()
        self._socket_path = socket_path
        self._wanted = wanted

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            print(f"relay: cannot listen on 127.0.0.1:{self._wanted}: {error}", file=sys.stderr)
        finally:
            self.ready.set()

    async def _serve(self) -> None:
        server = await listen(self._socket_path, self._wanted)
        self.port = self._wanted
        self.ready.set()
        await server.serve_forever()
