"""Who owns a container or a socket folder: a process, told apart from a later one with the same pid."""

from __future__ import annotations

import os
from pathlib import Path


def me() -> str:
    """This process as `pid:start-time`."""
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def alive(owner: str) -> bool:
    """Whether the process that wrote `me()` still runs. Malformed text counts as dead."""
    pid, _, started = owner.partition(":")
    return pid.isdigit() and started != "" and _start_time(int(pid)) == started


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process began, '' when there is none (Linux: field 22 of stat)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
