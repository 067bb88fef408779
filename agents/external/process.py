"""A program of others: started in a process group of its own, watched, and ended with all it started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from fieldmark.agents.external.adapter import Launch, Output

GRACE = 5.0
"""Seconds a program may take to end after its last word."""
MAX_OUTPUT = 32 * 2**20
"""Bytes of each of stdout and stderr that are kept; what comes later is read and dropped."""
_POLL = 0.1
_DRAIN = 2.0  # seconds to wait for output of a program that has ended: what it left behind may hold the pipe


def carry_out(launch: Launch, workspace: Path, is_final: Callable[[str], bool]) -> Output:
    """Start the program and wait for its end, or for GRACE seconds after its last word.

    Raises OSError when it cannot be started. Nothing of its process group is alive afterwards.
    """
    environment = {**os.environ, **launch.env, "PWD": str(workspace)}  # OpenCode believes PWD, not getcwd()
    program = subprocess.Popen(
        list(launch.argv), cwd=workspace, env=environment, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdin and program.stdout and program.stderr  # noqa: PT018
    out, err = _Reader(program.stdout), _Reader(program.stderr)
    threading.Thread(target=_feed, args=(program.stdin, launch.stdin), daemon=True).start()
    try:
        lingered = _wait(program, out, is_final)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    code = program.wait()
    return Output(out.text(_DRAIN), err.text(_DRAIN), code, lingered)


def _wait(program: subprocess.Popen[bytes], out: _Reader, is_final: Callable[[str], bool]) -> bool:
    """True when it had its last word out for GRACE seconds and was still running."""
    said: float | None = None
    seen = 0
    while program.poll() is None:
        if said is None and out.size != seen:
            seen = out.size
            said = time.monotonic() if is_final(out.text(0)) else None
        if said is not None and time.monotonic() - said > GRACE:
            return True
        time.sleep(_POLL)
    return False


def _feed(pipe: IO[bytes], text: str) -> None:
    with suppress(OSError):  # it may not want to hear it
        pipe.write(text.encode())
        pipe.close()


class _Reader:
    """Reads a pipe to its end in a thread. `size` is how many bytes were kept so far."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.size = 0
        self._pipe = pipe
        self._kept: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self, wait: float) -> str:
        """What came so far, or by the end of the pipe when that is within `wait` seconds."""
        if wait:
            self._thread.join(wait)
        return b"".join(self._kept).decode("utf-8", "replace")

    def _read(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 65536):
            if self.size < MAX_OUTPUT:
                self._kept.append(chunk)
                self.size += len(chunk)
