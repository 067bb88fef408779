"""Fixtures: a scripted gateway, and the real worker run against it as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldmark.task import Prompt
from tests.agents.scripted_gateway import Reply, ScriptedGateway, make_prompt

OpenGateway = Callable[..., ScriptedGateway]
StartWorker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def open_gateway() -> Iterator[OpenGateway]:
    """`open_gateway(*replies, prompt=None)`."""
    opened: list[ScriptedGateway] = []

    def open_one(*replies: Reply, prompt: Prompt | None = None) -> ScriptedGateway:
        opened.append(ScriptedGateway(prompt or make_prompt(), list(replies)))
        return opened[-1]

    yield open_one
    for gateway in opened:
        gateway.close()


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    """`start_worker(gateway, agent)`: the process; its workspace is `tmp_path`."""
    started: list[subprocess.Popen[str]] = []

    def start(gateway: ScriptedGateway, agent: str, *, code: str | None = None) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "FIELDMARK_SOCKET": gateway.path,
            "FIELDMARK_WORKSPACE": str(tmp_path),
            "FIELDMARK_RELAY_PORT": "0",
        }
        command = ["-c", code] if code else ["-m", "fieldmark.agents.worker", agent]
        process = subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
