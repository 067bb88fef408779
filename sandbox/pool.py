"""Containers that were started before they were needed; each serves one episode and is destroyed."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fieldmark.errors import SandboxFault
from fieldmark.needs import Needs
from fieldmark.sandbox import container as spec
from fieldmark.sandbox.engine import is_away
from fieldmark.sandbox.engine_events import Death, DeathWatch
from fieldmark.sandbox.gateway.door import Door
from fieldmark.sandbox.gateway.sockets import Sockets
from fieldmark.sandbox.reaper import remove

T = TypeVar("T")
START_SECONDS = 60.0
STARTS_AT_ONCE = 2
GIVE_UP_AFTER = 3
"""So many containers in a row that do not start stop the run: the next would not start either."""
AWAY_SECONDS = 60.0
"""How long an engine that does not answer is waited for: one that is restarted takes some seconds."""


@dataclass
class Container:
    """One warm container: its worker has imported its agent and waits at its door."""

    id: str
    door: Door
    died: asyncio.Future[Death]
    born: float = field(default_factory=time.monotonic)


class ContainerPool:
    """Keeps up to `spare` containers warm while episodes are still expected.

    `command` is the worker's; `lifetime` its last resort in seconds beside the idle time; `mounts` are files
    of this machine that it may read, and where.
    """

    def __init__(
        self, client: Any, image: str, run_id: str, command: list[str], *,
        needs: Needs, lifetime: float, spare: int, expected: int,
        mounts: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._client = client
        self._image = image
        self._run_id = run_id
        self._command = command
        self._needs = needs
        self._mounts = mounts or {}
        self._lifetime = spec.IDLE_SECONDS + lifetime
        self._spare = spare
        self._expected = expected
        self._closing = False
        self._ready: asyncio.Queue[Container | SandboxFault] = asyncio.Queue()
        self._starting: set[asyncio.Task[None]] = set()
        self._removing: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(STARTS_AT_ONCE)
        self._failed_in_a_row = 0
        self._waiting = 0
        self._by_id: dict[str, Container] = {}
        self._deaths = DeathWatch(client, run_id, self._on_death)
        self._sockets = Sockets()

    def warm(self) -> None:
        """Start containers in the background."""
        self._refill()

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[Container]:
        """A fresh container; destroyed on leaving. SandboxFault when none can be started."""
        container = await self._take()
        try:
            yield container
        finally:
            self._discard(container)

    async def close(self) -> None:
        """Destroy everything; returns when the engine has none of this run's containers left."""
        self._closing = True
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for container in list(self._by_id.values()):
            self._discard(container)
        await asyncio.gather(*self._removing, return_exceptions=True)
        self._deaths.close()
        self._sockets.close()

    async def _take(self) -> Container:
        while True:
            self._waiting += 1
            self._refill()
            try:
                found = await self._ready.get()
            finally:
                self._waiting -= 1
            if isinstance(found, SandboxFault):
                raise found
            if found.died.done() or time.monotonic() - found.born > spec.IDLE_SECONDS:
                self._discard(found)
                continue
            self._expected -= 1
            self._refill()
            return found

    def _refill(self) -> None:
        """Start as many as are waited for, and spare ones while starting works."""
        if self._closing:
            return
        spare = 0 if self._failed_in_a_row else min(self._spare, self._expected)
        for _ in range(max(self._waiting, spare) - self._ready.qsize() - len(self._starting)):
            task = asyncio.create_task(self._start())
            self._starting.add(task)
            task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled():
            self._refill()

    async def _start(self) -> None:
        async with self._slots:
            door: Door | None = None
            name = f"fieldmark-{secrets.token_hex(6)}"
            try:
                door = await self._sockets.open_door()
                container = await self._create(door, name)
            except BaseException as error:
                if door:
                    await door.close()
                self._in_background(self._remove(name))
                if not isinstance(error, Exception):
                    raise
                if not is_away(error):
                    why = f"a container could not be started: {_one_line(error)}"
                    self._ready.put_nowait(self._fault(why))
                elif not await self._engine_answers():  # when it does, whoever waits gets another
                    self._ready.put_nowait(self._fault("the Docker engine does not answer", stops_run=True))
                return
            if await self._is_ready(container):
                self._failed_in_a_row = 0
                self._ready.put_nowait(container)
            else:
                self._ready.put_nowait(self._fault(self._why_not_ready(container)))
                self._discard(container)

    async def _create(self, door: Door, name: str) -> Container:
        """Create and start; a cancel in between still waits for the engine, so that no container is lost."""
        api = self._client.api
        host = api.create_host_config(**spec.host_options(door.folder, self._needs, self._mounts))
        options = spec.create_options(self._image, self._command, self._run_id, self._lifetime)
        made = await undisturbed(
            asyncio.to_thread(api.create_container, host_config=host, name=name, **options)
        )
        container = Container(made["Id"], door, asyncio.get_running_loop().create_future())
        self._by_id[container.id] = container
        await undisturbed(asyncio.to_thread(api.start, container.id))
        return container

    async def _is_ready(self, container: Container) -> bool:
        ready: asyncio.Future[Any] = asyncio.ensure_future(container.door.ready.wait())
        either: set[asyncio.Future[Any]] = {ready, container.died}
        await asyncio.wait(either, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        return container.door.ready.is_set()

    def _why_not_ready(self, container: Container) -> str:
        if container.died.done():
            return f"the worker ended with code {container.died.result().exit_code} before its first episode"
        return f"the worker did not come up within {START_SECONDS:g} s"

    def _fault(self, message: str, *, stops_run: bool = False) -> SandboxFault:
        self._failed_in_a_row += 1
        advice = "; `fieldmark sandbox check` tells more"
        stops = stops_run or self._failed_in_a_row >= GIVE_UP_AFTER
        return SandboxFault(message + advice, kind="start", stops_run=stops)

    def _discard(self, container: Container) -> None:
        self._by_id.pop(container.id, None)
        self._in_background(self._destroy(container))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._removing.add(task)
        task.add_done_callback(self._removing.discard)

    async def _destroy(self, container: Container) -> None:
        try:
            await container.door.close()
        finally:
            await self._remove(container.id)

    async def _remove(self, container_id: str) -> None:
        """Remove a container, by id or name, now or when the engine answers again; else the reaper will."""
        try:
            await asyncio.to_thread(remove, self._client, container_id)
        except Exception as error:
            if is_away(error) and await self._engine_answers():
                with contextlib.suppress(Exception):
                    await asyncio.to_thread(remove, self._client, container_id)

    async def _engine_answers(self) -> bool:
        """Wait for an engine that is away; False when it stays away."""
        deadline = time.monotonic() + AWAY_SECONDS
        while time.monotonic() < deadline:
            await asyncio.sleep(1)
            with contextlib.suppress(Exception):
                await asyncio.to_thread(self._client.ping)
                return True
        return False

    def _on_death(self, container_id: str, death: Death) -> None:
        container = self._by_id.get(container_id)
        if container and not container.died.done():
            container.died.set_result(death)


async def undisturbed(work: Coroutine[Any, Any, T]) -> T:
    """Await something that must not be abandoned half-way: a cancel counts only when it is done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()


def _one_line(error: Exception) -> str:
    text = getattr(error, "explanation", None) or str(error)
    return " ".join(str(text).split())[:300]
