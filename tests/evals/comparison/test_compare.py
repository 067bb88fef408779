"""`fieldmark compare`, from constructed run folders to figures, text, HTML and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fieldmark.commands.compare import command
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.comparison.paired import Side, clusters, compare
from fieldmark.evals.judges.normalise import fold_case
from fieldmark.rundir import RunDir
from fieldmark.task import Gold

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

HITS = {"A": "1111100000", "B": "1111011110"}
"""Task by task: both right 4, only A 1, only B 4, neither 1."""


def run_of(build_run: BuildRun, name: str, hits: str, **config: object) -> RunDir:
    run = build_run(name, **config)
    for place, hit in enumerate(hits):
        run.task(f"t{place}")
        if hit != ".":
            run.episode(f"t{place}", verdict="correct" if hit == "1" else "incorrect")
    return run.finish()


def cli(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def two(build_run: BuildRun) -> list[RunDir]:
    return [run_of(build_run, name, hits) for name, hits in HITS.items()]


def test_the_paired_table_and_what_flipped(build_run: BuildRun) -> None:
    paired = comparison(two(build_run)).versus[0].paired
    table = paired.table
    assert (table.both, table.only_a, table.only_b, table.neither) == (4, 1, 4, 1)
    assert (paired.lost, paired.gained) == (["t4"], ["t5", "t6", "t7", "t8"])
    assert (paired.accuracy_a, paired.accuracy_b) == (0.5, 0.8)
    assert paired.difference == pytest.approx(0.3)
    assert paired.p_exact == pytest.approx(0.375)  # 2 * P(X <= 1), X ~ Bin(5, 1/2)
    assert paired.p_holm == paired.p_exact


def test_the_interval_is_the_same_for_the_same_seed(build_run: BuildRun) -> None:
    a, b = map(Side, two(build_run))
    first, again, other = (compare(a, b, seed=seed).interval for seed in (1, 1, 2))
    assert first == again
    assert first is not None
    assert other is not None
    assert first.low < 0.3 < first.high


def test_tasks_with_one_target_are_one_cluster(build_run: BuildRun) -> None:
    a, b = two(build_run)
    for run in (a, b):
        gold = {f"t{n}": Gold(answer="Saab 340" if n < 6 else f"Saab {n}") for n in range(10)}
        run.write_tasks(run.tasks(), gold)
    assert compare(Side(a), Side(b)).clusters == 5


def test_the_targets_of_fika_are_228_clusters_of_311_tasks() -> None:
    """As in FIKA-Bench; case, width and dashes do not make another target."""
    answers = [f"Saab\u2010{n}" if n < 228 else f"SAAB-{n - 228}" for n in range(311)]
    targets = {f"t{n}": fold_case(answer) for n, answer in enumerate(answers)}
    found = clusters(list(targets), targets)
    assert (len(found), sum(map(len, found))) == (228, 311)


def test_several_comparisons_are_corrected_together(build_run: BuildRun) -> None:
    runs = [
        run_of(build_run, name, hits)
        for name, hits in (("A", "0" * 9), ("B", "1" * 9), ("C", "1" * 7 + "00"))
    ]
    made = comparison(runs)
    assert [versus.paired.p_exact for versus in made.versus] == pytest.approx([2 / 2**9, 2 / 2**7])
    assert [versus.paired.p_holm for versus in made.versus] == pytest.approx([4 / 2**9, 2 / 2**7])


def test_tasks_that_cannot_be_paired_are_named(build_run: BuildRun) -> None:
    a = run_of(build_run, "A", "1101.")
    other = build_run("B").task("t0").task("t1").task("t2").task("new")
    other.episode("t0", verdict="correct")
    other.episode("t1", status="sandbox_error")
    other.episode("t2")
    made = comparison([a, other.finish()])
    left_out = {group.why: group.ids for group in made.versus[0].paired.unpaired}
    assert made.partial == ["A", "B"]
    assert made.versus[0].paired.table.n == 1
    assert left_out == {
        "only in A": ["t3", "t4"],
        "only in B": ["new"],
        "not run, broken or unjudged in B": ["t1", "t2"],
    }


def test_another_question_under_the_same_id_is_not_paired(build_run: BuildRun) -> None:
    a, b = two(build_run)
    rows = b.tasks()
    rows[3]["question"] = "Which airline is this?"
    b.write_tasks(rows, b.gold())
    (group,) = compare(Side(a), Side(b)).unpaired
    assert (group.why, group.ids) == ("another question or picture under the same id", ["t3"])


def test_a_task_of_several_epochs_is_one_pair(build_run: BuildRun) -> None:
    """Two of three epochs right is right in the table; the difference takes the mean."""
    runs = []
    for name, hits in (("A", "110"), ("B", "100")):
        run = build_run(name, config={"epochs": 3}).task("t")
        for epoch, hit in enumerate(hits):
            run.episode("t", epoch=epoch, verdict="correct" if hit == "1" else "incorrect")
        runs.append(run.finish())
    paired = comparison(runs).versus[0].paired
    assert (paired.table.n, paired.lost) == (1, ["t"])
    assert paired.difference == pytest.approx(-1 / 3)


def test_more_than_one_difference_is_a_warning(build_run: BuildRun) -> None:
    a = run_of(build_run, "A", "10", image={"id": "sha256:1"}, prompts={"react.md": "a"})
    b = run_of(build_run, "B", "11", image={"id": "sha256:1"}, prompts={"react.md": "b"})
    c = run_of(build_run, "C", "11", image={"id": "sha256:2"}, prompts={"react.md": "b"})
    one, more = comparison([a, b, c]).versus
    assert [(each.aspect, each.details) for each in one.differences] == [
        ("prompts", [("prompts.react.md", "a", "b")])
    ]
    assert one.warnings == []
    assert more.warnings[0].startswith("more than one thing differs (prompts, image)")


def test_the_differences_come_first_and_all_fits_a_hundred_columns(build_run: BuildRun) -> None:
    a, b = two(build_run)
    text = cli(a.path, b.path).stdout
    assert text.lstrip().startswith("What differs")
    assert "+30.0" in text
    assert "0.3750" in text
    assert max(map(len, text.splitlines())) <= 100


def test_json_and_html_hold_no_gold(build_run: BuildRun, tmp_path: Path) -> None:
    a, b = two(build_run)
    page = tmp_path / "compared.html"
    result = cli(a.path, b.path, "--json", "--html", page)
    assert json.loads(result.stdout)["versus"][0]["paired"]["gained"] == ["t5", "t6", "t7", "t8"]
    html = page.read_text(encoding="utf-8")
    assert html.index("What differs") < html.index("Task by task") < html.index("<article")
    assert "secret" not in (result.stdout + html).casefold()


def test_runs_without_a_common_task_say_so(build_run: BuildRun) -> None:
    a = build_run("A").task("a")
    b = build_run("B").task("b")
    text = cli(a.finish().path, b.finish().path).stdout
    assert "no task is done in both runs" in text
    assert "nan" not in text.casefold()


def test_one_run_or_one_twice_is_refused(build_run: BuildRun) -> None:
    a = run_of(build_run, "A", "10")
    with pytest.raises(UsageError, match="two or more"):
        comparison([a])
    with pytest.raises(UsageError, match="named twice"):
        comparison([a, RunDir.open(a.path)])


def test_the_commands_load_no_statistics_before_they_are_called() -> None:
    """`fieldmark --help` and `compare --help` are instant."""
    code = (
        "import sys, fieldmark.cli, fieldmark.commands.compare, fieldmark.commands.power;"
        "print([name for name in ('numpy', 'scipy', 'statsmodels', 'pandas') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
