"""Tool use by skill, and what counts as an act under `--acts all`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from fieldmark.commands.report import command
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.act_tables import skills_table
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

SKILLS = {
    "skills": {"zoom-and-read": "0" * 64, "food": "1" * 64},
    "carries": {"zoom-and-read": ["ocr", "crop_zoom"], "food": []},
}


def used(build_run: BuildRun) -> RunDir:
    run = build_run(**SKILLS)
    first = run.task("a").episode("a", verdict="correct")
    first.step(("read_skill", "ok")).event(
        "sandbox", "skill_read", skill="zoom-and-read", file="SKILL.md", sha256="0" * 64
    )
    first.step(("ocr", "ok"), ("ocr", "failed"), ("web_search", "ok"))
    run.task("b").episode("b", verdict="incorrect").step(("recall", "ok"))
    return run.finish()


def test_a_skill_has_the_calls_of_the_tools_it_carries(build_run: BuildRun) -> None:
    assert skills_table(summarise(used(build_run))).rows == [
        ["food", "0", "0/2", "–", "–", "–", "–", "–", "–"],
        ["zoom-and-read", "2", "1/2", "1/2", "50.0", "2", "1/2", "50.0", "runtime 1"],
        ["(no skill)", "1", "–", "1/2", "50.0", "1", "0/1", "0.0", "–"],
    ]


def test_a_run_that_does_not_say_what_skills_carry_has_only_who_read_them(build_run: BuildRun) -> None:
    folder = used(build_run)
    folder.write_config({key: value for key, value in folder.config().items() if key != "carries"})
    table = skills_table(summarise(folder))
    assert table.rows[1] == ["zoom-and-read", "–", "1/2", "–", "–", "–", "–", "–", "–"]
    assert "does not say" in table.note


def test_acts_all_counts_skills_and_memory_too(build_run: BuildRun) -> None:
    folder = used(build_run)

    def use(*options: str) -> tuple[int, float]:
        done = CliRunner().invoke(command, [str(folder.path), "--json", *options])
        found = json.loads(done.stdout)["runs"][0]["tool_use"]
        return found["acts"], found["usage"]["fraction"]

    assert use() == (3, 0.5)
    assert use("--acts", "all") == (5, 1.0)
    assert "are acts too here" in CliRunner().invoke(command, [str(folder.path), "--acts", "all"]).stdout
