"""What is refused of a run over many machines, in one line with a remedy, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import __version__
from fieldmark.cluster.cluster import Node, check_alike
from fieldmark.cluster.refusing import check
from fieldmark.cluster.travelling import NodeFacts
from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from tests.conftest import Fieldmark

BENCHMARK = Benchmark("squares", "1", [])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"memory": "inherit"}, "--memory works on one machine only"),
        ({"cache": "kept"}, "--cache works on one machine only"),
        ({"replay": "runs/A"}, "--model replay:RUN works on one machine only"),
        ({"web_archive": "pages"}, "--web-archive works on one machine only"),
        ({"site": "site"}, "--site works on one machine only"),
        ({"index": "index"}, "--index works on one machine only"),
        ({"registry": "r.csv"}, "--registry works on one machine only"),
        ({"address": None}, "needs --address"),
        ({"address": "ray://10.0.0.5:10001"}, "go there and name --address auto"),
        ({"address": "10.0.0.5"}, "give auto, or HOST:PORT of the head"),
        ({"address": "--redis-password=x"}, "give auto, or HOST:PORT of the head"),
    ],
)
def test_what_needs_this_machine_is_refused(asked: dict[str, Any], said: str) -> None:
    config = RunConfig.model_validate({"executor": "ray", "address": "auto", **asked})
    with pytest.raises(UsageError, match=said) as refused:
        check(config, BENCHMARK, installed=True)
    assert "\n" not in str(refused.value)


def test_without_the_extra_it_says_what_to_install() -> None:
    with pytest.raises(UsageError, match=r"pip install 'fieldmark\[ray\]'"):
        check(RunConfig(executor="ray", address="auto"), BENCHMARK, installed=False)


def test_files_beside_the_tasks_are_refused_and_those_of_the_package_are_not(tmp_path: Path) -> None:
    from fieldmark.evals.benchmarks.loading import load_benchmark

    config = RunConfig(executor="ray", address="auto")
    check(config, load_benchmark("fieldmark-mini"), installed=True)
    with pytest.raises(UsageError, match=r"the benchmark's index .* lies on this machine"):
        check(config, Benchmark("mine", "1", [], index=tmp_path / "index"), installed=True)


def node(**told: Any) -> Node:
    facts = {"fieldmark": __version__, "image_tag": "fieldmark-sandbox:1", "room": 2}
    rest = dict.fromkeys(("python", "image", "engine", "runtime"), "")
    return Node("n1", "worker (n1)", NodeFacts(**{**rest, **facts, **told}))


def test_a_node_of_another_version_or_image_is_refused() -> None:
    check_alike([node()], "fieldmark-sandbox:1")
    with pytest.raises(UsageError, match=r"worker \(n1\) has fieldmark 0.0.9.*install the same"):
        check_alike([node(), node(fieldmark="0.0.9")], "fieldmark-sandbox:1")
    with pytest.raises(UsageError, match=r"worker \(n1\) has the sandbox image .*:2.*sandbox build"):
        check_alike([node(image_tag="fieldmark-sandbox:2")], "fieldmark-sandbox:1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--address", "auto"], "--address is for --executor ray"),
        (["--executor", "ray"], "needs --address"),
        (["--executor", "ray", "--address", "127.0.0.1:9"], "no cluster is there (Connection refused)"),
        (["--executor", "ray", "--address", "nowhere.invalid:6379"], "no cluster is there"),
    ],
)
def test_the_command_says_so_in_one_line(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    pytest.importorskip("ray", reason="pip install 'fieldmark[ray]'")
    done = fieldmark("run", "--benchmark", tiny, "--out", "out", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
