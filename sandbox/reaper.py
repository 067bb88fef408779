"""Removes what a killed run left behind: only what has our label and a dead owner, nothing else."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from typing import Any

from fieldmark.sandbox import owner
from fieldmark.sandbox.container import DEADLINE_LABEL, LABEL, OWNER_LABEL, PLACE_LABEL
from fieldmark.sandbox.gateway import sockets

LATE_SECONDS = 300
"""How far the clock of another machine may be behind."""
GOING_SECONDS = 10
"""How long a container that the engine is already removing is waited for."""


def reap(client: Any) -> list[str]:
    """Remove abandoned containers and socket folders; one line for each."""
    done = []
    for container in client.api.containers(all=True, filters={"label": [LABEL, OWNER_LABEL]}):
        if _is_abandoned(container["Labels"]):
            remove(client, container["Id"])
            done.append(f"removed the abandoned container {container['Id'][:12]}")
    for folder in sockets.abandoned():
        shutil.rmtree(folder, ignore_errors=True)
        done.append(f"removed the abandoned socket folder {folder}")
    return done


def _is_abandoned(labels: dict[str, str]) -> bool:
    """Its owner is dead; or cannot be seen from here, and the container has outlived its deadline."""
    alive = owner.alive(labels.get(OWNER_LABEL, ""), labels.get(PLACE_LABEL, ""))
    if alive is not None:
        return not alive
    deadline = labels.get(DEADLINE_LABEL, "")
    return deadline.isdigit() and time.time() > int(deadline) + LATE_SECONDS


def remove(client: Any, container_id: str) -> None:
    """Kill and remove a container; one that is already gone is fine, one that is going is waited for."""
    from docker.errors import APIError, NotFound
    from requests.exceptions import RequestException

    try:
        client.api.remove_container(container_id, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409:
            raise
        with suppress(APIError, RequestException):  # gone by now, or slow: the engine goes on with it
            client.api.wait(container_id, timeout=GOING_SECONDS, condition="removed")
