"""The report of a study, from constructed run folders to figures, text, HTML and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fieldmark import jsonl
from fieldmark.commands import compare, report
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.study import study_comparison
from fieldmark.evals.report.study_tables import study_tables
from tests.evals.study_folders import record, run_in, study_of

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

TABLE4 = {
    "base": ({"memory": "off", "skills": "all,-aircraft-registration"}, "1" * 9 + "0" * 34),
    "memory": ({"memory": "inherit", "skills": "all,-aircraft-registration"}, "1" * 13 + "0" * 30),
    "skill": ({"memory": "off", "skills": "all"}, "1" * 15 + "ppp" + "0" * 25),
}
"""The paper's Table 4: 9, 13, and 15 + 3 partially correct of 43."""
TWO_BY_TWO = {
    "a-x": ({"one": "a", "two": "x"}, "1100000000"),
    "a-y": ({"one": "a", "two": "y"}, "1111000000"),
    "b-x": ({"one": "b", "two": "x"}, "1110000000"),
    "b-y": ({"one": "b", "two": "y"}, "1111111000"),
}


def cli(command: object, *arguments: object) -> Result:
    assert hasattr(command, "command")
    return CliRunner().invoke(command.command, [str(each) for each in arguments], catch_exceptions=False)


def test_the_numbers_of_table_4(build_run: BuildRun) -> None:
    study = study_of(build_run, TABLE4)
    made = study_comparison(study)
    rows = [(arm.accuracy.strict, arm.accuracy.soft) for arm in made.arms]
    assert [(strict.count, soft.count, soft.n) for strict, soft in rows] == [
        (9, 9, 43),
        (13, 13, 43),
        (15, 18, 43),
    ]
    text = cli(report, study.path).stdout
    for line in ("base 9/43 20.9", "memory 13/43 30.2", "skill 15/43 34.9"):
        assert any(" ".join(row.split()).startswith(line) for row in text.splitlines()), line
    (skill,) = (row for row in text.splitlines() if row.split()[:2] == ["skill", "15/43"])
    assert skill.split()[-5:-3] == ["18/43", "41.9"]


def test_each_arm_is_paired_with_the_baseline_and_corrected_together(build_run: BuildRun) -> None:
    made = study_comparison(study_of(build_run, TABLE4))
    memory, skill = made.comparison.versus
    assert made.comparison.baseline == "base"
    assert (memory.paired.table.only_a, memory.paired.table.only_b) == (0, 4)
    assert (memory.paired.p_exact, memory.paired.p_holm) == pytest.approx((0.125, 0.125))
    assert (skill.paired.p_exact, skill.paired.p_holm) == pytest.approx((2 / 2**6, 4 / 2**6))
    assert skill.paired.gained == [f"t{place}" for place in range(9, 15)]


def test_how_an_arm_was_made_unlike_the_baseline_is_told_without_what_follows(build_run: BuildRun) -> None:
    """A memory brings its own tools: they are no difference of their own."""
    for arm, hits, told in (
        ("off", "10", {"tools": ["answer"]}),
        ("inherit", "11", {"memory": {"mode": "inherit"}, "tools": ["answer", "recall", "remember"]}),
        ("later", "11", {"tools": ["answer"], "git": "another"}),
    ):
        run_in(build_run, arm, hits, **told)
    arms = ("off", "inherit", "later")
    study = record(build_run, {arm: {"memory": arm} for arm in arms}, [(arm, arm, None) for arm in arms])
    assert [arm.differs for arm in study_comparison(study).arms] == [[], ["memory"], ["code"]]


def test_the_readers_of_a_memory_are_counted_by_arm(build_run: BuildRun) -> None:
    run_in(build_run, "off", "10")
    run = build_run("study/inherit", memory={"mode": "inherit", "waves": 1})
    run.task("t0").episode("t0", verdict="incorrect").event("gateway", "memory_read", query="", hits=[])
    twice = [{"note": "n1", "score": 0.5}, {"note": "n1", "score": 0.4}]
    run.task("t1").episode("t1", verdict="correct").event("gateway", "memory_read", query="", hits=twice)
    note = {"id": "t0", "note": "n1", "kind": "operator", "text": "it was a Saab 340", "cites": [3]}
    jsonl.append(run.finish().memory_file, note)
    arms = {"off": {"memory": "off"}, "inherit": {"memory": "inherit"}}
    made = study_comparison(record(build_run, arms, [(arm, arm, None) for arm in arms]))
    (used,) = made.memory
    assert (used.arm, used.notes, used.readings, used.readers, used.episodes) == ("inherit", 1, 1, 1, 2)
    assert (used.correct.count, used.correct.n, used.stood) == (1, 1, 1)
    (effect,) = made.changed
    assert (effect.arm, effect.without) == ("inherit", "off")
    assert [(row.pairs, row.helped, row.hurt) for row in effect.rows] == [(1, 0, 1), (1, 1, 0), (1, 1, 0)]
    titles = {table.title for table in study_tables(made)}
    assert {"Memory by arm", "Did memory change the answer"} <= titles


