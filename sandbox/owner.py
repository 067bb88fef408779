"""Who owns a container or a socket folder: a process, told apart from a later one with the same pid.

Runs in several PID namespaces, or on several machines, can share one engine. They cannot see each other's
processes, so `place()` stands beside `me()`: of what comes from elsewhere no pid can be judged.
"""

from __future__ import annotations

import os
from pathlib import Path


def me() -> str:
    """This process as `pid:start-time`; other versions of fieldmark on this machine read it too."""
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def place() -> str:
    """Where this process can be seen: `boot:PID namespace`."""
    try:
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        namespace = ""
    return f"{_read('/proc/sys/kernel/random/boot_id')[:8]}:{namespace}"


def alive(owner: str, where: str = "") -> bool | None:
    """Whether the process that wrote `me()` at `place()` still runs; None when that cannot be known here.

    An empty `where` is this place. What is not understood is not known: a newer version may have written it.
    """
    pid, _, started = owner.partition(":")
    if not pid.isdigit() or not started.isdigit() or where not in ("", place()):
        return None
    return _start_time(int(pid)) == started


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process began, '' when there is none (Linux: field 22 of stat)."""
    stat = _read(f"/proc/{pid}/stat")
    return stat.rpartition(")")[2].split()[19] if stat else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
