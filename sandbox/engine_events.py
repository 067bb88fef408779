"""The engine's event stream: how each container of a run died, told to the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fieldmark.errors import EpisodeFault, SandboxFault
from fieldmark.sandbox.container import LABEL
from fieldmark.trace import ErrorInfo

KILLED = 137


@dataclass(frozen=True)
class Death:
    """How a container ended. `oom`: the kernel killed something in it for want of memory."""

    exit_code: int
    oom: bool

    def verdict(self) -> ErrorInfo | EpisodeFault:
        """The agent's own doing (ErrorInfo), or ours (a fault to raise)."""
        if self.oom:
            return ErrorInfo(boundary="agent", kind="oom", message="the agent used up its container's memory")
        if self.exit_code == KILLED:
            return SandboxFault(
                "the container was killed from outside (exit 137 without a memory event)", kind="killed"
            )
        if self.exit_code == 124:
            return ErrorInfo(
                boundary="agent", kind="hang", message="the agent outlived its container's last resort"
            )
        return ErrorInfo(
            boundary="agent", kind="crash", message=f"the agent's process ended with code {self.exit_code}"
        )


class DeathWatch:
    """Follows one run's containers in a thread. `on_death(container id, Death)` runs in the event loop."""

    def __init__(self, client: Any, run_id: str, on_death: Callable[[str, Death], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_death = on_death
        self._oom: set[str] = set()
        filters = {"type": "container", "label": f"{LABEL}={run_id}", "event": ["die", "oom"]}
        self._stream = client.api.events(filters=filters, decode=True)
        self._thread = threading.Thread(target=self._follow, name="engine-events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stream.close()

    def _follow(self) -> None:
        try:
            for event in self._stream:
                self._take(event)
        except (
            Exception
        ):  # the engine went away or we closed the stream: deaths are then noticed by time limits
            return

    def _take(self, event: dict[str, Any]) -> None:
        container = event.get("id") or event["Actor"]["ID"]
        if event.get("status") == "oom" or event.get("Action") == "oom":
            self._oom.add(container)
            return
        code = int(event["Actor"]["Attributes"].get("exitCode", -1))
        death = Death(code, container in self._oom)
        self._loop.call_soon_threadsafe(self._on_death, container, death)
