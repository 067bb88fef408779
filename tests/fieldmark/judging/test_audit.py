"""A person's sample of the judged answers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from fieldmark.errors import UsageError
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.findings import FailureMark
from fieldmark.judging.audit import draw, lines, run_audit
from fieldmark.rundir import RunDir
from tests.conftest import FIELDMARK
from tests.evals.conftest import RunBuilder


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """20 answers, 8 of them called correct, and 5 time-outs."""
    built = RunBuilder(tmp_path / "out")
    for number in range(20):
        built.task(f"t{number:02}").episode(f"t{number:02}", verdict="correct" if number < 8 else "incorrect")
    for number in range(5):
        built.task(f"late{number}").episode(f"late{number}", status="timeout", verdict="incorrect")
    return built.finish()


def audited(run: RunDir, sample: int, keys: str) -> tuple[list[str], list[str]]:
    """What it prints at the end, and what it shows before."""
    left, shown = list(keys), list[str]()
    facts = run_audit(run, sample, 0, lambda: left.pop(0) if left else "", shown.append)
    return lines(facts), shown


def test_a_sample_is_of_all_verdicts_and_grows(run: RunDir) -> None:
    grid = cells(run)
    drawn = draw(grid, 10, 3)
    assert draw(grid, 15, 3)[:10] == drawn
    assert draw(grid, 10, 4) != drawn
    assert {cell.outcome for cell in draw(grid, 99, 3)} == {"correct", "incorrect"}
    assert len(draw(grid, 99, 3)) == 20


def test_the_figures_follow_from_what_the_person_says(run: RunDir) -> None:
    order = [cell.outcome for cell in draw(cells(run), 20, 0)]
    wrong, right = order.index("correct"), order.index("incorrect")
    keys = ["y" if outcome == "correct" else "n" for outcome in order]
    keys[wrong], keys[right] = "n", "y"
    told, shown = audited(run, 20, "".join(keys))
    assert told == [
        "audited: 20 answers, 0 of them unsure",
        "precision of `correct`: 87.5 % (7/8, 95 % CI 52.9–97.8)",
        "found correct among the other verdicts: 8.3 % (1/12)",
        "accuracy by the judge: 32.0 % (8/25 done); corrected: 32.0 % (95 % CI 20.5–45.4)",
    ]
    assert "incorrect" not in " ".join(shown)
    assert any("SECRET-t" in line for line in shown)


def test_it_goes_on_where_it_was_left(run: RunDir) -> None:
    audited(run, 6, "yx?q")
    told, shown = audited(run, 6, "nnnn")
    assert told[0] == "audited: 6 answers, 1 of them unsure"
    assert "4 left" in shown[0]
    assert len(run.audit_file.read_text().splitlines()) == 6


def test_a_doubt_stands_beside_the_verdict_and_in_no_figure(run: RunDir) -> None:
    before, _ = audited(run, 2, "yy")
    asked, right = draw(cells(run), 1, 0)[0].id, "t03"
    for task in {right, asked}:
        run.add_failure_mark(
            FailureMark(id=task, annotator="ann", label="judge_or_label_doubt", note="an\n\x1b[31mA320")
        )
    run.add_failure_mark(FailureMark(id="t09", annotator="ann", label="too_broad"))
    told, shown = audited(run, 2, "")
    assert told[: len(before)] == before
    assert told[len(before)] == "in doubt by persons, in no figure above: 2 verdicts"
    assert any(line.startswith("  t03 is correct; the audit did not ask; ann doubts it: an") for line in told)
    assert any(f"  {asked} is " in line and "the audit says right" in line for line in told)
    assert "\x1b" not in "".join(told)
    assert "A320" not in "".join(shown)  # a person is asked without being told


def test_without_a_sample_of_both_there_is_no_corrected_accuracy(run: RunDir) -> None:
    told, _ = audited(run, 1, "y")
    assert told[-1] == "accuracy by the judge: 32.0 % (8/25 done); corrected: – % (95 % CI –)"


def test_a_run_without_verdicts_or_gold_is_refused(run: RunDir) -> None:
    run.gold_file.unlink()
    with pytest.raises(UsageError, match="audit where the run was made"):
        audited(run, 5, "y")
    run.verdicts_file.unlink()
    with pytest.raises(UsageError, match=r"no answer of .* is judged"):
        audited(run, 5, "y")


def test_keys_come_from_the_input(run: RunDir, tmp_path: Path) -> None:
    done = subprocess.run(
        [FIELDMARK, "judge", "out", "--audit", "--sample", "3", "--json"], input="y\n\nn\n", text=True,
        capture_output=True, cwd=tmp_path, env=os.environ, timeout=120,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["sampled"]) == (0, 2), done.stderr
