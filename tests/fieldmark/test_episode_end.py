"""Who is to blame when a container ends in the middle of an episode."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fieldmark.episode import _until_end
from fieldmark.errors import GatewayFault
from fieldmark.sandbox.engine_events import Death
from fieldmark.sandbox.gateway.door import SOCKET, Door


class Told:
    """A session that is only told how it ended."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.how: Any = None

    def fail(self, fault: Any) -> None:
        self.how = fault

    finish = fail


@pytest.mark.parametrize("removed", [False, True])
async def test_a_worker_that_ends_quietly_is_the_agents_crash_unless_its_socket_was_removed(
    tmp_path: Path, removed: bool
) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / SOCKET))
        if removed:
            (tmp_path / SOCKET).unlink()
        session = Told()
        died: asyncio.Future[Death] = asyncio.get_running_loop().create_future()
        died.set_result(Death(exit_code=0))
        await _until_end(session, SimpleNamespace(door=Door(tmp_path), died=died))  # type: ignore[arg-type]
    assert isinstance(session.how, GatewayFault) is removed
    assert session.how.kind == ("socket" if removed else "crash")
