"""`fieldmark view`: runs, episodes and traces in a browser."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldmark.blobs import BlobStore
    from fieldmark.trace import ModelRequest

PORT = 7788


@click.command("view")
@click.argument("runs", metavar="[RUNS]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, help=f"0: any free one.  [default: {PORT}]"
)
@click.option(
    "--host", default="127.0.0.1",
    help="Where to listen; beyond this machine only with a token, which is printed.  [default: 127.0.0.1]",
)  # fmt: skip
@click.option("--annotator", help="Who labels wrong answers in the browser.  [default: $USER]")
def command(runs: tuple[Path, ...], port: int, host: str, annotator: str | None) -> None:
    """Look at RUNS in a browser: run folders, studies, or a folder of them (default: runs).

    Each episode with its picture and every crop and reading drawn on it, its timeline, its requests as they
    were received, and why its answer was wrong. It follows running runs. A label that you give an
    answer is kept in the run's private/; nothing else is written. Ctrl-C ends it.

    \b
    fieldmark view
    fieldmark view runs/a runs/my-study --port 9000
    fieldmark view --host 0.0.0.0     # for other machines; open the printed address with its token
    """
    import uvicorn

    from fieldmark.evals.inspector.app import make_app
    from fieldmark.evals.inspector.library import Library, check
    from fieldmark.evals.inspector.security import LOOPBACK, is_loopback
    from fieldmark.labelling.session import check_name

    places = list(runs) or [Path("runs")]
    check(places)
    door = _listen(host, port)
    person = (os.environ.get("USER", "") if annotator is None else annotator).strip()
    if annotator is not None or person:
        check_name(person)
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    hosts = {*LOOPBACK, host.lower(), *({socket.gethostname().lower()} if token else ())}
    app = make_app(Library(places), GatewayRequests(), hosts, token, person)
    click.echo(f"open {_address(host, door.getsockname()[1], token)}   (Ctrl-C ends it)")
    config = uvicorn.Config(app, log_level="warning", server_header=False, access_log=False, lifespan="off")
    with contextlib.suppress(KeyboardInterrupt):  # its usual end
        uvicorn.Server(config).run(sockets=[door])


class GatewayRequests:
    """The requests of a trace, put together by the gateway's own code."""

    def text(self, event: ModelRequest, blobs: BlobStore) -> str:
        from fieldmark.sandbox.gateway.wire.requests import stored_text

        return stored_text(event, blobs)

    def whole(self, event: ModelRequest, blobs: BlobStore) -> bytes:
        from fieldmark.sandbox.gateway.wire.requests import rebuild

        return rebuild(event, blobs)


def _listen(host: str, port: int) -> socket.socket:
    from fieldmark.errors import UsageError

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(
            f"cannot listen on {host} port {port}: {why}; name another --port or --host"
        ) from None


def _address(host: str, port: int, token: str | None) -> str:
    open_at = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{open_at}]" if ":" in open_at else open_at
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")
