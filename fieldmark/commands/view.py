"""`fieldmark view`: runs, episodes and traces in a browser."""

from __future__ import annotations

import os
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
    from fieldmark.evals.inspector.app import make_app
    from fieldmark.evals.inspector.library import Library, check
    from fieldmark.evals.inspector.security import door_of
    from fieldmark.evals.inspector.serving import address, listen, serve
    from fieldmark.labelling.session import check_name

    places = list(runs) or [Path("runs")]
    check(places)
    socket = listen(host, port)
    person = (os.environ.get("USER", "") if annotator is None else annotator).strip()
    if annotator is not None or person:
        check_name(person)
    door = door_of(host)
    app = make_app(Library(places), GatewayRequests(), door.hosts, door.token, person)
    click.echo(f"open {address(host, socket, door.token)}   (Ctrl-C ends it)")
    serve(app, socket)


class GatewayRequests:
    """The requests of a trace, put together by the gateway's own code."""

    def text(self, event: ModelRequest, blobs: BlobStore) -> str:
        from fieldmark.sandbox.gateway.wire.requests import stored_text

        return stored_text(event, blobs)

    def whole(self, event: ModelRequest, blobs: BlobStore) -> bytes:
        from fieldmark.sandbox.gateway.wire.requests import rebuild

        return rebuild(event, blobs)
