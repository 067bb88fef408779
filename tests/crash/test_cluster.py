"""A run on two nodes of a Ray cluster, of which one, all, or the driver is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldmark.rundir import RunDir
from tests.crash.scene import MARK, Scene, wait_for
from tests.ray_cluster import NODE, RayCluster

pytest.importorskip("ray", reason="pip install 'fieldmark[ray]'")
pytestmark = [pytest.mark.timeout(900), pytest.mark.crash]
TASKS = 12
Row = Callable[[str, str], None]


@pytest.fixture
def cluster(scene: Scene) -> Iterator[RayCluster]:
    """Two nodes; what they start for the run lies in the scene, Ray's own processes do not."""
    cluster = new_cluster(scene)
    yield cluster
    cluster.close()


def new_cluster(scene: Scene) -> RayCluster:
    cluster = RayCluster(2, {name: value for name, value in scene.env.items() if name != MARK})
    scene.where = ["--executor", "ray", "--address", cluster.address]
    return cluster


def of_the_run(scene: Scene, module: str, *marks: str) -> list[int]:
    """Processes of a module of fieldmark/cluster/ in this scene, with these `marks` in their environment."""
    places, found = {f"XDG_RUNTIME_DIR={scene.sockets}".encode(), *(mark.encode() for mark in marks)}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            mine = places <= {*(folder / "environ").read_bytes().split(b"\0")}
        except OSError:
            continue
        if mine and f"fieldmark.cluster.{module}".encode() in words:
            found.append(int(folder.name))
    return found


def gone(scene: Scene) -> bool:
    """Whether nothing of the run is left on any node."""
    return not (of_the_run(scene, "keeper") or of_the_run(scene, "envoy") or on_the_nodes(scene))


def on_the_nodes(scene: Scene) -> list[str]:
    """Containers, sockets and temporary files that are left."""
    return [each for each in scene.left() if not each.startswith(str(scene.out))]


def check_nodes(scene: Scene, *, lost: int) -> None:
    nodes = RunDir.open(scene.out).config()["executor"]["nodes"]
    assert sum(node["lost"] for node in nodes) == lost


@pytest.mark.parametrize("with_its_keeper", [False, True])
def test_a_node_is_killed(scene: Scene, cluster: RayCluster, row: Row, with_its_keeper: bool) -> None:
    """Its episodes are played anew on the other, in the same sitting."""
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 3)
    keepers = of_the_run(scene, "keeper", f"{NODE}={cluster.nodes[1].name}")
    assert len(keepers) == 1
    for pid in keepers if with_its_keeper else []:  # as a machine without power
        os.kill(pid, signal.SIGKILL)
    cluster.nodes[1].kill()
    at = scene.finished()
    code = process.wait(300)
    row(
        f"kill -9 of a node{' and of a keeper' if with_its_keeper else ''}",
        f"exit code {code}, finished {at}, then {scene.finished()} of {TASKS}",
    )
    assert "is lost" in scene.told()
    assert code == 0, scene.told()
    assert scene.finished() == TASKS
    check_nodes(scene, lost=1)
    assert all(record.status == "answered" for record in RunDir.open(scene.out).episodes())
    scene.end()
    wait_for(lambda: gone(scene), seconds=30)


def goes_on_with_another_cluster(scene: Scene) -> None:
    """As `scene.end`, where the first one is lost."""
    other = new_cluster(scene)
    try:
        scene.end()
        wait_for(lambda: gone(scene), seconds=30)
    finally:
        other.close()


def test_the_cluster_is_lost(scene: Scene, cluster: RayCluster, row: Row) -> None:
    """The run stops in one line; a new cluster goes on with it."""
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 3)
    for node in cluster.nodes:
        node.kill()
    code = process.wait(180)
    row("kill -9 of every node", f"exit code {code}, {scene.finished()} of {TASKS} finished")
    assert code == 1
    assert f"fieldmark run --resume {scene.out} --executor ray --address" in scene.told()
    assert "no node of the cluster is left" in scene.told()
    wait_for(lambda: gone(scene), seconds=60)
    goes_on_with_another_cluster(scene)


def test_the_head_is_lost(scene: Scene, cluster: RayCluster, row: Row) -> None:
    """Ray waits a minute for its head: the other node plays on that long, then the run stops."""
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 3)
    cluster.nodes[0].kill()
    began = time.monotonic()
    code = process.wait(240)
    row(
        "kill -9 of the head, not of the other node",
        f"exit code {code} after {time.monotonic() - began:.0f} s, {scene.finished()} of {TASKS} finished",
    )
    assert code in (0, 1)
    wait_for(lambda: gone(scene), seconds=180)
    goes_on_with_another_cluster(scene)


def test_the_driver_is_killed(scene: Scene, cluster: RayCluster, row: Row) -> None:
    """The nodes clean up by themselves, and the run goes on."""
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 3)
    process.kill()
    process.wait()
    began = time.monotonic()
    wait_for(lambda: gone(scene), seconds=60)
    row(
        "kill -9 of the driver of two nodes",
        f"{scene.finished()} of {TASKS} finished, nodes clean after {time.monotonic() - began:.1f} s",
    )
    scene.end()
    wait_for(lambda: gone(scene), seconds=30)
    assert {record.status for record in RunDir.open(scene.out).episodes()} == {"answered"}


def test_stopped_by_ctrl_c(scene: Scene, cluster: RayCluster, row: Row) -> None:
    """The driver has the nodes clean up before it ends."""
    scene.tasks(TASKS)
    process = scene.start()
    wait_for(lambda: scene.finished() >= 3)
    os.killpg(process.pid, signal.SIGINT)
    code = process.wait(60)
    row("SIGINT of the driver of two nodes", f"exit code {code}, {scene.finished()} of {TASKS} finished")
    assert code == 1
    wait_for(lambda: gone(scene), seconds=10)
    scene.end()
