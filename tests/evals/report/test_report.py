"""`fieldmark report`, from constructed run folders to text, HTML and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fieldmark.commands.report import command
from fieldmark.errors import UsageError
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import render_html
from tests.evals.papers.fika_runs import openclaw_small

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def report(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_output_fits_a_hundred_columns_without_colour_when_piped(build_run: BuildRun) -> None:
    text = report(openclaw_small(build_run()).path).stdout
    lines = [line for line in text.splitlines() if not line.startswith("report: ")]
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in text
    assert "NaN" not in text


def test_a_run_without_anything_prints_dashes(build_run: BuildRun) -> None:
    result = report(build_run().task("a").finish().path)
    assert result.exit_code == 0
    assert "nan" not in result.stdout.casefold()
    assert "PARTIAL" in result.stdout


def test_a_model_without_sight_is_marked_in_every_table(build_run: BuildRun) -> None:
    run = build_run(sees=False).task("a")
    run.episode("a", verdict="correct").step(("ocr", "ok"))
    page = render_html([summarise(run.finish())])
    titles = [line for line in page.splitlines() if "<h4>" in line]
    assert len(titles) >= 10
    assert all("no vision" in line for line in titles)


def test_the_page_is_written_into_the_run_folder_or_where_it_is_told(
    build_run: BuildRun, tmp_path: Path
) -> None:
    folder = build_run().task("a").finish()
    report(folder.path)
    assert folder.report_html.exists()
    other = tmp_path / "other.html"
    assert f"report: {other}" in report(folder.path, "--html", other).stdout
    assert other.exists()


def test_the_page_is_self_contained_and_holds_nothing_private(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a", verdict="incorrect").step(("ocr", "ok")).answer("Saab 340")
    page = render_html([summarise(run.finish())])
    assert "Saab 340" in page
    assert "SECRET" not in page
    assert "default-src 'none'" in page
    assert page.count("<script") == 1  # it copies tables, and is allowed by its hash
    assert not any(word in page for word in ("http://", "https://", "unsafe", " style="))
    assert set(re.findall(r'(?:src|href)="(#|data:image/jpeg;|)', page)) == {"#"}


def test_runs_of_different_benchmarks_are_said_not_to_be_comparable(build_run: BuildRun) -> None:
    folders = []
    for name in ("first", "second"):
        run = build_run(name, benchmark={"name": name, "version": "1", "tasks": 1}).task("a")
        run.episode("a", verdict="correct")
        folders.append(run.finish().path)
    text = " ".join(report(*folders).stdout.split())
    assert "Not comparable: the benchmarks differ (first 1, second 1)" in text


def test_without_its_tasks_a_run_says_what_is_unknown(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b")
    run.episode("a", verdict="correct")
    folder = run.finish()
    folder.tasks_file.unlink()
    assert any("tasks.jsonl is missing" in caveat for caveat in summarise(folder).caveats)


def test_names_from_a_model_cannot_drive_the_terminal(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a").step(("[red]x\x1b[2J", "not_offered"))
    text = report(run.finish().path).stdout
    assert "\x1b" not in text
    assert "[red]x\ufffd[2J" in text


def test_json_is_all_that_is_printed_and_holds_fractions(build_run: BuildRun) -> None:
    folder = openclaw_small(build_run())
    found = json.loads(report(folder.path, "--json").stdout)["runs"][0]
    assert found["tool_use"]["errors"] == {
        "count": 544,
        "n": 604,
        "fraction": pytest.approx(0.9007, abs=1e-4),
    }
    assert "SECRET" not in json.dumps(found)


def test_micro_and_macro_are_printed_by_name_and_in_one_unit(build_run: BuildRun) -> None:
    """0.82 is a fraction in JSON, 82.0 under a heading with a % for people; 85 or 50/100 nowhere."""
    run = build_run()
    for number in range(100):
        top, good = ("A", number < 81) if number < 90 else ("B", number < 91)
        run.task(f"t{number}", top=top).episode(f"t{number}", verdict="correct" if good else "incorrect")
    folder = run.finish()
    text = report(folder.path).stdout
    heading = " ".join(text[text.index("Accuracy by denominator") :].split("─")[0].split())
    assert all(name in heading for name in ("micro", "macro", "strict", "%"))
    assert any(line.split()[:3] == ["all", "82.0", "50.0"] for line in text.splitlines())
    assert "<b>82.0 %</b>" in folder.report_html.read_text()
    found = json.loads(report(folder.path, "--json").stdout)["runs"][0]["accuracy"]
    assert (found["rows"][-1]["strict"]["fraction"], found["macro"][0]["strict"]) == (0.82, 0.5)


def test_unjudged_answers_are_printed_with_the_bound_they_leave(build_run: BuildRun) -> None:
    run = build_run()
    for number in range(10):
        run.task(f"t{number}").episode(f"t{number}", verdict="correct" if number < 6 else None)
    text = " ".join(report(run.finish().path).stdout.split())
    assert "6/6 done; 6/10 attempted" in text
    assert "Were all unjudged answers correct, strict would be 100.0 %." in text


def test_several_runs_are_compared(build_run: BuildRun, tmp_path: Path) -> None:
    folders = []
    for name in ("first", "second"):
        run = build_run(name, sees=name == "first").task("a")
        run.episode("a", verdict="correct")
        folders.append(run.finish())
    page = tmp_path / "both.html"
    text = report(*(folder.path for folder in folders), "--html", page).stdout
    assert "Runs compared" in text
    assert "second · no vision" in text
    assert "benchmarks differ" not in text
    assert page.read_text().count("<article") == 2
    assert not folders[0].report_html.exists()


def test_mistakes_are_one_sentence(build_run: BuildRun, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run folder"):
        report(tmp_path)
    folder = build_run().task("a").finish()
    with pytest.raises(UsageError, match="--html FILE"):
        report(folder.path, "--html", tmp_path / "missing" / "x.html")


def test_a_row_that_is_no_episode_or_verdict_is_skipped_and_said(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b")
    run.episode("a", verdict="correct")
    run.episode("b", verdict="correct")
    folder = run.finish()
    rows = folder.verdicts_file.read_text().splitlines()
    folder.verdicts_file.write_text(f"{rows[0]}\n{rows[1].replace('1.0', 'NaN')}\n")
    folder.episodes_file.write_text(folder.episodes_file.read_text() + '{"id": "c"}\n')
    text = " ".join(report(folder.path).stdout.split())
    assert "verdicts.jsonl: 1 row is not what this file holds: skipped" in text
    assert "episodes.jsonl: 1 row is" in text
    assert "100.0 % correct (1/1 done" in text


def test_missing_facts_are_question_marks(build_run: BuildRun) -> None:
    folder = build_run().task("a").finish()
    folder.run_json.write_text('{"run_version": 1}')
    facts = summarise(folder).run
    assert (facts.agent, facts.model, facts.benchmark, facts.sees) == ("?", "?", "?", True)