def test_an_arm_with_a_memory_goes_along_beside_the_same_arm_without(build_run: BuildRun) -> None:
    """The baseline has no skills: against it the curve would show what the skills do."""
    arms = {
        "base": ({"memory": "off", "skills": "none"}, "0000"),
        "skill": ({"memory": "off", "skills": "all"}, "1100"),
        "both": ({"memory": "inherit", "skills": "all"}, "1111"),
    }
    rows = study_comparison(study_of(build_run, arms)).quarters
    told = {arm: [(row.against, row.difference) for row in rows if row.arm == arm] for arm in arms}
    assert told == {
        "base": [(None, None)] * 4,
        "skill": [("base", 1), ("base", 1), ("base", 0), ("base", 0)],
        "both": [("skill", 0), ("skill", 0), ("skill", 1), ("skill", 1)],
    }


def test_compare_takes_every_pair_of_arms(build_run: BuildRun) -> None:
    told = json.loads(cli(compare, study_of(build_run, TWO_BY_TWO).path, "--json", "--all-pairs").stdout)
    assert len(told["versus"]) == 6


def test_main_effects_are_paired_over_the_other_axes(build_run: BuildRun) -> None:
    one, two = study_comparison(study_of(build_run, TWO_BY_TWO)).effects
    assert (one.axis, one.base, one.value, one.pairs, one.tasks) == ("one", "a", "b", 2, 10)
    assert one.difference == pytest.approx((0.1 + 0.3) / 2)
    assert two.difference == pytest.approx((0.2 + 0.4) / 2)
    assert two.interval is not None
    assert two.interval.low > 0


def test_an_arm_without_a_partner_is_in_no_main_effect(build_run: BuildRun) -> None:
    """base, memory and skill: neither memory nor skill has its partner with both."""
    effects = study_comparison(study_of(build_run, TABLE4)).effects
    assert [(each.axis, each.pairs) for each in effects] == [("memory", 1), ("skills", 1)]


def test_a_task_that_one_arm_lacks_is_in_no_main_effect(build_run: BuildRun) -> None:
    arms = {**TWO_BY_TWO, "b-y": ({"one": "b", "two": "y"}, "111111100.")}
    made = study_comparison(study_of(build_run, arms))
    assert {each.tasks for each in made.effects} == {9}
    assert [arm.partial for arm in made.arms] == [False, False, False, True]


def test_runs_that_have_not_begun_are_named(build_run: BuildRun) -> None:
    run_in(build_run, "a", "10")
    study = record(build_run, {"a": {"one": "a"}, "b": {"one": "b"}}, [("a", "a", None), ("b", "b", None)])
    assert study_comparison(study).missing == ["b"]
    text = cli(report, study.path).stdout
    assert "Not begun, and in no table: b" in " ".join(text.split())
    (study.path / "a" / "run.json").unlink()
    with pytest.raises(UsageError, match="has begun: start it"):
        study_comparison(study)


def test_the_report_is_one_page_and_holds_no_gold(build_run: BuildRun) -> None:
    study = study_of(build_run, TWO_BY_TWO)
    text = cli(report, study.path).stdout
    page = study.report_html.read_text(encoding="utf-8")
    for title in (
        "Arms of study",
        "Accuracy by arm",
        "Difference",
        "Main effect of each axis",
        "Cost by arm",
    ):
        assert title in text
        assert title in page
    assert page.count("<article") == 4
    assert page.partition("<article")[0].count("<svg") == 2
    assert "secret" not in (text + page).casefold()
    assert max(map(len, text.splitlines()[:-6])) <= 100
    assert "An improvement of" in text


def test_json_has_the_study_and_its_runs(build_run: BuildRun) -> None:
    study = study_of(build_run, TWO_BY_TWO)
    told = json.loads(cli(report, study.path, "--json").stdout)
    assert [arm["arm"] for arm in told["study"]["arms"]] == list(TWO_BY_TWO)
    assert [run["run"]["name"] for run in told["runs"]] == list(TWO_BY_TWO)
    assert told["study"]["detectable"]["tasks"] == 10


def test_compare_takes_a_study_for_its_arms(build_run: BuildRun) -> None:
    study = study_of(build_run, TWO_BY_TWO)
    told = json.loads(cli(compare, study.path, "--json").stdout)
    assert [versus["paired"]["b"] for versus in told["versus"]] == list(TWO_BY_TWO)[1:]
    assert "Task by task" in cli(compare, study.path).stdout
