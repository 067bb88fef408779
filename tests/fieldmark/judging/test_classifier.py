"""`fieldmark classify` with a model, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.failures.llm import make
from fieldmark.judging.classifier import settings_of
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.evals.conftest import RunBuilder
from tests.model_server import Body, ModelServer, Reply

LABEL = {"label": "visual_grounding", "link": "grounding", "events": [5], "reason": "SECRET tells it"}
GOOD = Reply(json.dumps(LABEL))


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """Four wrong answers; facts decide the time-out and leave the others open."""
    built = RunBuilder(tmp_path / "out", config={"agent": "react"})
    for number in range(3):
        built.task(f"t{number}").episode(f"t{number}", verdict="incorrect").step(("crop_zoom", "ok")).event(
            "sandbox", "answer", text=f"plane {number}"
        )
    built.task("late").episode("late", status="timeout")
    return built.finish()


def options(server: ModelServer, name: str = "scripted") -> list[str]:
    return ["--model", name, "--base-url", server.url]


def test_a_model_decides_what_facts_leave_open_and_owes_what_it_could_not(
    fieldmark: Fieldmark, run: RunDir
) -> None:
    replies = {"plane 1": Reply("It did not look.")}

    def one_bad(body: Body) -> Reply:
        return replies.get("plane 1", GOOD) if "plane 1" in str(body["messages"][1]) else GOOD

    with ModelServer(one_bad) as server:
        first = fieldmark("classify", "out", *options(server), "--json")
        replies.clear()
        asked = len(server.requests)
        again = fieldmark("classify", "out")
        once_more = fieldmark("classify", "out")
    assert first.returncode == 1, first.stderr
    done = json.loads(first.stdout)
    assert (done["by_facts"], done["by_model"], sum(done["open"].values())) == (1, 2, 1)
    assert "t1 stays open: 3 replies of the classifier without a label" in first.stderr
    assert (again.returncode, once_more.returncode) == (0, 0), again.stderr
    assert len(server.requests) == asked + 1  # the run's classifier is asked what it owes, and no more
    row = run.failures()["t0", 0]
    assert (row.label, row.link, row.stage, row.events) == ("visual_grounding", "grounding", "model", [])
    assert (run.failure_reasons()["t0", 0].events, run.failure_reasons()["t0", 0].reason) == (
        [5], "SECRET tells it",
    )  # fmt: skip
    assert "SECRET" not in run.failures_file.read_text()
    report = fieldmark("report", "out")
    assert "visual_grounding" in report.stdout
    assert "not validated" in " ".join(report.stdout.split())
    assert "SECRET" not in run.report_html.read_text()


def test_what_it_classifies_by_is_in_run_json_and_no_path_is(
    fieldmark: Fieldmark, run: RunDir, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "classifier.md").write_text("Say why.")
    with ModelServer([GOOD]) as server:
        done = fieldmark("classify", "out", *options(server), "--prompts", "mine")
        assert done.returncode == 0, done.stderr
        rows = [row["classifier"] for row in jsonl.read(run.failures_file).rows if row["stage"] == "model"]
        again = fieldmark("classify", "out", "--json")
    config = run.config()
    assert list(config["classifiers"]) == [*{*rows}]
    assert config["config"]["classifier"] == {
        "name": "scripted", "base_url": server.url, "key_env": "OPENAI_API_KEY", "temperature": 0.0,
        "seed": 0,
    }  # fmt: skip
    assert str(tmp_path) not in run.run_json.read_text()
    assert json.loads(again.stdout)["written"] == 0  # the same prompt, from the private part


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"base_url": "http://h/v1"}, "--base-url is for a model: name it with --model"),
        ({"name": "m"}, "--model needs --base-url"),
        ({"name": "m", "base_url": "h:80"}, "is not an http"),
        ({"name": "m", "base_url": "http://h", "seed": "x"}, "--seed: give a whole number"),
        ({"name": "m", "base_url": "http://h", "prompts": Path()}, "cannot read classifier.md there"),
    ],
)
def test_what_is_missing_is_named(
    run: RunDir, given: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=why):
        make(settings_of(run, given) or pytest.fail("no settings"))


def test_an_unknown_model_is_refused_before_anything_is_written(fieldmark: Fieldmark, run: RunDir) -> None:
    with ModelServer([GOOD]) as server:
        done = fieldmark("classify", "out", *options(server, "nobody"))
        facts_only = fieldmark("classify", "out", *options(server), "--no-llm")
    assert (done.returncode, facts_only.returncode) == (2, 2)
    assert "unknown --model 'nobody'" in done.stderr
    assert "--no-llm asks no model" in facts_only.stderr
    assert "classifiers" not in run.config()
