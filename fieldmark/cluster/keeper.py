"""A node of a run: its containers and its gateway, in a process that knows nothing of Ray.

The node's actor starts it and passes questions on. It has left the actor's process group and parent, which
Ray kills without a word: when the actor is gone, whatever of, it removes its containers and files, and ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import platform
import secrets
import shutil
import signal
import socket
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fieldmark import __version__
from fieldmark.blobs import BlobStore
from fieldmark.cluster.brief import unpack
from fieldmark.cluster.channel import Broken, serve
from fieldmark.cluster.sealing import Box
from fieldmark.cluster.travelling import Brief, Errand, NodeFacts, Played
from fieldmark.episode import RunServices, run_episode
from fieldmark.needs import Needs
from fieldmark.preflight import Plan, at_once
from fieldmark.rundir import RunDir
from fieldmark.sandbox import engine, image, reaper
from fieldmark.sandbox.build_context import Variant
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.sockets import owned_folder
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.sandbox.pool import ContainerPool
from fieldmark.serving import new_backends, new_pool, shut


@dataclass(frozen=True)
class Opened:
    """A node that plays. `folder` holds what its episodes write until they are over."""

    run_id: str
    folder: Path
    plan: Plan
    pool: ContainerPool
    backends: Backends

    async def play(self, errand: Errand) -> Played:
        """One attempt, in a run folder of its own that goes when it is over."""
        place = self.folder / secrets.token_hex(4)
        try:
            return await self._play_in(RunDir(place / self.run_id), errand)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    async def close(self) -> dict[str, Any]:
        """Remove all that this node has of the run; how its models were paced."""
        self.backends.close()
        await shut(self.pool, self.plan)
        shutil.rmtree(self.folder, ignore_errors=True)
        models = {"model": self.plan.upstream, "eyes": self.plan.eyes}
        return {role: each.pace.describe() for role, each in models.items() if isinstance(each, HttpUpstream)}

    async def _play_in(self, folder: RunDir, errand: Errand) -> Played:
        for each in (folder.traces, folder.blobs):
            each.mkdir(parents=True, exist_ok=True)
        for name, data in errand.blobs.items():
            (folder.blobs / name).write_bytes(data)
        skills = [skill for skill in self.plan.skills if skill.name in errand.skills]
        plan = replace(self.plan, tools=errand.tools, skills=skills)
        services = RunServices(folder, plan, self.pool, self.backends, BlobStore(folder.blobs))
        record, outcome = await run_episode(
            services, errand.staged, epoch=errand.epoch, attempt=errand.attempt, earlier=errand.earlier
        )
        trace = folder.pending_trace(record.id, record.epoch, record.attempt).read_bytes()
        made = [path for path in folder.blobs.iterdir() if path.name not in errand.blobs]
        return Played(record, outcome, trace, {path.name: path.read_bytes() for path in made})


class Keeper:
    """Asked in this order: `facts` and `public`, `open`, then `play` at will, `close`."""

    def __init__(self) -> None:
        self._box = Box()
        self._docker: Any = None
        self._image = ""
        self._opened: Opened | None = None

    async def public(self) -> bytes:
        """The key that a brief for this node is sealed with."""
        return self._box.public

    async def facts(self, variant: Variant, needs: Needs, agent: str) -> NodeFacts:
        """What this node is; what a killed run left on it goes. UsageError: no engine, no such runtime, or no
        current image.
        """
        return await asyncio.to_thread(self._look_round, variant, needs, agent)

    async def open(self, sealed: bytes) -> None:
        """Make ready for the episodes of a run. UsageError: a server that this node does not reach."""
        brief: Brief = pickle.loads(self._box.open(sealed))
        os.environ.update(brief.keys)
        folder = owned_folder()
        try:
            plan = await asyncio.to_thread(unpack, brief, self._docker, self._image, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        pool, backends = new_pool(plan, brief.run_id, brief.expected), new_backends(plan)
        self._opened = Opened(brief.run_id, folder, plan, pool, backends)
        pool.warm()
        await backends.warm(1 if brief.tools else 0)

    async def play(self, errand: Errand) -> Played:
        """One attempt at one task."""
        if self._opened is None:
            raise Broken("it is not open")
        return await self._opened.play(errand)

    async def close(self) -> dict[str, Any]:
        """Remove all that this node has of the run; how its models were paced."""
        opened, self._opened = self._opened, None
        return await opened.close() if opened else {}

    def _look_round(self, variant: Variant, needs: Needs, agent: str) -> NodeFacts:
        self._docker = engine.connect()
        reaper.reap(self._docker)
        engine.check_runtime(self._docker, needs.runtime)
        self._image = image.require(self._docker, variant, agent)
        return NodeFacts(
            fieldmark=__version__, python=platform.python_version(),
            image_tag=image.tag(variant), image=self._image, engine=self._docker.version()["Version"],
            runtime=needs.runtime or self._docker.info()["DefaultRuntime"],
            room=at_once(self._docker, needs),
        )  # fmt: skip


async def _keep(end: socket.socket) -> None:
    keeper = Keeper()
    names = ("public", "facts", "open", "play", "close")
    work = asyncio.ensure_future(serve(end, {name: getattr(keeper, name) for name in names}))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    with contextlib.suppress(Exception):  # nobody is left to hear of it; the reaper takes what stays
        await keeper.close()


def main() -> None:
    """The number of the socket is the one argument."""
    if os.fork():  # nobody's child: Ray kills the children of its workers, and this one has to clean up
        os._exit(0)
    asyncio.run(_keep(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
