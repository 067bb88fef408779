"""The recipe of docs/recipes.md, from a folder of the user's: in a container, by the command line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import ModelServer, Reply

EXAMPLE = Path(__file__).parents[2] / "docs/examples/reader.toml"
pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")


def test_the_example_of_the_docs_runs_as_it_is(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    recipe = Path(shutil.copy(EXAMPLE, tmp_path))
    with ModelServer([Reply('{"answer": "red", "confidence": 0.7}')]) as server:
        done = fieldmark(
            "run", "--benchmark", tiny, "--limit", 1, "--agent", "./reader.toml",
            "--model", "scripted", "--base-url", server.url, "--out", "out",
        )  # fmt: skip
        recipe.write_text(recipe.read_text() + "\n# changed\n")
        again = fieldmark("run", "--resume", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    trace: list[Any] = list(run.trace(record))
    told = run.config()

    assert (record.agent, record.status, record.answer) == ("reader", "answered", "red")
    assert [event.name for event in trace if event.kind == "tool_call"] == ["ocr"]
    assert str(server.requests[0]["messages"]).count(";base64,") == 1
    assert (told["agent"], told["config"]["agent"], len(told["agent_sha256"])) == ("reader", "reader", 64)
    assert str(tmp_path) not in (tmp_path / "out/run.json").read_text()

    assert again.returncode == 2
    assert "the agent's file has changed since out began: start a new run" in again.stderr
