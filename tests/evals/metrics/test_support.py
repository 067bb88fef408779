"""Accuracy split into supported and unsupported, and the funnel, each with its n."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldmark.evals.metrics.shares import Share
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.metrics.support import Support
from fieldmark.evals.report.sections import tables
from fieldmark.findings import GoldFacts, TraceFacts
from fieldmark.records import VerdictLabel
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, RunBuilder


def facts(run: RunDir, task_id: str, epoch: int = 0, **gold: object) -> None:
    """Of an episode that looked; `gold` of GoldFacts, none of it where nothing is given."""
    trace = TraceFacts(id=task_id, epoch=epoch, looked=True, picture="exact", picture_lost=task_id == "d")
    found = GoldFacts.model_validate({"id": task_id, "epoch": epoch, **gold}) if gold else None
    run.add_facts(trace, found)


def run_of(build_run: BuildRun, **verdicts: VerdictLabel) -> RunBuilder:
    run = build_run()
    for task_id, verdict in verdicts.items():
        run.task(task_id).episode(task_id, verdict=verdict)
    return run


def total(run: RunDir) -> Support:
    return summarise(run).support


def test_correct_answers_split_and_every_step_has_its_n(build_run: BuildRun) -> None:
    run = run_of(build_run, a="correct", b="correct", c="incorrect", d="incorrect").finish()
    facts(run, "a", seen=True)
    facts(run, "b", seen=False, confirmed_event=7)
    facts(run, "c", seen=True)
    facts(run, "d", seen=False)
    row, funnel = total(run).rows[-1], total(run).funnel[-1]
    assert (row.n, row.correct, row.supported, row.unsupported, row.confirmed) == (4, 2, 1, 1, 1)
    assert row.accuracy.fraction == 0.25
    assert row.interval is not None
    assert (round(row.interval.low, 4), round(row.interval.high, 4)) == (0.0456, 0.6994)
    assert (funnel.looked, funnel.searched, funnel.seen) == (Share.of(4, 4), Share.of(0, 4), Share.of(2, 4))
    assert (funnel.right, funnel.seen_wrong) == (Share.of(2, 4), Share.of(1, 4))
    assert funnel.picture_lost == Share.of(1, 4)


def test_support_follows_the_verdict_of_now(build_run: BuildRun) -> None:
    run = run_of(build_run, a="incorrect").finish()
    facts(run, "a", seen=True)
    assert total(run).rows[-1].supported == 0
    verdict = run.verdicts()["a", 0]
    run.add_verdict(verdict.model_copy(update={"label": "correct", "score": 1.0}))
    assert total(run).rows[-1].supported == 1


def test_what_is_not_known_is_left_out_and_no_zero(build_run: BuildRun) -> None:
    run = run_of(build_run, a="correct", b="correct", c="incorrect").finish()
    facts(run, "a", seen=True)
    facts(run, "b", reached=True)  # the question names gold
    found = total(run)
    assert (found.rows[-1].n, found.rows[-1].left_out, found.without_trace) == (1, 2, 1)
    assert found.funnel[-1].looked.n == 2


def test_where_the_question_names_gold_a_supported_answer_is_left_out_like_a_wrong_one(
    build_run: BuildRun,
) -> None:
    run = run_of(build_run, a="correct", b="incorrect", c="correct").finish()
    for task_id in ("a", "b"):
        run.add_facts(TraceFacts(id=task_id, answer_event=5), GoldFacts(id=task_id))
    facts(run, "c", seen=True)
    row = total(run).rows[-1]
    assert (row.n, row.left_out, row.supported, row.accuracy) == (1, 2, 1, Share.of(1, 1))


def test_without_gold_both_tables_say_so(build_run: BuildRun) -> None:
    run = run_of(build_run, a="correct").finish()
    facts(run, "a")
    made = {table.title: table for table in tables(summarise(run))}
    assert "Supported or lucky" not in made
    assert "is not known: gold, or the traces, are not in this folder" in made["Funnel"].note
    assert made["Funnel"].rows[-1] == ["all", "all", "1", "1/1", "0/1", "–", "1/1", "–", "0/1"]


def test_epochs_of_a_task_are_one_sample(build_run: BuildRun) -> None:
    run = build_run(epochs=2).task("a").task("b")
    for task_id in ("a", "b"):
        for epoch in (0, 1):
            run.episode(task_id, epoch=epoch, verdict="correct")
    folder = run.finish()
    for task_id in ("a", "b"):
        for epoch in (0, 1):
            facts(folder, task_id, epoch, seen=task_id == "a" and epoch == 0)
    row = total(folder).rows[-1]
    assert (row.n, row.supported, row.accuracy) == (4, 1, Share.of(0.5, 2))


def test_splits_have_their_own_rows(build_run: BuildRun) -> None:
    run = build_run().task("a", split="public").task("b", split="private", top="Culture")
    run.episode("a", verdict="correct")
    run.episode("b", verdict="correct")
    rows = summarise(run.finish()).support.funnel
    assert [(row.split, row.top, row.right.n) for row in rows] == [
        ("all", "Culture", 1), ("all", "Nature", 1), ("all", "all", 2),
        ("private", "Culture", 1), ("private", "all", 1), ("public", "Nature", 1), ("public", "all", 1),
    ]  # fmt: skip
