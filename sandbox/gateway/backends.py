"""The host's services behind the gateway's routes, run in a few limited worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fieldmark.errors import ToolError
from fieldmark.sandbox.gateway import imaging
from fieldmark.trace import Box

PROCESSES = 2
TIMEOUT = 20.0
"""Seconds one look-up may take before its worker process is replaced."""


class Backends:
    """`index`: a folder of labelled pictures. `registry`: an aircraft registry. Either may be absent."""

    def __init__(self, index: Path | None = None, registry: Path | None = None) -> None:
        self._index = str(index) if index else None
        self._registry = str(registry) if registry else None
        self._pool = _new_pool()

    async def warm(self) -> None:
        """Start the worker processes and load the index before the first episode needs them."""
        await asyncio.gather(
            *(self._run(imaging.warm, self._index, self._registry, timeout=600) for _ in range(PROCESSES))
        )

    async def cut(
        self, path: str, box: Box | None, scale: float, media_type: str
    ) -> tuple[bytes, Box, tuple[int, int]]:
        """A cut of a picture of the host; ToolError when the box cannot be cut."""
        return await self._run(imaging.cut, path, box, scale, media_type)  # type: ignore[no-any-return]

    async def reverse_image(self, path: str, box: Box | None, limit: int) -> dict[str, Any]:
        return await self._run(imaging.search, self._index, path, box, limit)  # type: ignore[no-any-return]

    async def aircraft(self, query: str) -> dict[str, Any]:
        return await self._run(imaging.aircraft, self._registry, query)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the worker processes at once."""
        _kill(self._pool)

    async def _run(self, job: Callable[..., Any], *args: Any, timeout: float = TIMEOUT) -> Any:
        pool = self._pool
        future = asyncio.get_running_loop().run_in_executor(pool, job, *args)
        try:
            return await asyncio.wait_for(future, timeout)
        except TimeoutError:
            self._replace(pool)
            raise ToolError(f"the look-up took over {timeout:g} s and was stopped", "timeout") from None
        except (BrokenProcessPool, MemoryError):
            self._replace(pool)
            raise ToolError("the look-up needed too much memory and was stopped", "runtime") from None

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        if self._pool is broken:
            self._pool = _new_pool()
            _kill(broken)


def _new_pool() -> ProcessPoolExecutor:
    # spawn: a fork of a process with threads (docker SDK, executor) can deadlock
    return ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"), initializer=imaging.start)


def _kill(pool: ProcessPoolExecutor) -> None:
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
