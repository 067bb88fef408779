"""The one process of a run that knows Ray: it joins the cluster, starts an actor on each node, passes on.

Ray writes to the terminal, catches signals and may abort its process when the cluster is lost. Here it does
so beside the run. When the run's process is gone this one ends, its job with it, and so the actors.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
import sys
from typing import Any

from fieldmark.cluster.channel import Broken, Handlers, serve, value_of
from fieldmark.errors import UsageError

START_SECONDS = 120.0
CONNECT_SECONDS = 5.0
AT_ONCE = 4096
"""Questions under way on one node."""


class Envoy:
    """Asked `join` once, then `ask` and `leave` with the id of a node."""

    def __init__(self) -> None:
        self._actors: dict[str, Any] = {}

    async def join(self, address: str) -> list[tuple[str, str]]:
        """The nodes that may play, by id and name. UsageError: no such cluster, or none that may."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from fieldmark.cluster.actor import NodeActor

        await asyncio.to_thread(_check_reachable, address)
        try:
            ray.init(address=address, log_to_driver=False, configure_logging=False)
        except Exception as error:  # Ray raises many kinds, and its text is of many lines
            raise UsageError(_not_joined(address, error)) from None
        made = ray.remote(NodeActor)
        known: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        nodes = [node for node in known if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            self._actors[node["NodeID"]] = made.options(
                num_cpus=0, max_concurrency=AT_ONCE, max_restarts=0, scheduling_strategy=there
            ).remote()
        if not nodes:
            raise UsageError(
                f"--address {address}: no node of the cluster has processors: start one with "
                "`ray start --address HOST:6379`"
            )
        return [(node["NodeID"], f"{node['NodeManagerHostname']} ({node['NodeID'][:6]})") for node in nodes]

    async def ask(self, node: str, name: str, args: tuple[Any, ...]) -> Any:
        """Ask a node. Broken: it is lost, whatever of."""
        from ray.exceptions import RayError

        actor = self._actors.get(node)
        if actor is None:
            raise Broken("it was given up")
        try:
            return value_of(await actor.ask.remote(name, pickle.dumps(args)))
        except RayError as error:
            if "No module named 'fieldmark" in str(error):
                raise UsageError(
                    "it has no such fieldmark: install the same in the environment that runs `ray start`"
                ) from None
            raise Broken(f"it does not answer ({type(error).__name__})") from None

    async def leave(self, node: str) -> None:
        """Give a node up."""
        import ray

        if actor := self._actors.pop(node, None):
            ray.kill(actor)


def _check_reachable(address: str) -> None:
    """Ray itself tries for a minute."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "it does not answer"
        raise UsageError(
            f"--address {address}: no cluster is there ({why}): start one with `ray start --head`, "
            "or name its head"
        ) from None


def _not_joined(address: str, error: Exception) -> str:
    if isinstance(error, ConnectionError) and address == "auto":
        return (
            "--address auto: no cluster runs on this machine: start one with `ray start --head`, or join "
            "one with `ray start --address HOST:6379`"
        )
    return (
        f"--address {address}: it could not be joined ({_in_short(error)}): is this machine one of its nodes "
        f"(`ray start --address {address}`), with the same Ray, Python and token ($RAY_AUTH_TOKEN)?"
    )


def _in_short(error: Exception) -> str:
    """The first line of what Ray says."""
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"[:300]


def main() -> None:
    """The number of the socket is the one argument."""
    envoy = Envoy()
    handlers: Handlers = {"join": envoy.join, "ask": envoy.ask, "leave": envoy.leave}
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1])), handlers))


if __name__ == "__main__":
    main()
