"""The Docker engine dies under a run, and comes back: an engine of the test's own, never the machine's."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Any

import pytest

from fieldmark.sandbox import image
from tests.crash.own_engine import OwnEngine
from tests.crash.scene import Scene, wait_for
from tests.model_server import ModelServer

pytestmark = [pytest.mark.crash, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def own_engine(engine: Any, sandbox_image: str) -> Iterator[OwnEngine]:
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("only root can start a second engine")
    folder = Path(tempfile.mkdtemp(prefix="fmd", dir="/tmp"))
    own = OwnEngine(folder)
    try:
        own.start()
        own.copy_image(engine, image.tag())
        yield own
    finally:
        own.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("number", [SIGKILL, SIGTERM])
@pytest.mark.parametrize("away", [3.0, 100.0])
def test_the_engine_is_restarted(
    own_engine: OwnEngine, server: ModelServer, tmp_path: Path, bystanders: None,
    row: Callable[[str, str], None], number: Signals, away: float,
) -> None:  # fmt: skip
    scene = Scene(tmp_path, server.url, host=own_engine.host)
    scene.tasks(6)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 2)
    own_engine.stop(number)
    time.sleep(away)
    scene.keep_in_mind()
    own_engine.start()
    code = process.wait(200)
    finished = scene.finished()
    records = scene.end()
    again = sum(record.attempt > 0 for record in records)
    row(
        f"engine ended by {number.name}, back after {away:g} s",
        f"exit code {code}, {finished} of 6 finished by then, {again} played again",
    )
    assert {record.status for record in records} == {"answered"}
    shutil.rmtree(scene.sockets)
