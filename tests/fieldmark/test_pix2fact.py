"""Pix2Fact, end to end: data of the user's own, its protocol and its judge, in real containers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.evals.benchmarks import pix2fact_data
from tests.model_server import Body, ModelServer, Reply


def says(body: Body) -> Reply:
    """The judge's word, or a reply with a brace and an object in its values."""
    if "ground_truth" in str(body["messages"][-1]["content"]):
        told = json.loads(body["messages"][-1]["content"])
        return Reply(str(told["ground_truth"] == told["model_answer"]))
    observation = {"sign": "a kiosk {Venn}"}
    return Reply(
        json.dumps({"Observation": observation, "Full Answer": "She does.", "Simple Answer": "Orla Venn"})
    )


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_under_the_protocol(fieldmark: Fieldmark, tmp_path: Path) -> None:
    data = pix2fact_data.parquet(tmp_path)
    with ModelServer(says) as server:
        done = fieldmark(
            *("run", "--benchmark", "pix2fact", "--data", data, "--protocol", "pix2fact", "--no-preflight"),
            *("--agent", "closed_book", "--model", "scripted", "--base-url", server.url, "--out", "out"),
            *("--judge", "pix2fact", "--judge-model", "scripted", "--judge-url", server.url),
            *("--image-side", 16384, "--image-megapixels", 1),
            env={"XDG_CACHE_HOME": str(tmp_path / "cache")},
        )
        assert done.returncode == 0, done.stderr
        asked = [body for body in server.requests if "max_tokens" in body]
    run = RunDir.open(tmp_path / "out")
    assert [(body["temperature"], body["max_tokens"]) for body in asked] == [(0, 8192)] * 2
    assert {record.answer for record in run.episodes()} == {"Orla Venn"}
    assert {key[0]: verdict.label for key, verdict in run.verdicts().items()} == {
        "7": "correct",
        "8": "incorrect",
    }
    assert "would have lost 2/2 (100.0 %) answers" in " ".join(done.stdout.split())
    row = run.tasks()[0]
    assert (row["fitted"]["width"], row["fitted"]["steps"]) == (1600, 4)
    assert row["view"]["width"] * row["view"]["height"] <= 1_000_000
    assert run.config()["protocol"]["preset"]["force"]["max_output_tokens"] == 16000
    public = "".join(path.read_text() for path in (tmp_path / "out").glob("*.jsonl"))
    assert "kiosks.example" not in public
