"""A page of ours on a port of this machine: taken before anything is shown, served until Ctrl-C."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette


def listen(host: str, port: int) -> socket.socket:
    """The port, taken; 0: any free one. UsageError when it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(
            f"cannot listen on {host} port {port}: {why}; name another --port or --host"
        ) from None


def address(host: str, listening: socket.socket, token: str | None) -> str:
    """What a person opens, with the token where there is one."""
    open_at = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{open_at}]" if ":" in open_at else open_at
    return f"http://{name}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")


def serve(app: Starlette, listening: socket.socket) -> None:
    """Until Ctrl-C, which is its usual end: also one that comes before the server minds signals itself."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", server_header=False, access_log=False, lifespan="off")
    server = uvicorn.Server(config)

    def stop(*_: object) -> None:
        server.should_exit = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        server.run(sockets=[listening])
    finally:
        signal.signal(signal.SIGINT, before)
