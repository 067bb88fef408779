"""The nodes of a run as its driver sees them: which there are, which has room, which are lost."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from fieldmark import __version__
from fieldmark.cluster.channel import Broken, Channel, ask_now
from fieldmark.cluster.sealing import seal
from fieldmark.cluster.travelling import Brief, Errand, NodeFacts, Played
from fieldmark.errors import SandboxFault, UsageError
from fieldmark.needs import Needs
from fieldmark.sandbox import image
from fieldmark.sandbox.build_context import Variant

PASSED_ON = ("PATH", "HOME", "USER", "LANG", "LC_", "TMPDIR", "XDG_", "RAY_", "VIRTUAL_ENV", "LD_LIBRARY")
"""What variables begin with that the process which knows Ray is given: none of them is a key."""
END_SECONDS = 20.0
CLOSE_SECONDS = 120.0
Say = Callable[[str], None]


@dataclass
class Node:
    """`name` is for people; `share` are the episodes that it plays at once, `playing` those of now."""

    id: str
    name: str
    facts: NodeFacts
    share: int = 0
    playing: int = 0
    played: int = 0
    lost: str = ""
    pacing: dict[str, Any] | None = None

    def described(self) -> dict[str, Any]:
        """For run.json: without its name, which is of somebody's network."""
        told = {"at_once": self.share, "episodes": self.played, "lost": bool(self.lost)}
        return {**asdict(self.facts), **told, **({"pacing": self.pacing} if self.pacing else {})}


class Cluster:
    """Made by `connect`; `open` before the first `play`, `close` at the end, or `drop` without any."""

    def __init__(
        self, process: subprocess.Popen[bytes], end: socket.socket, nodes: list[Node], say: Say
    ) -> None:
        self.nodes = nodes
        self._process, self._end = process, end
        self._channel: Channel | None = None
        self._changed = asyncio.Condition()
        self._say = say
        self._patience = 0.0

    @property
    def room(self) -> int:
        """Episodes at once that all nodes have the cores and the memory for."""
        return sum(node.facts.room for node in self.nodes)

    def described(self) -> dict[str, Any]:
        """For run.json."""
        return {"kind": "ray", "nodes": [node.described() for node in self.nodes]}

    async def open(self, brief: Brief, parallel: int, patience: float) -> None:
        """Give every node the brief. `patience`: seconds after which an attempt counts as lost with its node.

        UsageError: a node cannot reach what the run needs.
        """
        self._channel, self._patience = await Channel.over(self._end), patience
        for node, share in zip(self.nodes, shares([n.facts.room for n in self.nodes], parallel), strict=True):
            node.share = share
        await asyncio.gather(*(self._brief(node, brief, parallel) for node in self.nodes))

    async def play(self, errand: Errand) -> Played:
        """On the node that has most room; anew on another where that is lost. SandboxFault: none is left."""
        while True:
            node = await self._free_node()
            try:
                played: Played = await asyncio.wait_for(self._ask(node, "play", errand), self._patience)
                if why := _of_this_node(played):
                    raise Broken(why)
                node.played += 1
                return played
            except (Broken, UsageError, TimeoutError) as error:
                await self._lose(node, str(error) or f"no word of an episode in {self._patience:g} s")
                errand = replace(errand, earlier=[*errand.earlier, "sandbox: a node of the cluster was lost"])
            finally:
                await self._give_back(node)

    async def close(self) -> None:
        """Every node removes what it has of the run; then the job ends."""
        await asyncio.gather(*(self._close(node) for node in self.nodes if not node.lost))
        if self._channel:
            await self._channel.close()
        await asyncio.to_thread(self.drop)

    def drop(self) -> None:
        """Let go: the process that knows Ray reads the end of the stream, and ends the job."""
        self._end.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    async def _brief(self, node: Node, brief: Brief, parallel: int) -> None:
        share = math.ceil(brief.expected * node.share / max(1, parallel))
        own = replace(brief, expected=share, at_once=node.share)
        try:
            public = await self._ask(node, "public")
            await self._ask(node, "open", seal(pickle.dumps(own), public))
        except (UsageError, Broken) as error:
            raise UsageError(f"node {node.name}: {error}") from None

    async def _free_node(self) -> Node:
        async with self._changed:
            while True:
                left = [node for node in self.nodes if not node.lost]
                if not left:
                    why = self.nodes[0].lost if len(self.nodes) == 1 else "every node is lost"
                    raise SandboxFault(f"no node of the cluster is left: {why}", kind="lost", stops_run=True)
                free = [node for node in left if node.playing < node.share]
                if free:
                    node = min(free, key=lambda node: node.playing / node.share)
                    node.playing += 1
                    return node
                await self._changed.wait()

    async def _give_back(self, node: Node) -> None:
        node.playing -= 1
        async with self._changed:
            self._changed.notify_all()

    async def _lose(self, node: Node, why: str) -> None:
        if node.lost:
            return
        node.lost = why
        others = "; its episodes are played anew on the others" if any(not n.lost for n in self.nodes) else ""
        self._say(f"node {node.name} is lost: {why}{others}")
        if self._channel:
            with contextlib.suppress(Broken, UsageError):
                await self._channel.ask("leave", node.id)

    async def _close(self, node: Node) -> None:
        with contextlib.suppress(Broken, UsageError, TimeoutError):  # its keeper cleans up by itself
            node.pacing = await asyncio.wait_for(self._ask(node, "close"), CLOSE_SECONDS)

    async def _ask(self, node: Node, name: str, *args: Any) -> Any:
        if self._channel is None:
            raise Broken("it was not asked yet")
        return await self._channel.ask("ask", node.id, name, args)


