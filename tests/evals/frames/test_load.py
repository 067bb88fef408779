"""`fieldmark.load`: run folders as data frames."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import fieldmark
from fieldmark import jsonl
from fieldmark.errors import UsageError
from fieldmark.evals.frames import TABLES
from fieldmark.findings import Failure, GoldFacts, TraceFacts
from fieldmark.rundir import RunDir
from tests.evals.study_folders import record, run_in, study_of

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """One right answer after a failed act, a time-out, a fault of ours, and a task not run."""
    built = build_run(carries={"zoom-and-read": ["ocr"]}, skills={"zoom-and-read": "0"})
    built.task("a", mid="Bird").episode("a", verdict="correct", seconds=9.0).step(
        ("read_skill", "ok"), ("ocr", "failed"), ("image", "not_offered"), ("web_search", "silent")
    )
    built.task("b").episode("b", status="timeout", verdict="incorrect")
    built.task("c").episode("c", status="sandbox_error")
    return built.task("d").finish()


def test_episodes_have_their_labels_outcome_and_acts(run: RunDir) -> None:
    found = fieldmark.load(run.path).episodes
    assert found.id.tolist() == ["a", "b", "c"]
    assert found.outcome.tolist() == ["correct", "no_answer", "sandbox_error"]
    assert found.done.tolist() == [True, True, False]
    assert found.correct.isna().tolist() == [False, False, True]
    assert found.loc[0, ["mid", "acts", "failed_acts", "skill_calls"]].tolist() == ["Bird", 3, 2, 1]
    parts = found[["model_seconds", "tool_seconds", "waiting_seconds", "own_seconds"]]
    assert parts.sum(axis=1).tolist() == pytest.approx([9.0, 10.0, 10.0])


def test_calls_are_those_of_the_report_in_order(run: RunDir) -> None:
    found = fieldmark.load(run.path).calls
    assert found.name.tolist() == ["read_skill", "ocr", "image", "web_search"]
    assert found.kind.tolist() == ["skill", "act", "act", "act"]
    assert found.n.tolist() == [0, 1, 2, 3]
    assert found.error_kind.fillna("-").tolist() == ["-", "runtime", "not_found", "-"]
    assert found.ok.fillna(False).tolist() == [True, False, False, False]
    assert found.ok.isna().tolist() == [False, False, False, True]
    assert found.skills.tolist() == ["", "zoom-and-read", "", ""]
    events = list(run.trace(run.episodes()[0]))
    assert [events[seq].kind for seq in found.seq] == [*["tool_call"] * 3, "model_response"]


def test_an_act_that_led_to_others_and_the_innermost_of_them(build_run: BuildRun) -> None:
    built = build_run().task("a")
    shell = (
        built.episode("a", verdict="correct").request("m9", tools=["bash"]).response("m9", [("x", "bash")])
    )
    shell.tool("x", "bash", model_call="x").tool("y", "ocr", parent="x", end="failed")
    found = fieldmark.load(built.finish().path).calls
    assert found[["kind", "name", "n", "innermost", "ok"]].values.tolist() == [
        ["act", "bash", 0, False, False],
        ["inner", "ocr", 0, True, False],
    ]


def test_verdicts_of_every_judge_and_which_counts(run: RunDir) -> None:
    run.write_config({**run.config(), "judge": "exact"})
    jsonl.append(run.verdicts_file, {"id": "a", "label": "incorrect", "score": 0.0, "judge": "llm/x",
                                     "votes": {"incorrect": 2, "correct": 1}})  # fmt: skip
    found = fieldmark.load(run.path).verdicts.set_index(["id", "judge"])
    assert found.loc[("a", "exact"), "current"]
    assert not found.loc[("a", "llm/x"), "current"]
    assert found.loc[("a", "llm/x"), ["votes", "agreeing"]].tolist() == [3, 2]


def test_facts_are_joined_with_what_gold_says_where_it_is_there(run: RunDir) -> None:
    jsonl.append(run.facts_file, TraceFacts(id="a", acts=3, looked=True).model_dump(mode="json"))
    jsonl.append(run.facts_file, TraceFacts(id="b").model_dump(mode="json"))
    gold = GoldFacts(id="a", seen=True, seen_event=7)
    jsonl.append(run.gold_facts_file, gold.model_dump(mode="json"))
    found = fieldmark.load(run.path).facts
    assert found.seen_event.fillna(-1).tolist() == [7, -1]
    assert found.supported.isna().tolist() == [False, True]
    run.gold_facts_file.unlink()
    assert fieldmark.load(run.path).facts.seen.isna().all()


def test_failures_name_their_events(run: RunDir) -> None:
    failure = Failure(
        id="b",
        taxonomy="1",
        label="timeout_or_budget",
        stage="facts",
        classifier="facts",
        events=[3, 5],
        outcome="no_answer",
    )
    jsonl.append(run.failures_file, failure.model_dump(mode="json"))
    found = fieldmark.load(run.path).failures
    assert found[["label", "events"]].values.tolist() == [["timeout_or_budget", "[3, 5]"]]


def test_several_runs_stand_under_one_another(build_run: BuildRun) -> None:
    folders = []
    for name in ("first", "second", "deep/first"):
        built = build_run(name).task("a")
        built.episode("a", verdict="correct")
        folders.append(built.finish().path)
    one, other, same_name = folders
    assert fieldmark.load(one, other).tasks.run.tolist() == ["first", "second"]
    assert fieldmark.load(one, str(same_name)).tasks.run.tolist() == [str(one), str(same_name)]
    with pytest.raises(UsageError, match="named twice"):
        fieldmark.load(one, one)
    with pytest.raises(UsageError, match="no run folder is named"):
        fieldmark.load()


def test_a_study_stands_for_all_its_runs(build_run: BuildRun) -> None:
    study = study_of(build_run, {"off": ({"skills": "none"}, "10"), "on": ({"skills": "all"}, "11")})
    episodes = fieldmark.load(study.path).episodes
    assert episodes.groupby("run").correct.sum().to_dict() == {"off": 1, "on": 2}
    with pytest.raises(UsageError, match="named twice"):
        fieldmark.load(study.path, study.run("on").path)


def test_types_do_not_depend_on_what_is_there(build_run: BuildRun, run: RunDir) -> None:
    empty = build_run("empty").finish()
    for name in TABLES:
        full, none = (fieldmark.load(folder.path).table(name) for folder in (run, empty))
        assert full.dtypes.to_dict() == none.dtypes.to_dict()


def test_a_trace_that_cannot_be_read_is_not_zero_acts(run: RunDir) -> None:
    (run.traces / run.episodes()[0].trace).write_text('{"kind": "tool_call"}\n')
    frames = fieldmark.load(run.path)
    assert frames.episodes.acts.isna().tolist() == [True, False, False]
    assert frames.calls.empty


def test_importing_fieldmark_loads_nothing() -> None:
    code = "import sys, fieldmark; print(*{'pandas', 'pydantic', 'numpy', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert fieldmark.__all__ == ["__version__", "load"]


def test_a_study_stands_for_its_runs(build_run: BuildRun) -> None:
    run_in(build_run, "off-o1", "10")
    run_in(build_run, "on-o1", "11")
    study = record(
        build_run, {"off": {"memory": "off"}, "on": {"memory": "on"}},
        [("off-o1", "off", 1), ("on-o1", "on", 1), ("on-o2", "on", 2)],
    )  # fmt: skip
    episodes = fieldmark.load(study.path).episodes
    assert list(episodes.groupby(["run", "arm", "task_order"]).correct.sum().items()) == [
        (("off-o1", "off", 1), 1), (("on-o1", "on", 1), 2),
    ]  # fmt: skip
    assert fieldmark.load(study.path / "on-o1").episodes.arm.isna().all()
    with pytest.raises(UsageError, match="named twice"):
        fieldmark.load(study.path, study.path / "on-o1")
