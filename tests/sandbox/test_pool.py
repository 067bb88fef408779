"""The pool with real containers: what it hands out, what it does when they die or do not start."""

from __future__ import annotations

import asyncio
from typing import Any

import docker
import pytest

from fieldmark.errors import SandboxFault
from fieldmark.needs import Needs
from fieldmark.sandbox.container import PYTHON
from fieldmark.sandbox.pool import ContainerPool
from fieldmark.sandbox.reaper import remove
from fieldmark.trace import ErrorInfo
from tests.conftest import ours

WORKER = [PYTHON, "-m", "fieldmark.agents.worker", "closed_book"]
ASK = "import threading, time; from fieldmark.client import GatewayClient as G;"
ASK += "threading.Thread(target=G().get, args=['/episode'], daemon=True).start();"
"""Asks for an episode, so that the container counts as ready."""


@pytest.fixture
def pool_of(engine: Any, sandbox_image: str) -> Any:
    def make(
        command: list[str] = WORKER, *, image: str = sandbox_image, memory: int = 256, expected: int = 4
    ) -> Any:
        needs = Needs(memory_mb=memory, pids=64)
        return ContainerPool(
            engine, image, "test-pool", command, needs=needs, lifetime=60, spare=2, expected=expected
        )

    return make


async def test_each_lease_is_a_fresh_container_and_close_leaves_none(pool_of: Any, engine: Any) -> None:
    before = ours(engine)
    pool = pool_of()
    pool.warm()
    seen = []
    for _ in range(3):
        async with pool.lease() as container:
            seen.append(container.id)
    await pool.close()
    assert len(set(seen)) == 3
    assert ours(engine) <= before


async def test_containers_are_warm_before_they_are_asked_for(pool_of: Any) -> None:
    pool = pool_of()
    pool.warm()
    try:
        async with pool.lease():
            await asyncio.sleep(3)  # the next ones start meanwhile
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with pool.lease():
            assert loop.time() - asked < 0.2
    finally:
        await pool.close()


async def test_many_waiters_each_get_the_fault_when_nothing_starts(pool_of: Any) -> None:
    pool = pool_of(image="fieldmark-sandbox:never-built")

    async def ask() -> SandboxFault:
        with pytest.raises(SandboxFault) as fault:
            async with pool.lease():
                pass
        return fault.value

    try:
        faults = await asyncio.wait_for(asyncio.gather(*(ask() for _ in range(5))), 30)
    finally:
        await pool.close()
    assert any(fault.stops_run for fault in faults)
    assert "fieldmark sandbox check" in str(faults[0])


async def test_a_worker_that_ends_before_its_first_episode_is_a_fault(pool_of: Any) -> None:
    pool = pool_of([PYTHON, "-c", "raise SystemExit(3)"])
    try:
        with pytest.raises(SandboxFault, match="code 3"):
            async with pool.lease():
                pass
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("time.sleep(1); b = bytearray(); [b.extend(bytes(2**24)) for _ in range(64)]", "oom"),
        ("time.sleep(1); import os; os._exit(7)", "crash"),
    ],
)
async def test_how_an_agent_died_by_its_own_doing(pool_of: Any, code: str, kind: str) -> None:
    pool = pool_of([PYTHON, "-c", ASK + code], memory=128, expected=1)
    try:
        async with pool.lease() as container:
            death = await asyncio.wait_for(container.died, 30)
    finally:
        await pool.close()
    cause = death.cause()
    assert isinstance(cause, ErrorInfo)
    assert (cause.boundary, cause.kind) == ("agent", kind)


async def test_a_container_killed_from_outside_is_not_the_agents_fault(pool_of: Any, engine: Any) -> None:
    pool = pool_of()
    try:
        async with pool.lease() as container:
            await asyncio.to_thread(engine.api.kill, container.id)
            death = await asyncio.wait_for(container.died, 30)
    finally:
        await pool.close()
    fault = death.cause()
    assert isinstance(fault, SandboxFault)
    assert fault.kind == "killed"


@pytest.mark.parametrize("code", ["os.kill(os.getppid(), 9)", "os.kill(os.getpid(), 9)", "os.kill(-1, 9)"])
async def test_an_agent_that_kills_its_own_container_cannot_pass_for_killed_from_outside(
    pool_of: Any, code: str
) -> None:
    pool = pool_of([PYTHON, "-c", ASK + "import os; time.sleep(1);" + code], expected=1)
    try:
        async with pool.lease() as container:
            death = await asyncio.wait_for(container.died, 30)
    finally:
        await pool.close()
    cause = death.cause()
    assert isinstance(cause, ErrorInfo)
    assert cause.boundary == "agent"


async def test_deaths_are_noticed_again_after_the_event_stream_broke(pool_of: Any) -> None:
    """As when the engine restarts with live-restore on."""
    pool = pool_of([PYTHON, "-c", ASK + "time.sleep(3); raise SystemExit(7)"], expected=1)
    try:
        async with pool.lease() as container:
            pool._deaths._stream.close()
            death = await asyncio.wait_for(container.died, 15)
    finally:
        await pool.close()
    assert death.exit_code == 7


async def test_a_socket_folder_that_is_gone_is_a_fault_and_no_endless_wait(pool_of: Any) -> None:
    """The same for no descriptors or no space left there."""
    import shutil

    pool = pool_of()
    shutil.rmtree(pool._sockets.folder)
    try:
        with pytest.raises(SandboxFault, match="could not be started"):
            async with asyncio.timeout(10), pool.lease():
                pass
    finally:
        await pool.close()


async def test_an_engine_that_is_away_is_waited_for(
    pool_of: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while it is restarted; one that stays away stops the run, and nobody spins or hears a traceback."""
    before = ours(engine)
    nowhere = docker.DockerClient("unix:///nowhere.sock", version="1.41")
    pool = pool_of(expected=1)
    pool._client = nowhere
    waiting = asyncio.create_task(pool.lease().__aenter__())
    await asyncio.sleep(1.5)
    assert pool._sockets._made <= 2  # it waits, it does not try again and again
    pool._client = engine
    container = await asyncio.wait_for(waiting, 60)
    pool._client = nowhere
    pool._discard(container)  # an engine that comes back too late: the reaper's, or this test's
    monkeypatch.setattr("fieldmark.sandbox.pool.AWAY_SECONDS", 1.0)
    with pytest.raises(SandboxFault, match="does not answer") as fault:
        async with asyncio.timeout(30), pool.lease():
            pass
    pool._client = engine
    await pool.close()
    remove(engine, container.id)
    assert fault.value.stops_run
    assert ours(engine) <= before
