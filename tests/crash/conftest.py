"""The scene of each row of the crash matrix, and the table that stands at the end of `make test-crash`."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from fieldmark.sandbox import owner
from fieldmark.sandbox.container import LABEL, OWNER_LABEL
from fieldmark.sandbox.reaper import remove
from tests.crash.scene import Scene, one_look_then_answer
from tests.model_server import ModelServer

ROW = "crash row"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(one_look_then_answer) as server:
        yield server


@pytest.fixture
def scene(tmp_path: Path, server: ModelServer, bystanders: None, sandbox_image: str) -> Iterator[Scene]:
    """Beside it stands the socket folder of a run that still lives."""
    scene = Scene(tmp_path, server.url)
    other = scene.sockets / "fm-0000beef"
    other.mkdir()
    (other / "owner").write_text(owner.me())
    scene.ignored.add(other)
    yield scene
    assert (other / "owner").exists()
    shutil.rmtree(scene.sockets)


@pytest.fixture(scope="session")
def bystanders(engine: Any, sandbox_image: str) -> Iterator[None]:
    """Containers and a process of others, which must outlive every row."""
    labels: list[dict[str, str]] = [{}, {LABEL: "another-run", OWNER_LABEL: owner.me()}]
    others = []
    for each in labels:
        container = engine.api.create_container(
            sandbox_image, ["sleep", "36000"], labels=each, network_disabled=True
        )
        others.append(container["Id"])
        engine.api.start(container["Id"])
    process = subprocess.Popen(["sleep", "36000"])
    yield
    alive = process.poll() is None
    process.kill()
    process.wait()
    running = {row["Id"] for row in engine.api.containers()}
    for each in others:
        remove(engine, each)
    assert alive
    assert {*others} <= running


@pytest.fixture
def row(record_property: Callable[[str, object], None]) -> Callable[[str, str], None]:
    """`row(what broke, what was seen)`: a row of the table."""
    began = time.monotonic()

    def write(what: str, seen: str) -> None:
        record_property(ROW, (what, seen, f"{time.monotonic() - began:.0f} s"))

    return write


def pytest_terminal_summary(terminalreporter: Any) -> None:
    table = Table("what broke", "what was seen", "took", "after --resume", title="Crash matrix")
    for outcome, word in (("passed", "all once, nothing left"), ("failed", "FAILED")):
        for report in terminalreporter.stats.get(outcome, []):
            for name, cells in getattr(report, "user_properties", []):
                if name == ROW and report.when == "call":
                    table.add_row(*cells, word)
    if table.row_count:
        Console(width=150).print(table)
