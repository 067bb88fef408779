"""Tokens and money in the report: what nobody reported is unknown, and said to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.usage_table import cost_line, usage_table

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def test_calls_without_usage_are_counted_and_in_no_sum(build_run: BuildRun) -> None:
    """Case 5-15: a server that leaves usage out, or says null."""
    run = build_run()
    for name, tokens, missing, cost in (
        ("a", {"input": 1000, "output": 50, "cached": 400}, 0, 0.25),
        ("b", {"input": 500, "output": 20}, 1, None),
        ("c", None, 2, None),
    ):
        run.task(name)
        counts = {"model_calls": 2, "calls_without_usage": missing}
        run.episode(name).record.update(tokens=tokens, counts=counts, cost=cost)
    summary = summarise(run.finish())
    assert usage_table(summary).rows == [["agent", "6", "3", "2", "1,500", "400", "70"]]
    assert cost_line(summary.money) == (
        "Cost: 0.2500 USD in 1 episode of 3, unknown for the others; 0.2500 USD each."
    )


def test_no_usage_at_all_is_a_dash_and_an_unknown_cost(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a").record.update(counts={"model_calls": 1, "calls_without_usage": 1})
    summary = summarise(run.finish())
    assert usage_table(summary).rows == [["agent", "1", "1", "1", "–", "–", "–"]]
    assert summary.money.usd is None
    assert "unknown" in cost_line(summary.money)
