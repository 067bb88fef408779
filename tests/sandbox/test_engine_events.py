"""Why a container was killed: told by the engine before or after it tells of the death."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fieldmark.errors import EpisodeFault
from fieldmark.sandbox import engine_events
from fieldmark.sandbox.engine_events import Death, DeathWatch

KILLED = {"status": "die", "id": "c", "Actor": {"Attributes": {"exitCode": "137"}}}
OOM: dict[str, Any] = {"status": "oom", "id": "c"}
KILL: dict[str, Any] = {"status": "kill", "id": "c"}


async def death_of(*events: dict[str, Any]) -> Death:
    """What is told of a container by an engine that says these, a moment apart."""

    def said() -> Iterator[dict[str, Any]]:
        for event in events:
            yield event
            time.sleep(0.05)

    told: asyncio.Future[Death] = asyncio.get_running_loop().create_future()
    engine = SimpleNamespace(api=SimpleNamespace(events=lambda **_: said()))
    watch = DeathWatch(engine, "run", lambda _, death: told.set_result(death))
    try:
        return await asyncio.wait_for(told, 5)
    finally:
        watch._closing.set()


@pytest.mark.parametrize("events", [(OOM, KILLED), (KILLED, OOM)])
async def test_out_of_memory_is_the_agents_in_either_order(
    events: tuple[dict[str, Any], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = iter(range(100))  # the host counts those in containers too
    monkeypatch.setattr(engine_events, "_host_kills", lambda: next(kills))
    cause = (await death_of(*events)).cause()
    assert not isinstance(cause, EpisodeFault)
    assert cause.kind == "oom"


async def test_another_container_out_of_memory_does_not_take_the_blame_from_one_that_kills_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kills = iter([0, 1, 1, 1])
    monkeypatch.setattr(engine_events, "_host_kills", lambda: next(kills))
    cause = (await death_of({**OOM, "id": "other"}, KILLED)).cause()
    assert not isinstance(cause, EpisodeFault)
    assert cause.kind == "crash"


@pytest.mark.parametrize("events", [(KILL, KILLED), (KILLED, KILL)])
async def test_a_kill_through_the_engine_is_ours_in_either_order(events: tuple[dict[str, Any], ...]) -> None:
    assert isinstance((await death_of(*events)).cause(), EpisodeFault)