def _of_this_node(played: Played) -> str | None:
    """What broke where every further episode on this node would break alike, and not on the others."""
    error = played.record.error
    of_it = played.outcome.stops_run and error and error.boundary in ("sandbox", "host")
    return error.message if error and of_it else None


def connect(address: str, variant: Variant, needs: Needs, agent: str, say: Say) -> Cluster:
    """Join the cluster and look at its nodes; one that does not answer is left out, whatever Ray says of it.
    UsageError, naming the first node that cannot play.
    """
    here, there = socket.socketpair()
    with there:
        process = _start_envoy(there)
    nodes: list[Node] = []
    try:
        for node_id, name in _joined(here, address):
            try:
                facts = ask_now(here, "ask", node_id, "facts", (variant, needs, agent))
                nodes.append(Node(node_id, name, facts))
            except UsageError as error:
                raise UsageError(f"node {name}: {error}") from None
            except Broken as error:
                say(f"node {name} is left out: {error}")
        if not nodes:
            raise UsageError(f"--address {address}: no node answers: see `ray status`")
        check_alike(nodes, image.tag(variant))
    except BaseException:
        Cluster(process, here, [], say).drop()
        raise
    return Cluster(process, here, nodes, say)


def check_alike(nodes: list[Node], tag: str) -> None:
    """UsageError for the first node whose version or image is not the driver's."""
    for node in nodes:
        if node.facts.fieldmark != __version__:
            raise UsageError(
                f"node {node.name} has fieldmark {node.facts.fieldmark}, this machine {__version__}: "
                "install the same on both"
            )
        if node.facts.image_tag != tag:
            raise UsageError(
                f"node {node.name} has the sandbox image {node.facts.image_tag}, this machine wants {tag}: "
                "install the same fieldmark there and run `fieldmark sandbox build`"
            )


def shares(rooms: list[int], parallel: int) -> list[int]:
    """Episodes at once for each node, in proportion to its room: one at least, `parallel` or more in all."""
    total = sum(rooms)
    return [max(1, math.ceil(parallel * room / total)) for room in rooms]


def _joined(end: socket.socket, address: str) -> list[tuple[str, str]]:
    try:
        return ask_now(end, "join", address)  # type: ignore[no-any-return]
    except Broken as error:
        raise UsageError(
            f"--address {address}: the cluster cannot be joined ({error}): see `ray status`"
        ) from None


def _start_envoy(end: socket.socket) -> subprocess.Popen[bytes]:
    """In a session of its own: Ctrl-C is the driver's, which tells the nodes to clean up."""
    env = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    number = end.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "fieldmark.cluster.envoy", str(number)], pass_fds=[number],
        env={**env, "RAY_USAGE_STATS_ENABLED": "0"}, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
