"""What a run stands on breaks under it: its disk, its sockets."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.scene import Scene, wait_for

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]
Row = Callable[[str, str], None]


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
