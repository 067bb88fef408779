"""The Docker engine: the one place that connects to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from docker import DockerClient

UNIX = "http+docker:"
"""What `docker` makes of a unix socket's URL. No proxy is on the way to one: `requests` need not look through
the environment at each of an episode's calls, which cost more than all else of them.
"""
ANSWER_SECONDS = 180.0  # the longest silence of one API call; building sends progress all the time


def connect() -> DockerClient:
    """A client of the engine that `DOCKER_HOST` (or the default socket) names; it has answered once."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env(timeout=int(ANSWER_SECONDS))
        if client.api.base_url.startswith(UNIX):
            client.api.trust_env = False
        client.ping()
    except DockerException as error:
        raise UsageError(_remedy(error)) from None
    return client


def is_away(error: BaseException) -> bool:
    """Whether a call failed since no engine answered it: it is down, or being restarted."""
    from requests.exceptions import ConnectionError as Unanswered

    return isinstance(error, Unanswered | ConnectionError)


def check_runtime(client: DockerClient, name: str | None) -> None:
    """UsageError when the engine does not know the runtime that a user names."""
    known = sorted(client.info()["Runtimes"])
    if name is not None and name not in known:
        raise UsageError(
            f"--runtime {name}: the engine knows {', '.join(known)}: add it to the engine's daemon.json"
        )


def _remedy(error: Exception) -> str:
    import os

    where = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if "PermissionError" in str(error) or "Permission denied" in str(error):
        return f"you may not use the engine at {where}: join its group (`sudo usermod -aG docker $USER`)"
    return f"no Docker engine answers at {where}: start it (`make setup` does) or set DOCKER_HOST"
