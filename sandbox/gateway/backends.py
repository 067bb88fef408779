"""The host's services behind the gateway's routes, run in a few limited worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway import imaging
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.decoded import Decoded
from fieldmark.trace import Box, Contrast

if TYPE_CHECKING:
    from fieldmark.tools.pictures.images import Cut

PROCESSES = 2
THREADS = 2
TIMEOUT = 20.0
"""Seconds one look-up may take before its worker process is replaced."""
START_TIMEOUT = 600.0
"""Seconds that reading an index and a registry may take."""


class Backends:
    """`index`: a folder of labelled pictures. `registry`: an aircraft registry. Either may be absent.
    `classifier`: whether pictures are going to be classified. `room`: bytes and pixels that a picture for a
    model may have; None: any.
    """

    def __init__(
        self, index: Path | None = None, registry: Path | None = None, *, classifier: bool = False,
        room: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self._room = room
        self._index = str(index) if index else None
        self._registry = str(registry) if registry else None
        self._classifier = classifier
        # a process of its own for each slot: what one look-up breaks is no other's
        self._pools = [new_pool() for _ in range(PROCESSES)]
        # the last that was freed is the next to be used: a second process starts only beside a busy one
        self._free: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for slot in range(PROCESSES):
            self._free.put_nowait(slot)
        self._cold = set(range(PROCESSES))
        # not the loop's own threads, which wait for the engine and for judges
        self.threads = ThreadPoolExecutor(THREADS, "fieldmark-store")
        self._jobs: set[asyncio.Task[Any]] = set()
        self._decoded = Decoded()

    async def warm(self, processes: int = PROCESSES) -> None:
        """Start worker processes before an episode needs them; the others start when they are needed."""
        wanted = min(processes, PROCESSES)
        await asyncio.gather(*(self._run(Clock(), imaging.nothing) for _ in range(wanted)))

    async def cut(
        self,
        clock: Clock,
        path: str,
        box: Box | None,
        scale: float,
        media_type: str,
        rotate: float = 0.0,
        contrast: Contrast = "none",
        shown: bool = False,
    ) -> Cut:
        """A cut of a picture of the host; ToolError when the box cannot be cut. `shown`: a model will see it,
        so that it must fit into the room.
        """
        job = (path, box, scale, media_type, rotate, contrast)
        if shown and self._room:
            return await self._run(clock, imaging.shown_cut, self._room, *job, picture=path)  # type: ignore[no-any-return]
        return await self._run(clock, imaging.cut, *job, picture=path)  # type: ignore[no-any-return]

    async def reverse_image(self, clock: Clock, path: str, box: Box | None, limit: int) -> dict[str, Any]:
        job = (imaging.search, self._index, path, box, limit)
        return await self._run(clock, *job, picture=path)  # type: ignore[no-any-return]

    async def small_jpeg(self, clock: Clock, path: str, box: Box | None) -> bytes:
        """A picture of the host, or a box of it, as it may be sent to a search engine."""
        return await self._run(clock, imaging.small_jpeg, path, box)  # type: ignore[no-any-return]

    async def same_picture(
        self, clock: Clock, path: str, box: Box | None, others: list[bytes]
    ) -> list[bool | None]:
        """Which of these files are the picture at `path`, or that box of it."""
        return await self._run(clock, imaging.same_picture, path, box, others)  # type: ignore[no-any-return]

    async def same_view(self, clock: Clock, view: bytes, other: bytes) -> bool:
        """Whether a file that a model was sent is the view, written anew or made smaller."""
        return await self._run(clock, imaging.same_view, view, other)  # type: ignore[no-any-return]

    async def aircraft(self, clock: Clock, query: str) -> dict[str, Any]:
        return await self._run(clock, imaging.aircraft, self._registry, query)  # type: ignore[no-any-return]

    async def classify(self, clock: Clock, path: str, box: Box | None, limit: int) -> dict[str, Any]:
        job = (imaging.classify, path, box, limit)
        return await self._run(clock, *job, picture=path)  # type: ignore[no-any-return]

    async def look(self, clock: Clock, path: str) -> bytes:
        """The global look of a picture of the host, as float32; ToolError when it breaks its worker."""
        return await self._run(clock, imaging.look, path, picture=path)  # type: ignore[no-any-return]

    async def found_picture(self, clock: Clock, reference: str) -> bytes:
        return await self._run(clock, imaging.found_picture, self._index, reference)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the worker processes at once."""
        for pool in self._pools:
            kill_pool(pool)
        self._decoded.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    async def _run(
        self,
        clock: Clock,
        job: Callable[..., Any],
        *args: Any,
        timeout: float = TIMEOUT,
        picture: str | None = None,
    ) -> Any:
        """One job in a free process. Whoever asked may be cancelled; the slot is busy until the job ends.

        A job on a `picture` is given, as its last argument, the place where its pixels are kept.
        """
        with clock.waiting():
            slot = await self._free.get()
        work = asyncio.create_task(self._in_slot(slot, clock, timeout, picture, job, *args))
        self._jobs.add(work)
        work.add_done_callback(self._ended)
        return await asyncio.shield(work)

    async def _in_slot(
        self,
        slot: int,
        clock: Clock,
        timeout: float,
        picture: str | None,
        job: Callable[..., Any],
        *args: Any,
    ) -> Any:
        try:
            if slot in self._cold:
                with clock.waiting():
                    await self._start(slot)
            with ExitStack() as used:
                if picture:
                    args = (*args, used.enter_context(self._decoded.place(picture)))
                return await self._work(slot, timeout, job, *args)
        except (BrokenProcessPool, MemoryError):
            self._replace(slot)
            raise ToolError("the look-up needed too much memory and was stopped", "runtime") from None
        finally:
            self._free.put_nowait(slot)

    async def _start(self, slot: int) -> None:
        """Start the process of a slot, and load what look-ups need."""
        needed = (self._index, self._registry, self._classifier)
        await self._work(slot, START_TIMEOUT, imaging.warm, *needed)
        self._cold.discard(slot)

    async def _work(self, slot: int, timeout: float, job: Callable[..., Any], *args: Any) -> Any:
        future = asyncio.get_running_loop().run_in_executor(self._pools[slot], job, *args)
        try:
            return await asyncio.wait_for(future, timeout)
        except TimeoutError:
            self._replace(slot)
            raise ToolError(f"the look-up took over {timeout:g} s and was stopped", "timeout") from None

    def _ended(self, work: asyncio.Task[Any]) -> None:
        self._jobs.discard(work)
        if not work.cancelled():
            work.exception()  # nobody may be left to hear of it

    def _replace(self, slot: int) -> None:
        kill_pool(self._pools[slot])
        self._pools[slot] = new_pool()
        self._cold.add(slot)


def new_pool() -> ProcessPoolExecutor:
    """One worker process under limits, started when it gets its first job."""
    # spawn: a fork of a process with threads (docker SDK, executor) can deadlock
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=imaging.start)


def kill_pool(pool: ProcessPoolExecutor) -> None:
    """End a worker process at once, whatever it does."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
