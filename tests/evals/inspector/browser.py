"""Real headless Chromium, in a container without a network, on pages that a real server gives.

The server listens on a unix socket that is mounted into the container; a relay there makes it a port.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from fieldmark.needs import Needs
from fieldmark.sandbox import container as made

PORT = 7788
SOCKET = "inspector.sock"
_START = f"""
import asyncio, json, sys, threading
sys.path.insert(0, "/")
from fieldmark.relay import listen
from playwright.sync_api import sync_playwright

def relay():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(listen("{made.SOCKET_FOLDER}/{SOCKET}", {PORT}))
    loop.run_forever()

threading.Thread(target=relay, daemon=True).start()
base = "http://127.0.0.1:{PORT}"
found = {{}}
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
    )
    def shot(page, name):
        page.screenshot(path="/shots/" + name + ".png", full_page=True)
"""


@contextlib.contextmanager
def serving(app: Starlette, socket: Path) -> Iterator[None]:
    """The app on a unix socket that every user may open."""
    server = uvicorn.Server(uvicorn.Config(app, uds=str(socket), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.02)
        socket.chmod(0o666)
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def visit(
    engine: Any, image: str, app: Starlette, folder: Path, script: str, files: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run the lines of `script` with `browser` and `base`; what they put into `found`.

    `shot(page, name)` leaves a PNG in `folder/shots`; `files`, by name, are there as `/shots/<name>`.
    """
    return visit_socket(engine, image, lambda path: serving(app, path), folder, script, files)


def visit_socket(
    engine: Any,
    image: str,
    server: Callable[[Path], AbstractContextManager[None]],
    folder: Path,
    script: str,
    files: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The same with what `server` offers on the unix socket that it is given."""
    door, shots = folder / "door", folder / "shots"
    for each in (door, shots):
        each.mkdir(parents=True)
    shots.chmod(0o777)
    for name, text in (files or {}).items():
        (shots / name).write_text(text, encoding="utf-8")
    body = "\n".join(f"    {line}" for line in script.strip("\n").splitlines())
    code = f"{_START}{body}\nprint(json.dumps(found))\n"
    options = made.create_options(image, [made.PYTHON, "-c", code], "test-inspector", 120)
    host = made.host_options(door, Needs(), {}) | {"auto_remove": False}
    host["binds"][str(shots)] = {"bind": "/shots", "mode": "rw"}
    with server(door / SOCKET):
        created = engine.api.create_container(**options, host_config=engine.api.create_host_config(**host))
        try:
            engine.api.start(created["Id"])
            engine.api.wait(created["Id"], timeout=120)
            printed = engine.api.logs(created["Id"]).decode()
        finally:
            engine.api.remove_container(created["Id"], force=True)
    last = printed.splitlines()[-1] if printed else ""
    assert last.startswith("{"), printed
    found: dict[str, Any] = json.loads(last)
    return found
