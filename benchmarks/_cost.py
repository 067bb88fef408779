"""What containers cost: the processor time of those with one label, of the engine, and when they came."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GROUPS = (
    "/sys/fs/cgroup/cpuacct/docker/{}/cpuacct.usage",
    "/sys/fs/cgroup/system.slice/docker-{}.scope/cpu.stat",
    "/sys/fs/cgroup/docker/{}/cpu.stat",
)
"""Where a container's processor time stands: nanoseconds with cgroup v1, `usage_usec N` with v2."""
LOOK_SECONDS = 0.02
"""Between two looks: what a container does after the last one before its end is not seen."""
TICK = os.sysconf("SC_CLK_TCK")
ENGINE = ("dockerd", "containerd")


@dataclass
class Watch:
    """Containers with one label: `cpu` by id in seconds; (wall, processor seconds of the host's processes)
    when the first was created and when the last was gone.
    """

    host: Callable[[], float]
    cpu: dict[str, float] = field(default_factory=dict)
    times: dict[str, dict[str, float]] = field(default_factory=dict)
    """When each was created, started, died and was gone, in seconds."""
    gone: int = 0
    first: tuple[float, float] | None = None
    last: tuple[float, float] = (0.0, 0.0)

    def note(self, event: dict[str, Any]) -> None:
        now = event["timeNano"] / 1e9, self.host()
        self.times.setdefault(event["id"], {})[event["Action"]] = now[0]
        if event["Action"] == "create":
            self.first = self.first or now
            self.cpu.setdefault(event["id"], 0.0)
        elif event["Action"] == "destroy":
            self.last, self.gone = now, self.gone + 1

    def between(self, begin: str, end: str) -> float:
        """Median seconds from one event of a container to another."""
        took = [each[end] - each[begin] for each in self.times.values() if begin in each and end in each]
        return statistics.median(took) if took else float("nan")

    def look(self) -> None:
        for each in list(self.cpu):
            for pattern in GROUPS:
                try:
                    text = Path(pattern.format(each)).read_text()
                except OSError:
                    continue
                scale = 1e6 if text.startswith("usage_usec") else 1e9
                self.cpu[each] = int(text.split()[scale == 1e6]) / scale


@contextmanager
def watched(client: Any, label: str, host: Callable[[], float]) -> Iterator[Watch]:
    """Follow the containers with a label while the block runs, and until the engine has told of their end."""
    watch, over = Watch(host), threading.Event()
    kinds = {"type": "container", "event": ["create", "start", "die", "destroy"], "label": label}
    events = client.events(decode=True, filters=kinds)

    def listen() -> None:
        for event in events:
            watch.note(event)

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            watch.look()

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, look)]
    for thread in threads:
        thread.start()
    try:
        yield watch
        for _ in range(100):
            if watch.gone == len(watch.cpu):
                break
            time.sleep(0.05)
    finally:
        over.set()
        events.close()
        for thread in threads:
            thread.join(5)


def session_seconds(leader: int) -> float:
    """Processor seconds so far of all processes of a session, and of those that they waited for."""
    return sum(_seconds(fields) for _, _, fields in _processes() if int(fields[3]) == leader)


def children_seconds() -> float:
    """Processor seconds of the processes that this one waited for."""
    times = os.times()
    return times.children_user + times.children_system


def engine_seconds() -> dict[str, float]:
    """Processor seconds so far of each daemon of an engine and the helpers it waited for, by its pid."""
    return {pid: _seconds(fields) for pid, name, fields in _processes() if name in ENGINE}


def _processes() -> Iterator[tuple[str, str, list[str]]]:
    """Pid, name, and the fields of /proc/<pid>/stat after it."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        yield stat.parent.name, name, rest.split()


def _seconds(fields: list[str]) -> float:
    return sum(int(ticks) for ticks in fields[11:15]) / TICK


@dataclass(frozen=True)
class Cost:
    """Of one sitting of `n` episodes, in seconds, from the first container's creation to the last one's
    end: wall, processor time of the host's processes, of containers, of the engine (and what else it did).
    """

    n: int
    wall: float
    host: float
    containers: float
    engine: float
    phases: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Medians of a container: created → started, → died, → gone."""
    began: float = 0.0
    """Processor time of the host's processes before the first container's creation."""

    @property
    def each(self) -> float:
        """Wall seconds an episode."""
        return self.wall / self.n


@contextmanager
def costing(client: Any, label: str, n: int, host: Callable[[], float]) -> Iterator[list[Cost]]:
    """The cost of what the block does; the list holds it afterwards."""
    engine, found = engine_seconds(), list[Cost]()
    with watched(client, label, host) as watch:
        yield found
    assert watch.first
    assert len(watch.cpu) >= n, f"{len(watch.cpu)} containers seen of {n}"
    wall, seconds = (last - first for first, last in zip(watch.first, watch.last, strict=True))
    engines = sum(now - engine[pid] for pid, now in engine_seconds().items() if pid in engine)
    stages = ("create", "start", "die", "destroy")
    made, lived, removed = (watch.between(*pair) for pair in itertools.pairwise(stages))
    phases = (made, lived, removed)
    found.append(Cost(n, wall, seconds, sum(watch.cpu.values()), engines, phases, watch.first[1]))
