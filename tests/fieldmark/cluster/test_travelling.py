"""What of a task and of a run's settings goes to a node."""

from __future__ import annotations

import ast
import inspect
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fieldmark import episode, preflight, serving
from fieldmark.cluster.brief import TRAVELS
from fieldmark.cluster.cluster import shares
from fieldmark.cluster.stage import ClusterStage
from fieldmark.evals.benchmarks.loading import load_benchmark
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.search import choosing
from fieldmark.staging import stage

REFUSED_OR_SENT = {"site", "web_archive", "actions"}


def test_a_task_goes_without_gold_label_and_path(tiny: Path, tmp_path: Path) -> None:
    tiny.write_text(tiny.read_text().replace("red colour", "Zyqmilion").replace("Square", "Quux"))
    folder = RunDir.create(tmp_path / "run")
    staged = stage(load_benchmark(str(tiny)).tasks[0], 64, folder.blob_store())
    plan: Any = SimpleNamespace(tools=["answer"], skills=[])
    nobody: Any = None
    errand = ClusterStage(folder, plan, folder.blob_store(), nobody)._errand(staged, 0, 0, [])
    sent = pickle.dumps(errand)
    assert staged.task.question.encode() in sent
    assert {name.partition(".")[0] for name in errand.blobs} == {staged.image.blob, staged.view.blob}
    for secret in ("Zyqmilion", "Quux", str(tmp_path), "red.png"):
        assert secret.encode() in pickle.dumps((staged, str(tmp_path)))
        assert secret.encode() not in sent


def test_every_setting_that_an_episode_is_played_by_travels() -> None:
    """A setting that is read on a node and does not travel would silently be its default there."""
    sources = [inspect.getsource(each) for each in (episode, serving, choosing, preflight.make_web)]
    read = {
        node.attr
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] == "config"
    }
    assert len(read) > 10
    assert read <= TRAVELS | REFUSED_OR_SENT


def test_nodes_share_by_their_room() -> None:
    assert shares([8, 8], 16) == [8, 8]
    assert shares([8, 2], 5) == [4, 1]
    assert shares([2, 2], 1) == [1, 1]
