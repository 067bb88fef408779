"""Containers are killed from outside in the middle of their episodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fieldmark.sandbox.container import LABEL
from tests.crash.scene import Scene, wait_for

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]


def test_containers_killed_from_outside(scene: Scene, row: Callable[[str, str], None]) -> None:
    scene.tasks(6)
    process = scene.start()
    killed = 0
    for wanted in (1, 2, 3):
        wait_for(lambda: scene.finished() >= wanted)  # noqa: B023
        for each in scene.engine.api.containers(filters={"label": f"{LABEL}={scene.name}"}):
            try:
                scene.engine.api.kill(each["Id"])
                killed += 1
            except Exception:  # it was just being removed
                continue
    code = process.wait(120)
    scene.keep_in_mind()
    records = scene.end()
    again = sum(record.attempt > 0 for record in records)
    row("containers killed from outside", f"{killed} killed, {again} episodes played again, exit code {code}")
    assert {record.status for record in records} == {"answered"}
