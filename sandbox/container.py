"""How a sandbox container is made: hardened, without a network, with one door."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fieldmark.needs import Needs
from fieldmark.sandbox import owner

LABEL = "fieldmark"
"""Every container of ours carries it; its value is the run id."""
OWNER_LABEL = "fieldmark.owner"
PLACE_LABEL = "fieldmark.place"
DEADLINE_LABEL = "fieldmark.deadline"
SOCKET_FOLDER = "/run/fieldmark"
USER = "10001:10001"
IDLE_SECONDS = 600
"""A warm container older than this is replaced, never leased."""
OPEN_FILES = 4096
PYTHON = "/opt/venv/bin/python"


def create_options(image: str, command: list[str], run_id: str, lifetime: float) -> dict[str, Any]:
    """Arguments of the engine's `create_container`. `lifetime` is in seconds: the last resort inside.

    `timeout` ends the worker by itself should the runner be gone; the engine then removes the container.
    Pydantic looks for plugins by reading the metadata of every package at each start: there are none.
    """
    return {
        "image": image,
        "command": ["timeout", "-k", "5", str(int(lifetime)), *command],
        "user": USER,
        "working_dir": "/workspace",
        "environment": {"HOME": "/home/agent", "PYDANTIC_DISABLE_PLUGINS": "__all__"},
        "labels": {
            LABEL: run_id,
            OWNER_LABEL: owner.me(),
            PLACE_LABEL: owner.place(),
            DEADLINE_LABEL: str(int(time.time() + lifetime)),
        },
        "network_disabled": True,
        "stdin_open": False,
    }


def host_options(door: Path, needs: Needs, mounts: Mapping[str, str]) -> dict[str, Any]:
    """Arguments of the engine's host config: hardened, without a network.

    `mounts`: files of this machine → where they are inside, read-only. `fieldmark sandbox check` proves each
    of the rest from inside.
    """
    return {
        "binds": {
            str(door): {"bind": SOCKET_FOLDER, "mode": "ro"},
            **{path: {"bind": inside, "mode": "ro"} for path, inside in mounts.items()},
        },
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={_seccomp()}"],
        "mem_limit": f"{needs.memory_mb}m",
        "memswap_limit": f"{needs.memory_mb}m",
        "nano_cpus": int(needs.processors * 1e9),
        "pids_limit": needs.pids,
        "ulimits": [{"name": "nofile", "soft": OPEN_FILES, "hard": OPEN_FILES}],
        "init": True,
        "runtime": needs.runtime,
        "auto_remove": True,
        "tmpfs": {
            "/tmp": "rw,nosuid,nodev,size=256m,nr_inodes=32k,mode=1777",
            "/workspace": "rw,nosuid,nodev,size=64m,nr_inodes=8k,mode=0755,uid=10001,gid=10001",
            "/home/agent": "rw,nosuid,nodev,size=64m,nr_inodes=8k,mode=0700,uid=10001,gid=10001",
        },
        "log_config": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
    }


@cache
def _seccomp() -> str:
    profile = json.loads((files("fieldmark.sandbox") / "seccomp.json").read_text(encoding="utf-8"))
    return json.dumps(profile, separators=(",", ":"))
