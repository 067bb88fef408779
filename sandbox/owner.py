"""Who owns a container or a socket folder: a process, told apart from a later one with the same pid.

Runs in several PID namespaces, or on several machines, can share one engine: they cannot see each other's
processes, so what comes from elsewhere is nobody's to judge by its pid.
"""

from __future__ import annotations

import os
from pathlib import Path


def me() -> str:
    """This process as `boot:pid-namespace:pid:start-time`."""
    return f"{_boot()}:{_namespace()}:{os.getpid()}:{_start_time(os.getpid())}"


def alive(owner: str) -> bool | None:
    """Whether the process that wrote `me()` still runs; None: it ran elsewhere. Malformed text is dead."""
    boot, namespace, pid, started = (owner.split(":") + [""] * 4)[:4]
    if not pid.isdigit() or not started:
        return False
    if (boot, namespace) != (_boot(), _namespace()):
        return None
    return _start_time(int(pid)) == started


def of_an_earlier_boot(owner: str) -> bool:
    """Whether it was written before this machine started, or on another one."""
    return owner.partition(":")[0] != _boot()


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id")[:8]


def _namespace() -> str:
    """The inode of this process's PID namespace."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process began, '' when there is none (Linux: field 22 of stat)."""
    stat = _read(f"/proc/{pid}/stat")
    return stat.rpartition(")")[2].split()[19] if stat else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
