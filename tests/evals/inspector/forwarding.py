"""A unix socket that leads to a port of this machine: how a browser without a network gets to a command."""

from __future__ import annotations

import contextlib
import shutil
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextlib.contextmanager
def forwarding(socket_path: Path, port: int) -> Iterator[None]:
    """Every connection to the socket, which any user may open, is one to 127.0.0.1:`port`."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", port)) as there:
                back = threading.Thread(target=_copy, args=(there, self.request), daemon=True)
                back.start()
                _copy(self.request, there)
                back.join()

    server = _Server(str(socket_path), Handler)
    socket_path.chmod(0o666)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _copy(source: Any, target: Any) -> None:
    with contextlib.suppress(OSError), source.makefile("rb", 0) as coming, target.makefile("wb", 0) as going:
        shutil.copyfileobj(coming, going)
        target.shutdown(socket.SHUT_WR)
