"""A run folder made of one episode that was really recorded, and the model that replays it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.sandbox.gateway.replay.upstream import ReplayUpstream
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.task import Limits
from tests.model_server import ModelServer, Reply
from tests.sandbox.gateway.conftest import Inside, entered

Talk = Callable[[Inside], Awaitable[Any]]
Record = Callable[..., Awaitable[Recording]]
Replayed = Callable[..., Any]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """`await record(replies, talk)`: the episode "t" of a run, in which `talk` used a scripted model."""

    async def made(replies: Sequence[Reply], talk: Talk, limits: Limits | None = None) -> Recording:
        run = RunDir.create(tmp_path / "recorded")
        model: dict[str, Any] = {"name": "scripted", "sees": True, "force": {"temperature": 0}}
        run.write_config({"id": "recorded", "model": model, "eyes": {"name": "seer"}})
        with ModelServer(replies) as server:
            upstream = HttpUpstream("scripted", server.url, force=model["force"], back_off=wait_none())
            eyes = HttpUpstream("seer", server.url)
            async with entered(run.path, upstream, limits, eyes=eyes) as inside:
                await talk(inside)
            await eyes.close()
        pending = run.pending_trace("t", 0, 0)
        inside.trace.rename(pending)
        episode = EpisodeRecord(
            id="t", status="answered", agent="a", model="scripted", seconds=1, charged_seconds=1,
            started="2026-11-30T10:00:00Z", trace="t.jsonl",
        )  # fmt: skip
        run.commit(episode, pending)
        return Recording.open(run.path)

    return made


@pytest.fixture
def replayed(tmp_path: Path) -> Replayed:
    """`async with replayed(recording, strict=True) as inside:` the same episode with its model replayed."""

    @asynccontextmanager
    async def inside(
        recording: Recording, *, strict: bool = False, task: str = "t", limits: Limits | None = None
    ) -> AsyncIterator[Inside]:
        upstream, eyes = (
            ReplayUpstream(recording, role, strict=strict).for_episode(task, 0) for role in ("agent", "eyes")
        )
        (tmp_path / "replayed").mkdir(exist_ok=True)
        async with entered(tmp_path / "replayed", upstream, limits, eyes=eyes) as made:
            yield made

    return inside
