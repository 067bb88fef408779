"""A run over two nodes of a real Ray cluster: all once, on both, as on one machine, and the key nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from fieldmark.sandbox.container import LABEL
from tests.conftest import Fieldmark
from tests.model_server import Body, Call, ModelServer, Reply
from tests.ray_cluster import RayCluster

pytest.importorskip("ray", reason="pip install 'fieldmark[ray]'")
pytestmark = pytest.mark.usefixtures("sandbox_image")
KEY = "sk-test-wanders-over-two-nodes"
GOLD = "Zyqmilion"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Sockets and temporary files of its nodes lie in a folder of their own."""
    cluster = RayCluster(2, {"XDG_RUNTIME_DIR": ""})
    yield cluster
    cluster.close()


def one_look_then_answer(body: Body) -> Reply:
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})], delay=0.3)
    return Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 90, "y2": 60})], delay=0.3)


def run(fieldmark: Fieldmark, server: ModelServer, tiny: Path, out: str, *more: object) -> Any:
    options = ["--benchmark", tiny, "--agent", "react", "--model", "scripted", "--base-url", server.url]
    options += ["--key-env", "TEST_KEY", "--parallel", 2, "--epochs", 2, "--limit", 3, "--out", out]
    return fieldmark("run", *options, *more, env={"TEST_KEY": KEY})


def kinds(folder: Path) -> dict[tuple[str, int], list[str]]:
    """What happened in each episode."""
    opened = RunDir.open(folder)
    return {record.key: [event.kind for event in opened.trace(record)] for record in opened.episodes()}


def test_all_once_on_both_nodes_as_on_one_machine_and_the_key_is_nowhere(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, engine: Any, cluster: RayCluster
) -> None:
    tiny.write_text(tiny.read_text().replace("red colour", GOLD))
    records: list[str] = []

    def script(body: Body) -> Reply:
        for row in engine.api.containers(filters={"label": f"{LABEL}=far"}):
            records.append(json.dumps(engine.api.inspect_container(row["Id"])))
        return one_look_then_answer(body)

    with ModelServer(script) as server:
        done = run(fieldmark, server, tiny, "far", "--executor", "ray", "--address", cluster.address)
        assert done.returncode == 0, done.stderr
        assert {*server.keys} == {f"Bearer {KEY}"}
        assert run(fieldmark, server, tiny, "near").returncode == 0
    far = RunDir.open(tmp_path / "far")
    assert Counter(record.key for record in far.episodes()) == {
        (f"square-{name}", epoch): 1 for name in ("red", "green", "blue") for epoch in (0, 1)
    }
    assert kinds(tmp_path / "far") == kinds(tmp_path / "near")
    assert len(far.verdicts()) == 6
    nodes = far.config()["executor"]["nodes"]
    assert [node["episodes"] for node in nodes] != [6, 0]
    assert sum(node["episodes"] for node in nodes) == 6
    assert all(node["episodes"] for node in nodes)
    assert far.config()["image"]["id"] == nodes[0]["image"]
    assert (
        cluster.address not in far.run_json.read_text()
    )  # whoever gets the folder is told no cluster to join
    searched = [path for place in (tmp_path / "far", cluster.folder) for path in place.rglob("*")]
    searched = [path for path in searched if path.is_file()]
    assert len(searched) > 50
    assert not [path for path in searched if KEY.encode() in path.read_bytes()]
    of_ray = [path for path in searched if path.is_relative_to(cluster.folder)]
    assert not [path for path in of_ray if GOLD.encode() in path.read_bytes()]
    assert len(records) > 6
    assert not [record for record in records if KEY in record]
    assert KEY not in done.stdout + done.stderr
    assert not engine.api.containers(all=True, filters={"label": f"{LABEL}=far"})


def test_an_agent_and_a_tool_of_the_user_travel(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, cluster: RayCluster
) -> None:
    """Their files are on the driver alone; so is the probe's picture."""
    for kind in ("agent", "tool"):
        assert fieldmark("new", kind, f"my_{kind}").returncode == 0
    (own,) = tmp_path.glob("my_agent*")
    (tool,) = tmp_path.glob("my_tool*")
    where = ["--executor", "ray", "--address", cluster.address]
    done = fieldmark("run", "--benchmark", tiny, "--agent", own, "--limit", 1, "--out", "own", *where)
    assert done.returncode == 0, done.stderr
    done = fieldmark("run", "--benchmark", tiny, "--tool", tool, "--limit", 1, "--out", "with", *where)
    assert done.returncode == 0, done.stderr
    assert RunDir.open(tmp_path / "with").config()["tools"].count("my_tool") == 1


def test_a_cluster_with_a_token_takes_who_has_it_and_names_a_node_that_cannot_play(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    """Its one node has no engine: to be told so, one must have got there."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "5" * 64}
    cluster = RayCluster(1, {**token, "DOCKER_HOST": "unix:///nowhere/docker.sock"})
    try:
        where = ["--executor", "ray", "--address", cluster.address]
        command = ["run", "--benchmark", tiny, "--agent", "closed_book", "--out", "out", *where]
        let_in, kept_out = (fieldmark(*command, env=env) for env in (token, {"RAY_AUTH_MODE": "disabled"}))
    finally:
        cluster.close()
    assert [let_in.returncode, kept_out.returncode] == [2, 2]
    assert re.fullmatch(
        r"fieldmark: node \S+ \(\w{6}\): no Docker engine answers at unix:///nowhere/docker.sock: .*\n",
        let_in.stderr,
    )
    assert re.fullmatch(r"fieldmark: --address \S+: it could not be joined .* token .*\n", kept_out.stderr)
    assert not (tmp_path / "out").exists()


def test_ray_asks_nobody_who_he_is(cluster: RayCluster) -> None:
    """Why its ports belong in a private network: this is nobody's run, and it runs code on a node."""
    script = (
        f"import os, ray; ray.init({cluster.address!r}, log_to_driver=False, configure_logging=False);"
        "print('uid', ray.get(ray.remote(lambda: os.getuid()).options(num_cpus=0).remote()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert f"uid {os.getuid()}" in done.stdout
