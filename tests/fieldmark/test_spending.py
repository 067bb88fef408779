"""A run stops between episodes when it has spent what it may, and goes on when it may spend more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.config import RunConfig
from fieldmark.prices import Costs, Price
from fieldmark.records import EpisodeRecord
from fieldmark.rundir import RunDir
from fieldmark.spending import Spending, hours_of
from tests.conftest import Fieldmark
from tests.model_server import ModelServer, Reply

PRICE = Price(input=1000.0, output=0.0)  # a call of the scripted server costs 0.10 USD


def record(task: str, started: str, seconds: float = 1800.0, tokens: Any = None) -> EpisodeRecord:
    return EpisodeRecord(
        id=task, status="answered", agent="a", model="m", seconds=seconds, charged_seconds=seconds,
        started=started, tokens=tokens, trace=f"{task}.jsonl",
    )  # fmt: skip


def test_hours_are_those_in_which_episodes_were_under_way() -> None:
    first, beside, next_day = "2026-11-30T10:00:00Z", "2026-11-30T10:15:00Z", "2026-12-01T10:00:00Z"
    records = [record("c", next_day), record("a", first), record("b", beside)]
    assert hours_of(records) == pytest.approx(0.75 + 0.5)
    assert hours_of([]) == 0.0


def test_what_earlier_sittings_spent_counts(tmp_path: Path) -> None:
    folder = RunDir.create(tmp_path / "run")
    folder.write_config({"spent": {"usd": 0.8, "hours": 2.0}})
    folder.pending_trace("a", 0, 0).touch()
    done = record("a", "2026-11-30T10:00:00Z", tokens={"input": 500, "output": 0})
    folder.commit(done, folder.pending_trace("a", 0, 0))
    costs = Costs({"agent": PRICE})
    spending = Spending(RunConfig(max_cost=1.0, max_hours=3.0), costs, folder)
    assert spending.over() is None
    spending.add(record("b", "2026-11-30T10:30:00Z", tokens={"input": 200, "output": 0}))
    assert spending.over() == (
        "--max-cost 1 is reached: at least 1.0000 USD are spent", "--max-cost USD",
    )  # fmt: skip
    late = Spending(RunConfig(max_hours=2.0), costs, folder)
    assert late.over() == ("--max-hours 2 is reached: 2.00 h are spent", "--max-hours N")


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_stops_at_its_budget_and_goes_on_with_more(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    (tmp_path / "prices.toml").write_text("[scripted]\ninput = 1000\noutput = 0\n")
    with ModelServer([Reply('{"answer": "red"}')]) as server:
        stopped = fieldmark(
            "run", "--benchmark", tiny, "--agent", "closed_book", "--model", "scripted", "--base-url",
            server.url, "--out", "out", "--parallel", 1, "--max-cost", 0.15, "--prices", "prices.toml",
            "--no-preflight",
        )  # fmt: skip
        run = RunDir.open(tmp_path / "out")
        assert stopped.returncode == 1
        assert "--max-cost 0.15 is reached: at least 0.2000 USD are spent" in stopped.stderr
        assert "go on with: fieldmark run --resume out --max-cost USD" in stopped.stderr
        assert [each.cost for each in run.episodes()] == [0.1, 0.1]
        assert (run.config()["state"], run.config()["spent"]["usd"]) == ("interrupted", 0.2)

        again = fieldmark("run", "--resume", "out")
        assert again.returncode == 1
        assert "--max-cost 0.15 is reached" in again.stderr

        more = fieldmark("run", "--resume", "out", "--max-cost", 5)
        assert more.returncode == 0, more.stderr
        assert (len(server.requests), server.preflights) == (4, [])  # also after --resume
    assert run.config()["spent"]["usd"] == 0.4
    assert "Cost: 0.4000 USD in 4 episodes; 0.1000 USD each." in " ".join(more.stdout.split())
