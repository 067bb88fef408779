"""`--epochs`: every task several times, each time a row of its own; n stays the tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark.config import load_config
from fieldmark.errors import UsageError
from fieldmark.estimate import estimate, lines
from fieldmark.evals.metrics.summary import summarise
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.model_server import ModelServer, Reply

RED = Reply('{"answer": "red"}')


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_two_tasks_in_two_epochs_and_what_resume_runs_again(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with ModelServer(lambda body: RED) as server:
        flags = ["--agent", "closed_book", "--model", "scripted", "--base-url", server.url, "--out", out]
        done = fieldmark("run", "--benchmark", tiny, "--limit", 2, "--epochs", 2, "--no-probe", *flags)
        assert done.returncode == 0, done.stderr
        assert "4/4 episodes" in done.stderr
        run = RunDir.open(out)
        tasks = [row["id"] for row in run.tasks()]
        every = {(task, epoch) for task in tasks for epoch in range(2)}
        assert {record.key for record in run.episodes()} == every == set(run.verdicts())
        assert all(list(run.trace(record)) for record in run.episodes())
        assert "50.0 % correct (1/2 done; 1/2 attempted; 1/2 all tasks" in done.stdout

        rows = run.episodes_file.read_text().splitlines(keepends=True)
        lost = next(row for row in rows if '"epoch":1' in row.replace(" ", ""))
        run.episodes_file.write_text("".join(row for row in rows if row != lost))
        before = len(server.requests)
        assert fieldmark("run", "--resume", out, "--no-preflight").returncode == 0
        assert len(server.requests) == before + 1
    assert {record.key for record in run.episodes()} == every
    summary = summarise(run)
    assert (summary.tasks, summary.epochs, summary.partial) == (2, 2, False)
    replayed = fieldmark(
        "run", "--benchmark", tiny, "--agent", "closed_book", "--model", f"replay:{out}", "--limit", 2,
        "--epochs", 2, "--out", "replayed",
    )  # fmt: skip
    assert replayed.returncode == 0, replayed.stderr
    assert {record.key for record in RunDir.open(tmp_path / "replayed").episodes()} == every


def test_the_estimate_counts_every_epoch(tiny: Path, tmp_path: Path) -> None:
    told = estimate(load_config(None, {"benchmark": str(tiny), "epochs": 3, "out": tmp_path / "out"}))
    assert (told.tasks, told.epochs, told.episodes) == (4, 3, 12)
    assert "4 tasks × 3 epochs = 12 episodes" in lines(told)[0]


def test_no_epoch_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match=r"epochs: .*greater than or equal to 1"):
        load_config(None, {"epochs": 0})
