"""The paper's figures beside ours: consistent in themselves, marked as not paired, and what is not alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fieldmark.commands import compare, report
from fieldmark.errors import UsageError
from fieldmark.evals.comparison.published import PARTS, Beside, benchmarks, beside, published
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, RunBuilder

FULL = {"judge": "llm-1", "protocol": {"name": "fika", "fixes": {}}, "benchmark": {"name": "fika"}}


def fika(build_run: BuildRun, name: str = "ours", tasks: int = 311, **config: object) -> RunBuilder:
    """Every third task is right; the first 195 are public."""
    run = build_run(name, **{**FULL, **config})
    for place in range(tasks):
        run.task(f"t{place}", split="public" if place < 195 else "real-life")
        run.episode(f"t{place}", verdict="incorrect" if place % 3 else "correct")
    return run


def of_judge(run: RunDir) -> RunDir:
    """The builder's verdicts are by `exact`; here they are the model's."""
    text = run.verdicts_file.read_text(encoding="utf-8")
    run.verdicts_file.write_text(text.replace('"judge":"exact"', '"judge":"llm-1"'), encoding="utf-8")
    return run


def figures(told: Beside, name: str) -> dict[str, tuple[float, int]]:
    row = next(row for row in told.rows if row.name == name)
    return {part: (cell.share.count, cell.share.n) for part, cell in row.parts.items()}


@pytest.mark.parametrize("benchmark", benchmarks())
def test_each_count_is_the_only_one_that_rounds_to_what_is_printed(benchmark: str) -> None:
    told = published(benchmark)
    for system in told.systems:
        found = {part: system[part] for part in PARTS if part in system}
        for part, figure in found.items():
            assert not isinstance(figure, str)
            near = [
                n
                for n in range(told.tasks[part])
                if f"{100 * n / told.tasks[part]:.1f}" == str(figure.printed)
            ]
            assert figure.printed is None or near == [figure.count]
        counts = [figure.count for figure in found.values() if not isinstance(figure, str)]
        assert len(counts) < 3 or counts[0] == counts[1] + counts[2]
        derived = [
            part for part, figure in found.items() if not isinstance(figure, str) and not figure.printed
        ]
        assert not derived or (len(derived), len(found)) == (1, 3)


def test_ours_stands_first_with_its_own_n(build_run: BuildRun) -> None:
    told = beside([of_judge(fika(build_run).finish())])
    assert told.rows[0].ours
    assert figures(told, "ours") == {"overall": (104, 311), "public": (65, 195), "real-life": (39, 116)}
    assert figures(told, "Kimi-K2.6, closed book")["overall"] == (78, 311)
    assert told.warnings == ["ours: the paper does not say which model judged"]


def test_what_is_not_as_in_the_paper_is_said(build_run: BuildRun) -> None:
    run = fika(build_run, tasks=200, judge="exact", protocol=None, picture="blank").task("more").finish()
    assert beside([run]).warnings == [
        "ours: 201 of 311 tasks",
        "ours: 200 of 201 tasks done and judged",
        "ours: not --protocol fika",
        "ours: judged by exact, the paper by a model",
        "ours: image blank",
    ]


def test_another_benchmark_has_no_published_figures(build_run: BuildRun) -> None:
    with pytest.raises(
        UsageError, match=r"--published has figures of fika, pix2fact, .* is over constructed"
    ):
        beside([build_run().task("a").finish()])


def test_pix2facts_headline_is_no_figure_of_the_thousand(build_run: BuildRun) -> None:
    """24.0 % is the mean of two exams of 50; over all 1,000 the same system has 27.0 %."""
    run = build_run(benchmark={"name": "pix2fact"}, protocol={"name": "pix2fact"}, judge="pix2fact/m/0")
    run.task("a").episode("a", verdict="correct")
    told = beside([run.finish()])
    assert figures(told, "Gemini-3-Pro, web search") == {"overall": (270, 1000)}
    assert (240, 1000) not in [figures(told, row.name)["overall"] for row in told.rows[1:]]
    assert "run: judged by pix2fact/m/0, the paper by gpt-4o-2024-11-20" in told.warnings


def test_runs_over_two_benchmarks_have_no_figures_in_common(build_run: BuildRun) -> None:
    other = build_run("other", benchmark={"name": "pix2fact"}).task("a").finish()
    with pytest.raises(UsageError, match="--published is for one benchmark"):
        beside([fika(build_run, tasks=1).finish(), other])


def test_report_and_compare_show_them(build_run: BuildRun) -> None:
    a, b = (str(fika(build_run, name, 6, judge="exact").finish().path) for name in "ab")
    for told in (
        CliRunner().invoke(report.command, [a, "--published"], catch_exceptions=False),
        CliRunner().invoke(compare.command, [a, b, "--published"], catch_exceptions=False),
    ):
        assert "Published figures of fika, not paired" in told.stdout
        assert "13.8*" in told.stdout
        assert max(map(len, told.stdout.partition("Published")[2].splitlines())) <= 100
    assert "Published figures of fika, not paired" in (Path(a) / "report.html").read_text(encoding="utf-8")
    for command, arguments in ((report.command, [a]), (compare.command, [a, b])):
        text = CliRunner().invoke(command, [*arguments, "--published", "--json"]).stdout
        assert json.loads(text)["published"]["rows"][0]["name"] == "a"
