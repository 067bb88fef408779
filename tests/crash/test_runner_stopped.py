"""The runner is killed or stopped at any moment, again and again; the run ends as if it had not been."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable

import pytest

from tests.crash.scene import Scene, wait_for

pytestmark = pytest.mark.timeout(600)
KILLS = 5
TASKS = 6
LATEST = 1.5
"""Seconds to a kill, at most, from the start of the process or from the first episode that it finishes."""
IN_THE_MIDDLE = 0.6
"""The share of kills that wait for an episode; the others find the run starting."""


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.crash) for n in range(1, 10))])
def test_kill_9_at_random_moments(scene: Scene, row: Callable[[str, str], None], seed: int) -> None:
    """Five kills of one run: `make test` has five, `make test-crash` fifty."""
    moments = random.Random(seed)
    scene.tasks(TASKS)
    kept = []
    for _ in range(KILLS):
        before, process = scene.finished(), scene.start()
        if moments.random() < IN_THE_MIDDLE:
            wait_for(lambda: scene.finished() > before or process.poll() is not None)  # noqa: B023
        time.sleep(moments.uniform(0.0, LATEST))
        process.kill()
        if process.wait() == -signal.SIGKILL:
            kept.append(str(scene.finished()))
        scene.keep_in_mind()
    row(
        f"kill -9 of the runner, seed {seed}",
        f"{len(kept)} kills; finished at each: {' '.join(kept)} of {TASKS}",
    )
    assert all(record.status == "answered" for record in scene.end())


@pytest.mark.crash
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("pause", [0.0, 0.05, 0.5])
def test_stopped_twice(
    scene: Scene, row: Callable[[str, str], None], number: signal.Signals, pause: float
) -> None:
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 2)
    for _ in range(2):
        process.send_signal(number)
        time.sleep(pause)
    code = process.wait(30)
    scene.keep_in_mind()
    row(
        f"{number.name} twice, {pause:g} s apart", f"exit code {code}, {scene.finished()} of {TASKS} finished"
    )
    assert code in (1, -number)  # the second signal may find an interpreter that has cleared up already
    assert f"fieldmark run --resume {scene.out}" in scene.told()
    unfinished = str(scene.out / "traces" / ".")  # what `view` shows of them, until --resume plays them anew
    wait_for(lambda: all(each.startswith(unfinished) for each in scene.left()), seconds=10)
    scene.end()
