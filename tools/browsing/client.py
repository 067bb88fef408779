"""Talks to the browser's process and starts it when there is none; lean, for any thread and any process."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import cast

from fieldmark.errors import ToolError, ToolErrorKind
from fieldmark.tools.browsing.wire import Action, Reply

FOLDER = Path("/tmp/fieldmark-browser")
SOCKET = FOLDER / "socket"
_SECONDS = 300.0
"""The process keeps its own, shorter limits; this one is for the case that it does not."""


def browse(action: Action, door: Path) -> Reply:
    """One action on the one page of this container. `door` is the gateway's socket for browsers."""
    with _connected(door) as process:
        try:
            process.sendall(json.dumps(action).encode() + b"\n")
            line = process.makefile("rb").readline()
            answer = json.loads(line)
        except TimeoutError:
            raise ToolError("the browser does not respond", "timeout") from None
        except (OSError, ValueError):
            message = "the browser ended, perhaps of a page that is too heavy; the next call starts a new one"
            raise ToolError(message, "runtime") from None
    if "fault" in answer:
        raise ToolError(answer["fault"]["message"], cast(ToolErrorKind, answer["fault"]["kind"]))
    return cast(Reply, answer["reply"])


def _connected(door: Path) -> socket.socket:
    """A connection; of several callers that find no process one starts it and the others wait."""
    connection = _connect()
    if connection:
        return connection
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = _connect()
        if connection is None:
            _start(door)
            connection = _connect()
    if connection is None:
        raise ToolError("the browser could not be started", "unavailable")
    return connection


def _connect() -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(SOCKET))
    except OSError:
        connection.close()
        return None
    connection.settimeout(_SECONDS)
    return connection


def _start(door: Path) -> None:
    """Start the process, apart from this one, and wait until it listens or has ended."""
    with (FOLDER / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "fieldmark.tools.browsing.process", str(door)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd="/", env=_environment(),
            start_new_session=True,
        )  # fmt: skip
    assert process.stdout is not None
    with process.stdout as ready:
        ready.readline()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
