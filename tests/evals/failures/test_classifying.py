"""`fieldmark classify` over constructed runs: what it writes, and when it writes again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.classifying import classify_run
from fieldmark.errors import UsageError
from fieldmark.evals.failures.case import Case, Decision, Open
from fieldmark.evals.failures.current import current_failures
from fieldmark.records import Verdict, VerdictLabel
from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.evals.conftest import BuildRun


class Asked:
    """A second stage that always says one class, and counts."""

    def __init__(self, name: str = "scripted", word: Decision | None = None) -> None:
        self.name, self.asked = name, 0
        self._word = word or Decision("visual_grounding", "it said so", events=(1,))

    def __call__(self, case: Case, open_: Open) -> Decision | None:
        self.asked += 1
        return self._word


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """One episode of each kind: right, at once, only looked, timed out, our fault, unjudged."""
    made = build_run()
    for task in ("right", "at-once", "looked", "late", "ours", "unjudged"):
        made.task(task)
    made.episode("right", verdict="correct").answer("Saab 340")
    made.episode("at-once", verdict="incorrect").answer("Saab 340")
    made.episode("looked", verdict="incorrect").step(("ocr", "ok")).answer("Saab 340")
    made.episode("late", status="timeout")
    made.episode("ours", status="sandbox_error")
    made.episode("unjudged").answer("Saab 340")
    return made.finish()


def judged(run: RunDir, task: str, label: VerdictLabel) -> None:
    run.add_verdict(Verdict(id=task, label=label, score=0.0, judge="exact"))


def labels(run: RunDir) -> dict[str, str | None]:
    return {key[0]: row.label for key, row in current_failures(run).items()}


@pytest.mark.parametrize("lost", ["traces", "private"])
def test_a_class_stands_where_its_evidence_is_gone(build_run: BuildRun, lost: str) -> None:
    made = build_run()
    made.task("parent").episode("parent", verdict="partially_correct").step(("ocr", "ok")).answer("Saab")
    run = made.finish()
    classify_run(run)
    assert labels(run) == {"parent": "too_broad"}
    shutil.rmtree(run.path / lost)
    (run.path / lost).mkdir()
    assert classify_run(run, anew=True).written == 0
    assert labels(run) == {"parent": "too_broad"}


def test_facts_classify_what_is_wrong_and_nothing_else(run: RunDir) -> None:
    done = classify_run(run)
    assert labels(run) == {"at-once": "no_acquisition", "looked": None, "late": "timeout_or_budget"}
    assert (done.wrong, done.by_facts, done.by_model, done.written) == (3, 2, 0, 3)
    assert done.open == {"looked_only": 1}


def test_a_second_time_writes_nothing(run: RunDir) -> None:
    classify_run(run)
    before = run.failures_file.read_bytes()
    assert classify_run(run).written == 0
    assert run.failures_file.read_bytes() == before


def test_an_answer_that_is_correct_by_now_has_no_row_and_one_that_is_not_gets_one(run: RunDir) -> None:
    classify_run(run)
    judged(run, "at-once", "correct")
    judged(run, "right", "incorrect")
    assert labels(run) == {"looked": None, "late": "timeout_or_budget"}
    assert classify_run(run).written == 1
    assert labels(run)["right"] == "no_acquisition"


def test_another_verdict_classifies_again(run: RunDir) -> None:
    classify_run(run)
    judged(run, "at-once", "uncertain")
    assert "at-once" not in labels(run)
    classify_run(run)
    assert labels(run)["at-once"] == "judge_or_label_doubt"


def test_a_model_is_asked_of_what_is_open_and_once(run: RunDir) -> None:
    model = Asked()
    assert classify_run(run, second_stage=model).by_model == 1
    assert labels(run)["looked"] == "visual_grounding"
    classify_run(run, second_stage=model)
    classify_run(run)
    assert (model.asked, labels(run)["looked"]) == (1, "visual_grounding")


@pytest.mark.parametrize("how", ["anew", "another model", "another verdict"])
def test_a_model_is_asked_again(run: RunDir, how: str) -> None:
    classify_run(run, second_stage=Asked())
    if how == "another verdict":
        judged(run, "looked", "partially_correct")
        judged(run, "looked", "incorrect")
        jsonl.append(run.failures_file, {**_row(run, "looked"), "outcome": "partially_correct"})
    model = Asked("other" if how == "another model" else "scripted")
    classify_run(run, second_stage=model, anew=how == "anew")
    assert model.asked == 1


def _row(run: RunDir, task: str) -> dict[str, Any]:
    return run.failures()[task, 0].model_dump(mode="json")


def test_a_model_that_fails_leaves_its_case_open_and_says_so(run: RunDir) -> None:
    said: list[str] = []

    class Broken(Asked):
        def __call__(self, case: Case, open_: Open) -> Decision | None:
            raise RuntimeError("server down")

    done = classify_run(run, second_stage=Broken(), say=said.append)
    assert done.open == {"looked_only": 1}
    assert said == ["episode looked stays open: server down"]


def test_reasons_stand_in_the_private_part_alone(run: RunDir) -> None:
    classify_run(run, second_stage=Asked())
    assert {row.reason for row in run.failure_reasons().values()} >= {"it said so"}
    assert "it said so" not in run.failures_file.read_text()
    assert "reason" not in json.loads(run.failures_file.read_text().splitlines()[0])


def test_a_trace_that_is_gone_leaves_its_case_open(run: RunDir) -> None:
    for trace in run.traces.iterdir():
        trace.unlink()
    assert classify_run(run).open == {"no_facts": 2}


def test_a_hierarchy_that_is_not_given_again_is_missed(
    build_run: BuildRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = build_run()
    made.task("t").episode("t", verdict="incorrect").step(("ocr", "ok")).answer("Saab 340")
    run = made.finish()
    table = tmp_path / "planes.tsv"
    table.write_text("name\tparent\nSaab 340\tplanes\nSECRET-t\tplanes\n")
    classify_run(run, hierarchy=table)
    assert labels(run) == {"t": "neighbour_confusion"}
    classify_run(run)
    assert "rest on the hierarchy planes.tsv (" in capsys.readouterr().out
    assert labels(run) == {"t": None}


def test_the_command_says_what_it_left_open(run: RunDir, fieldmark: Fieldmark) -> None:
    done = fieldmark("classify", run.path, "--no-llm")
    assert done.returncode == 0
    assert "3 answers are not correct: 2 classified by facts, 0 by a model, 1 left open" in done.stdout
    assert "open: looked_only" in done.stdout
    told = json.loads(fieldmark("classify", run.path, "--no-llm", "--json").stdout)
    assert (told["written"], told["open"]) == (0, {"looked_only": 1})


def test_a_faulty_hierarchy_ends_with_one_line(run: RunDir, fieldmark: Fieldmark, tmp_path: Path) -> None:
    table = tmp_path / "cycle.tsv"
    table.write_text("name\tparent\na\tb\nb\ta\n")
    done = fieldmark("classify", run.path, "--no-llm", "--hierarchy", table)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cycle.tsv:2: 'a' stands above itself" in done.stderr
    assert not run.failures_file.exists()


def test_two_at_once_do_not_write_together(run: RunDir) -> None:
    run.lock()
    with pytest.raises(UsageError, match="another fieldmark process"):
        classify_run(RunDir.open(run.path))
    run.unlock()
