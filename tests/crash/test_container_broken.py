"""A container is killed from outside, or its agent uses up what it has: who is to blame, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fieldmark.sandbox.container import LABEL
from tests.crash.scene import Scene, wait_for

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]
AGENT = Path(__file__).with_name("misbehaving.py")


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


@pytest.mark.parametrize(
    ("what", "status", "kind"),
    [
        ("memory", "agent_error", "oom"),
        ("processes", "answered", None),
        ("disk", "answered", None),
        ("its parent process", "agent_error", "crash"),
        ("itself", "agent_error", "crash"),
    ],
)
def test_what_an_agent_does_to_its_own_container_is_its_own(
    scene: Scene, row: Callable[[str, str], None], what: str, status: str, kind: str | None
) -> None:
    """Those beside it are not disturbed. The runner is killed after the first of them."""
    scene.options[1] = str(AGENT)
    scene.tasks(4, (f"Use up: {what}", "Which colour?"))
    process = scene.start()
    wait_for(lambda: scene.finished() >= 1)
    process.kill()
    process.wait()
    scene.keep_in_mind()
    records = {record.id: record for record in scene.end()}
    for id_ in ("t0", "t2"):
        error = records[id_].error
        assert (records[id_].status, error.kind if error else None) == (status, kind)
    row(f"agent uses up: {what}", " ".join(filter(None, ["twice", status, kind])))
    assert {records["t1"].status, records["t3"].status} == {"answered"}
