"""A real door with a real session behind it, reached through its unix socket as a container would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.blobs import BlobStore
from fieldmark.client import GatewayClient
from fieldmark.prices import Costs
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.builtin import ScoutUpstream
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.sandbox.gateway.door import Door
from fieldmark.sandbox.gateway.game import Game, Table
from fieldmark.sandbox.gateway.memory import Memory
from fieldmark.sandbox.gateway.search.door import SearchDoor
from fieldmark.sandbox.gateway.session import Outcome, Pictures, Session
from fieldmark.sandbox.gateway.sockets import Sockets
from fieldmark.sandbox.gateway.states import NativeState
from fieldmark.sandbox.gateway.tracer import Tracer
from fieldmark.sandbox.gateway.upstream import Upstream
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.staging import stage
from fieldmark.task import Gold, Limits, Prompt, Task


@dataclass
class Inside:
    """What a worker inside would hold (`client`), and what the host sees (`session`, `events`)."""

    client: GatewayClient
    session: Session
    trace: Path
    blobs: BlobStore
    door: Door
    neighbour: Callable[[], Awaitable[GatewayClient]]

    async def ask(self, method: str, route: str, body: Any = None, **options: Any) -> Any:
        """One call of the blocking client, off the event loop."""
        return await asyncio.to_thread(self.client.call, method, route, body, **options)

    async def post(self, route: str, body: Any) -> Any:
        return await asyncio.to_thread(self.client.post, route, body)

    async def end(self) -> Outcome:
        outcome = await asyncio.wait_for(self.session.ended, 30)
        await self.session.close(outcome)
        return outcome

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in self.trace.read_text().splitlines()]
        return [row for row in rows if kind in (None, row["kind"])]

    async def written(self, kind: str, within: float = 10.0) -> list[dict[str, Any]]:
        """The same, once there is one: a client has a stream whole before the trace tells of it."""
        async with asyncio.timeout(within):
            while not (found := self.events(kind)):
                await asyncio.sleep(0.01)
        return found


Enter = Callable[..., Any]


def _gradient(path: Path) -> Path:
    Image.radial_gradient("L").resize((320, 200)).convert("RGB").save(path)
    return path


@asynccontextmanager
async def entered(
    folder: Path, upstream: Upstream | None = None, limits: Limits | None = None, web: WebDoor | None = None,
    search: SearchDoor | None = None, language: str = "en", picture: Path | None = None,
    eyes: Upstream | None = None, index: Path | None = None, costs: Costs | None = None,
    memory: Memory | None = None, state: NativeState | None = None, game: Game | None = None,
) -> AsyncIterator[Inside]:  # fmt: skip
    """A session that has begun; its trace and blobs lie in `folder`."""
    blobs = BlobStore(folder / "blobs")
    blobs.folder.mkdir(exist_ok=True)
    picture = picture or _gradient(folder / "task.png")
    task = Task(id="t", question="What is this?", image=picture, gold=Gold(answer="a gradient"))
    staged = stage(task, 2048, blobs)
    prompt = Prompt(
        token="0", question=task.question, image=staged.image, view=staged.view, model="scripted",
        limits=limits or Limits(), language=language,
    )  # fmt: skip
    backends = Backends(index)
    sockets = Sockets()
    opened: list[tuple[Session, Door]] = []

    async def begin(trace: Path) -> tuple[Session, Door]:
        clock = Clock()
        session = Session(
            prompt, Pictures(str(blobs.path(staged.image.blob)), blobs.get(staged.view.blob)),
            tracer=Tracer(trace, clock), clock=clock, blobs=blobs,
            upstream=upstream or ScoutUpstream(), backends=backends, web=web, search=search,
            eyes=eyes, costs=costs, memory=memory, state=state, table=Table(game) if game else None,
        )  # fmt: skip
        door = await sockets.open_door()
        session.begin()
        door.admit(session)
        opened.append((session, door))
        return session, door

    async def neighbour() -> GatewayClient:
        _, door = await begin(folder / "neighbour.jsonl")
        return GatewayClient(str(door.folder / "gateway.sock"))

    trace = folder / "trace.jsonl"
    session, door = await begin(trace)
    try:
        client = GatewayClient(str(door.folder / "gateway.sock"))
        yield Inside(client, session, trace, blobs, door, neighbour)
    finally:
        for session, door in opened:
            session.abandon()
            await door.close()
        await session.upstream.close()
        sockets.close()
        backends.close()


@pytest.fixture
def enter(tmp_path: Path) -> Enter:
    """`async with enter(upstream, limits=…) as inside:` a session that has begun."""
    return partial(entered, tmp_path)
