"""A run folder that a kill or a hand has damaged: no row is lost for another, no traceback reaches a user."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldmark import jsonl
from fieldmark.evals.metrics.summary import summarise
from fieldmark.records import Verdict
from tests.evals.conftest import RunBuilder


def test_a_row_after_a_half_written_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    jsonl.append(path, {"n": 1})
    path.write_bytes(path.read_bytes() + b'{"n": 2, "te')
    jsonl.append(path, {"n": 3})
    jsonl.append(path, {"n": 4})
    lines = jsonl.read(path)
    assert (lines.rows, lines.bad, lines.torn) == ([{"n": 1}, {"n": 3}, {"n": 4}], [2], False)


def test_a_row_without_its_line_end_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}')
    jsonl.append(path, {"n": 2})
    assert jsonl.read(path).rows == [{"n": 1}, {"n": 2}]


def test_a_verdict_after_a_half_written_one_counts(tmp_path: Path) -> None:
    built = RunBuilder(tmp_path / "run").task("a")
    built.episode("a").answer("Saab 340")
    run = built.finish()
    run.verdicts_file.write_bytes(b'{"id":"a","epo')
    run.add_verdict(Verdict(id="a", label="correct", score=1, judge="exact"))
    assert summarise(run).accuracy.headline.strict.fraction == 1


@pytest.mark.parametrize("row", [{}, {"id": 5}, {"id": None, "answer": 3}, {"answer": "x", "odd": 1}])
def test_a_row_that_is_no_gold_is_told_and_left_out(tmp_path: Path, row: dict[str, object]) -> None:
    built = RunBuilder(tmp_path / "run").task("a")
    built.episode("a", verdict="correct")
    run = built.finish()
    jsonl.append(run.gold_file, row)
    assert [*run.gold()] == ["a"]
    assert "gold.jsonl: 1 rows are not what this file holds and were skipped" in summarise(run).caveats
