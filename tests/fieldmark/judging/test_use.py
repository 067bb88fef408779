"""What judging uses is counted, and not as the agent's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fieldmark
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.usage_table import cost_line, usage_table
from fieldmark.judging.again import judge_again
from fieldmark.model_config import JudgeConfig
from fieldmark.rundir import RunDir
from tests.evals.conftest import RunBuilder
from tests.model_server import Body, ModelServer, Reply

RIGHT = json.dumps({"verdict": "correct", "score": 1, "reason": "so"})
PRICES = {"scripted": {"input": 10.0, "output": 100.0}}


def run_at(path: Path, **config: Any) -> RunDir:
    """Three answers by an agent that used 1,000 tokens each."""
    built = RunBuilder(path, judge="exact", config={"judge": "exact", **config})
    for name in "abc":
        built.task(name).episode(name).answer(f"plane {name}").record.update(
            tokens={"input": 1000, "output": 50}, counts={"model_calls": 2}, cost=0.5
        )
    return built.finish()


def judge(run: RunDir, server: ModelServer) -> None:
    settings = JudgeConfig(name="llm", model="scripted", base_url=server.url)
    judge_again(run, settings, lambda line: None)


def test_calls_tokens_and_cost_of_the_judge_are_a_row_of_its_own(tmp_path: Path) -> None:
    """One answer is judged at the second reply, one never: its three calls are paid all the same."""
    seen = []

    def script(body: Body) -> Reply:
        seen.append(body)
        again = len(body["messages"]) > 2
        if "plane b" in str(body) and not again:
            return Reply("Hm.")
        return Reply("Hm." if "plane c" in str(body) else RIGHT)

    run = run_at(tmp_path / "run", prices=PRICES)
    with ModelServer(script) as server:
        judge(run, server)
    summary = summarise(run)
    assert len(seen) == 6
    assert usage_table(summary).rows == [
        ["agent", "6", "0", "0", "3,000", "–", "150"],
        ["judge", "6", "0", "0", "600", "–", "60"],
    ]
    assert cost_line(summary.money) == (
        "Cost: 1.5000 USD in 3 episodes; 0.5000 USD each. "
        "Judging, in no episode's cost: 0.0120 USD for 6 calls."
    )
    found = fieldmark.load(run.path).verdicts.set_index("id")
    assert found.loc[["a", "b"], "input_tokens"].tolist() == [100, 200]


def test_a_judge_without_price_or_usage_costs_an_unknown_sum(tmp_path: Path) -> None:
    for prices, usage in ((PRICES, None), ({}, {"prompt_tokens": 1, "completion_tokens": 1})):
        run = run_at(tmp_path / f"run{len(prices)}", prices=prices)
        with ModelServer([Reply(RIGHT, usage=usage)]) as server:
            judge(run, server)
        summary = summarise(run)
        assert usage_table(summary).rows[1][:4] == ["judge", "3", *("33" if usage is None else "00")]
        assert "Judging, in no episode's cost: unknown for 3 calls." in cost_line(summary.money)


def test_what_two_judges_used_is_told_apart(tmp_path: Path) -> None:
    run = run_at(tmp_path / "run")
    with ModelServer([Reply(RIGHT)]) as server:
        judge(run, server)
        judge_again(
            run, JudgeConfig(name="llm", model="scripted", seed=7, base_url=server.url), lambda line: None
        )
    agent, *judges = usage_table(summarise(run)).rows
    assert agent[0] == "agent"
    assert [row[0].rsplit("/", 1)[0] for row in judges] == ["judge llm/scripted"] * 2
    assert [row[1] for row in judges] == ["3", "3"]
