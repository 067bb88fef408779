"""The actor of a node: starts the node's keeper and passes questions on to it, over Ray."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys

from fieldmark.cluster.channel import Channel, Reply, reply_to

NOT_FOR_CHILDREN = ("RAY_", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD")
"""What variables begin with that Ray sets for its own workers."""


class NodeActor:
    """One a node. Nothing that it is given is looked into here, and none of it is kept."""

    def __init__(self) -> None:
        self._channel: Channel | None = None

    async def ask(self, name: str, args: bytes) -> Reply:
        """Ask the keeper; whatever breaks is a reply, for Ray would wrap an exception."""
        return await reply_to(self._ask(name, args))

    async def _ask(self, name: str, args: bytes) -> object:
        if self._channel is None:
            here, there = socket.socketpair()
            with there:
                _start_keeper(there)
            self._channel = await Channel.over(here)
        return await self._channel.ask(name, *pickle.loads(args))


def _start_keeper(end: socket.socket) -> None:
    """Start it, out of this process's group and session; what is waited for is only its first half."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(NOT_FOR_CHILDREN)}
    number = end.fileno()
    subprocess.run(
        [sys.executable, "-P", "-m", "fieldmark.cluster.keeper", str(number)], pass_fds=[number], env=env,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
