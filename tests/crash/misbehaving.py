"""An agent that first does what its question names, then answers: run inside a container, by path."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from fieldmark.agents.own import Asked, Tools


def solve(prompt: Asked, tools: Tools) -> str:
    if "memory" in prompt.question:
        hoard = bytearray()
        while True:
            hoard.extend(bytes(2**24))
    if "processes" in prompt.question:
        _fork_until_refused()
    if "disk" in prompt.question:
        _fill("/workspace")
        _fill("/tmp")
    if "parent" in prompt.question:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    if "itself" in prompt.question:
        os.kill(os.getpid(), signal.SIGKILL)
    prompt.model.chat([{"role": "user", "content": "Which colour?"}], tools)
    return "red"


def _fork_until_refused() -> None:
    """The children outlive the answer."""
    while True:
        try:
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
        except OSError:
            return


def _fill(folder: str) -> None:
    try:
        with Path(folder, "filler").open("wb") as file:
            while True:
                file.write(bytes(2**20))
                file.flush()
    except OSError:
        return
