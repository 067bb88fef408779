"""The engine's event stream: how each container of a run died, told to the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldmark.errors import EpisodeFault, SandboxFault
from fieldmark.sandbox.container import LABEL
from fieldmark.trace import ErrorInfo

KILLED = 137
REOPEN_SECONDS = 1.0
LATE_SECONDS = 0.5
"""So long the engine may take to tell why a container was killed, after it told that it was."""


@dataclass(frozen=True)
class Death:
    """How a container ended. `oom`: the kernel killed something in it for want of memory. `from_outside`:
    somebody killed it through the engine, or the host itself ran out of memory meanwhile.
    """

    exit_code: int
    oom: bool = False
    from_outside: bool = False

    def cause(self) -> ErrorInfo | EpisodeFault:
        """The agent's own doing (ErrorInfo), or ours (a fault to raise)."""
        if self.oom:
            return ErrorInfo(boundary="agent", kind="oom", message="the agent used up its container's memory")
        if self.from_outside:
            return SandboxFault("the container was killed from outside", kind="killed")
        if self.exit_code == 124:
            return ErrorInfo(
                boundary="agent", kind="hang", message="the agent outlived its container's last resort"
            )
        return ErrorInfo(
            boundary="agent", kind="crash", message=f"the agent's process ended with code {self.exit_code}"
        )


class DeathWatch:
    """Follows one run's containers in a thread. `on_death(container id, Death)` runs in the event loop.

    The stream is opened again, from where it broke off, when the engine restarts.
    """

    def __init__(self, client: Any, run_id: str, on_death: Callable[[str, Death], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_death = on_death
        self._client = client
        self._filters = {"type": "container", "label": f"{LABEL}={run_id}", "event": ["die", "oom", "kill"]}
        self._oom: set[str] = set()
        self._killed: set[str] = set()
        self._host_kills = _host_kills()
        self._closing = threading.Event()
        self._stream = self._open(None)
        self._thread = threading.Thread(target=self._follow, name="engine-events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._stream.close()

    def _open(self, since: int | None) -> Any:
        return self._client.api.events(filters=self._filters, decode=True, since=since)

    def _follow(self) -> None:
        last = int(time.time())
        while not self._closing.is_set():
            try:
                for event in self._stream:
                    last = int(event.get("time", last))
                    self._take(event)
            except Exception:  # whatever the transport raises: the engine went away, or we closed the stream
                pass
            if not self._closing.wait(REOPEN_SECONDS):
                with contextlib.suppress(Exception):  # still away: tried again
                    self._stream = self._open(last)

    def _take(self, event: dict[str, Any]) -> None:
        container = event.get("id") or event["Actor"]["ID"]
        action = event.get("status") or event.get("Action")
        if action == "oom":
            self._oom.add(container)
            self._host_kills = _host_kills()  # this one is a container's own
        elif action == "kill":
            self._killed.add(container)
        else:
            self._died(container, int(event["Actor"]["Attributes"].get("exitCode", -1)))

    def _died(self, container: str, code: int) -> None:
        is_told = container in self._oom or container in self._killed
        wait = LATE_SECONDS if code == KILLED and not is_told else 0.0
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits for this any more
            self._loop.call_soon_threadsafe(self._loop.call_later, wait, self._tell, container, code)

    def _tell(self, container: str, code: int) -> None:
        """An agent can kill its own container too: what tells the difference is the engine, not the code."""
        oom, killed = container in self._oom, container in self._killed
        now = _host_kills()
        host = code == KILLED and not oom and now != self._host_kills
        self._host_kills = now
        self._on_death(container, Death(code, oom=oom, from_outside=killed or host))


def _host_kills() -> int:
    """How many processes this host has killed for want of memory, in containers or outside; 0 if unknown."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
