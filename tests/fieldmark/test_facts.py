"""The facts of a run: written beside judging, found anew by the report where they are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldmark import jsonl
from fieldmark.exporting.public import export_public
from fieldmark.facts import FactFinder, facts_of_run
from fieldmark.records import EpisodeRecord, Verdict
from fieldmark.rundir import RunDir
from fieldmark.task import Gold
from tests.conftest import Fieldmark
from tests.evals.facts.traces import Trace

MINI = Path(__file__).parents[2] / "evals/benchmarks/fieldmark_mini"
GOLD = {row["id"]: row["gold"]["answer"] for row in jsonl.read(MINI / "tasks.jsonl").rows}


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """One episode that read the type in a result, and one that guessed it; made before there were facts."""
    folder = RunDir.create(tmp_path / "run")
    folder.write_config({"name": "run", "judge": "exact", "epochs": 1})
    labels = {"split": "public", "top": "Transport"}
    ids = ("read", "guessed")
    tasks = [{"id": each, "question": "Which type is this?", "labels": labels} for each in ids]
    folder.write_tasks(tasks, {each: Gold(answer="Saab 340") for each in ids})
    read = Trace().call("web_search", {"query": "HB-AKA"}, "HB-AKA is a Saab 340").answer("Saab 340")
    for task_id, trace in (("read", read), ("guessed", Trace().answer("Saab 340"))):
        commit(folder, trace.record.model_copy(update={"id": task_id, "trace": f"{task_id}.jsonl"}), trace)
        folder.add_verdict(Verdict(id=task_id, label="correct", score=1, judge="exact"))
    return folder


def commit(folder: RunDir, record: EpisodeRecord, trace: Trace) -> None:
    pending = folder.pending_trace(record.id, record.epoch, record.attempt)
    jsonl.write_all(pending, trace.rows)
    folder.commit(record, pending)


def test_the_report_of_an_older_run_finds_them_and_writes_nothing(run: RunDir, fieldmark: Fieldmark) -> None:
    told = json.loads(fieldmark("report", run.path, "--json").stdout)["runs"][0]["support"]
    row = told["rows"][-1]
    assert (row["n"], row["correct"], row["supported"], row["unsupported"]) == (2, 2, 1, 1)
    assert told["funnel"][-1]["seen"] == {"count": 1, "n": 2, "fraction": 0.5}
    shown = fieldmark("report", run.path).stdout
    assert "Supported or lucky" in shown
    assert not run.facts_file.exists()


def test_the_latest_row_counts_and_another_verdict_changes_support(run: RunDir) -> None:
    finder = FactFinder(run)
    for _ in range(2):
        for record in run.episodes():
            found = finder.find(record)
            assert found is not None
            run.add_facts(found.trace, found.gold)
    assert (len(run.facts()), finder.missing(facts_of_run(run))) == (2, [])
    supported = {key: facts.gold and facts.gold.supported for key, facts in facts_of_run(run).items()}
    assert supported == {("read", 0): True, ("guessed", 0): False}
    run.add_verdict(Verdict(id="read", label="incorrect", score=0, judge="exact"))
    again = facts_of_run(run)["read", 0].gold
    assert again is not None
    assert again.supported is None


def test_gold_that_comes_later_and_traces_that_cannot_be_read(run: RunDir) -> None:
    kept = run.gold_file.read_bytes()
    run.gold_file.unlink()
    assert {facts.gold for facts in facts_of_run(run).values()} == {None}
    for record in run.episodes():
        found = FactFinder(run).find(record)
        assert found is not None
        run.add_facts(found.trace, found.gold)
    run.gold_file.write_bytes(kept)
    assert all(facts.gold for facts in facts_of_run(run).values())
    run.facts_file.unlink()
    (run.traces / "read.jsonl").write_text('{"seq":0,"t":0,"by":"gateway","kind":"model_request"}\n')
    (run.traces / "guessed.jsonl").unlink()
    assert facts_of_run(run) == {}


def test_no_page_and_no_public_copy_holds_gold_found_by_them(
    run: RunDir, fieldmark: Fieldmark, tmp_path: Path
) -> None:
    record = run.episodes()[0]
    jsonl.append(run.episodes_file, record.model_dump(mode="json") | {"answer": "a plane"})
    found = FactFinder(run).find(record)
    assert found is not None
    assert found.gold is not None
    run.add_facts(
        found.trace.model_copy(update={"note": "Saab 340"}), found.gold
    )  # a field of a newer version
    assert export_public(run, tmp_path / "out").found == []
    rows = jsonl.read(tmp_path / "out/facts.jsonl").rows
    assert [(row["id"], row["answered_from"]) for row in rows] == [
        ("read", "retrieval"),
        ("guessed", "no_act"),
    ]
    assert not {"note", "seen", "supported", "dropped"} & rows[0].keys()
    jsonl.append(run.episodes_file, run.episodes()[1].model_dump(mode="json") | {"answer": "a plane"})
    fieldmark("report", run.path)
    assert "Saab 340" not in run.report_html.read_text()


@pytest.mark.usefixtures("sandbox_image", "nothing_left")
def test_a_run_writes_them_and_resume_adds_what_is_missing(fieldmark: Fieldmark, tmp_path: Path) -> None:
    done = fieldmark("run", "--tasks", "mini-02", "--model", "builtin/scout", "--out", "out")
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert [facts.searched for facts in run.facts().values()] == [True]
    seen = {key[0]: facts.seen for key, facts in run.gold_facts().items()}
    assert seen["mini-02"] is True  # the local index shows the box under its name
    assert GOLD["mini-02"] not in run.facts_file.read_text()
    run.facts_file.unlink()
    again = fieldmark("run", "--resume", "out")
    assert again.returncode == 0, again.stderr
    assert len(jsonl.read(run.facts_file).rows) == 1
