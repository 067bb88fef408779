"""What a run stands on breaks under it: its disk, its sockets, the model's server, the clock."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldmark.rundir import RunDir
from tests.crash.scene import Scene, one_look_then_answer, wait_for
from tests.model_server import ModelServer

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]
Row = Callable[[str, str], None]
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
DOWN_SECONDS = 60.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_the_disk_of_the_run_folder_is_full(scene: Scene, row: Row, small_disk: Path) -> None:
    scene.tasks(6)
    scene.out = small_disk / scene.name
    process = scene.start("--min-free-mb", "0")
    wait_for(lambda: scene.finished() >= 2)
    filler = small_disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass
    code = process.wait(60)
    scene.keep_in_mind()
    row("disk of the run folder full", f"exit code {code}, {scene.finished()} of 6 finished")
    assert code == 1
    assert "No space left" in scene.told()
    filler.unlink()
    assert {record.status for record in scene.end()} == {"answered"}


def test_the_gateway_s_sockets_are_removed(scene: Scene, row: Row) -> None:
    """Twice, under containers that play and under those that wait."""
    scene.tasks(6)
    process = scene.start()
    removed = 0
    for wanted in (1, 2):
        wait_for(lambda: scene.finished() >= wanted)  # noqa: B023
        for path in scene.sockets.glob("fm-*/*/gateway.sock"):
            path.unlink(missing_ok=True)
            removed += 1
    code = process.wait(240)
    scene.keep_in_mind()
    records = scene.end()
    again = sum(record.attempt > 0 for record in records)
    row("gateway sockets removed", f"{removed} removed, {again} episodes played again, exit code {code}")
    assert {record.status for record in records} == {"answered"}


def test_the_model_s_server_is_down_for_a_minute(scene: Scene, row: Row, server: ModelServer) -> None:
    scene.tasks(6)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 1)
    server.__exit__()
    time.sleep(DOWN_SECONDS)
    scene.keep_in_mind()
    back = ModelServer(one_look_then_answer)
    back.port = server.port
    with back:
        code = process.wait(200)
        then = Counter(record.status for record in RunDir(scene.out).episodes())
        records = scene.end()
    row(f"model's server down for {DOWN_SECONDS:g} s", f"exit code {code}; {dict(then)} by then")
    assert code == 1
    assert {*then} <= {"answered", "sandbox_error"}
    assert {record.status for record in records} == {"answered"}


@pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (apt install libfaketime)")
@pytest.mark.parametrize("jump", ["+3h", "-3h"])
def test_the_clock_jumps(scene: Scene, row: Row, jump: str) -> None:
    scene.tasks(6)
    stamp = scene.folder / "faketime"
    stamp.write_text("+0")
    scene.env |= {
        "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(stamp), "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    process = scene.start()
    wait_for(lambda: scene.finished() >= 2)
    stamp.write_text(jump)
    code = process.wait(120)
    scene.keep_in_mind()
    records = scene.end()
    longest = max(record.charged_seconds for record in records)
    row(f"clock jumps by {jump}", f"exit code {code}, longest episode {longest:.1f} s on the charged clock")
    assert code == 0
    assert {record.status for record in records} == {"answered"}
    assert 0 < longest < 120
