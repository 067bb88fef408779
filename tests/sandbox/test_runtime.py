"""A runtime of the engine, named by the user: known or refused, handed to the engine, written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import launch
from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.needs import Needs
from fieldmark.sandbox import container as spec
from fieldmark.sandbox.engine import check_runtime
from tests.conftest import Fieldmark


def test_one_that_the_engine_does_not_know_is_refused_in_one_line(engine: Any, fieldmark: Fieldmark) -> None:
    with pytest.raises(UsageError, match=r"--runtime gvizor: the engine knows .*runc.*daemon\.json"):
        check_runtime(engine, "gvizor")
    for command in (["run", "--limit", "1"], ["sandbox", "check"]):
        done = fieldmark(*command, "--runtime", "gvizor")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--runtime gvizor: the engine knows" in done.stderr


def test_one_that_it_knows_starts_the_container(engine: Any, sandbox_image: str, tmp_path: Path) -> None:
    check_runtime(engine, "runc")
    host = engine.api.create_host_config(**spec.host_options(tmp_path, Needs(runtime="runc"), {}))
    made = engine.api.create_container(
        host_config=host, **spec.create_options(sandbox_image, ["true"], "test", 60)
    )
    assert engine.api.inspect_container(made["Id"])["HostConfig"]["Runtime"] == "runc"
    engine.api.remove_container(made["Id"])


@pytest.mark.usefixtures("sandbox_image")
@pytest.mark.parametrize("named", ["runc", None])
def test_run_json_says_which_it_was(tiny: Path, tmp_path: Path, named: str | None) -> None:
    asked = {"benchmark": str(tiny), "runtime": named, "out": tmp_path / "out"}
    run = launch.new_run(load_config(None, {key: value for key, value in asked.items() if value}), print)
    assert run.plan.needs.runtime == named
    assert run.folder.config()["container"]["runtime"] == "runc"
    run.folder.unlock()
