"""Helped, hurt, both, neither; tool gain; every pair: from constructed run folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fieldmark.commands.compare import command
from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.comparison.paired import Side
from fieldmark.evals.comparison.twin import Twin, twin
from fieldmark.evals.metrics.shares import Share, wilson
from fieldmark.rundir import RunDir
from tests.evals.comparison.test_compare import run_of

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

AGENT, CLOSED = "1110000000", "1001100000"
"""Of ten tasks: helped 2, hurt 2, both 1, neither 5."""


def pair(build_run: BuildRun, **closed: object) -> tuple[RunDir, RunDir]:
    settings = {"agent": "closed_book", "tools": [], **closed}
    return run_of(build_run, "agent", AGENT), run_of(build_run, "closed", CLOSED, **settings)


def counts(told: Twin | None, top: str = "all") -> dict[str, int]:
    assert told is not None
    return {row.outcome: round(row.share.count) for row in told.rows if row.top == top}


def test_helped_and_hurt_whichever_run_is_named_first(build_run: BuildRun) -> None:
    agent, closed = map(Side, pair(build_run))
    for told in (twin(agent, closed), twin(closed, agent)):
        assert counts(told) == {"helped": 2, "hurt": 2, "both": 1, "neither": 5}
        assert told is not None
        assert (told.agent, told.closed_book) == ("agent", "closed")


def test_each_category_with_its_n_and_interval(build_run: BuildRun) -> None:
    runs = []
    for name, agent, hits in (("agent", "react", "110"), ("closed", "closed_book", "100")):
        run = build_run(name, agent=agent)
        for place, hit in enumerate(hits):
            run.task(f"t{place}", top="Nature" if place < 2 else "Culture")
            run.episode(f"t{place}", verdict="correct" if hit == "1" else "incorrect")
        runs.append(Side(run.finish()))
    told = twin(*runs)
    assert counts(told, "Nature") == {"helped": 1, "hurt": 0, "both": 1, "neither": 0}
    assert counts(told, "Culture") == {"helped": 0, "hurt": 0, "both": 0, "neither": 1}
    assert told is not None
    last = told.rows[-4]
    assert (last.top, last.share, last.interval) == ("all", Share.of(1, 3), wilson(Share.of(1, 3)))


def test_another_model_is_no_twin(build_run: BuildRun) -> None:
    agent, closed = pair(build_run, model={"name": "another"})
    assert twin(Side(agent), Side(closed)) is None
    assert comparison([agent, closed]).versus[0].warnings[0].startswith("more than one thing differs")


def test_a_twin_differs_in_one_thing(build_run: BuildRun) -> None:
    agent, closed = pair(build_run)
    (versus,) = comparison([agent, closed]).versus
    assert ([each.aspect for each in versus.differences], versus.follows) == (["agent", "tools"], ["tools"])
    assert versus.warnings == []
    text = CliRunner().invoke(command, [str(agent.path), str(closed.path)]).stdout
    assert "Helped or hurt: agent against closed book" in text
    assert "tools: only because another thing differs." in text
    assert max(map(len, text.splitlines())) <= 100


def test_tool_gain_is_named_after_the_difference(build_run: BuildRun) -> None:
    base = run_of(build_run, "base", "1110000000", tools=["answer", "crop_zoom"])
    more = run_of(build_run, "more", "1111100000", tools=["answer", "ocr"])
    other = run_of(build_run, "other", "1111100000", tools=["answer", "ocr"], seed=3)
    one, two = comparison([base, more, other]).versus
    assert (one.gain, two.gain) == ("+ocr, −crop_zoom", None)
    text = CliRunner().invoke(command, [str(base.path), str(more.path)]).stdout
    (row,) = [line for line in text.splitlines() if "+ocr, −crop_zoom" in line]
    assert "+20.0" in row


@pytest.mark.parametrize(
    ("was", "now", "gain"),
    [
        ({"skills": {"food": "1"}}, {"skills": {}}, "−skill food"),
        ({"skills": {"food": "1"}}, {"skills": {"food": "2"}}, "skills.food 1 → 2"),
        ({"ocr": "tesseract"}, {"ocr": "rapidocr"}, "ocr tesseract → rapidocr"),
        ({"tools": []}, {"tools": list("abcdefgh")}, "+a, +b, +c, +d, +e, +f and 2 more"),
    ],
)
def test_what_a_gain_is_called(
    build_run: BuildRun, was: dict[str, object], now: dict[str, object], gain: str
) -> None:
    runs = [run_of(build_run, "a", "10", **was), run_of(build_run, "b", "11", **now)]
    assert comparison(runs).versus[0].gain == gain


def test_every_pair_is_corrected_over_all(build_run: BuildRun) -> None:
    hits = {"A": "000000000", "B": "111111111", "C": "111111100"}
    runs = [run_of(build_run, name, row) for name, row in hits.items()]
    made = comparison(runs, all_pairs=True)
    pairs = [(versus.paired.a, versus.paired.b) for versus in made.versus]
    assert (made.baseline, pairs) == (None, [("A", "B"), ("A", "C"), ("B", "C")])
    assert [versus.paired.p_holm for versus in made.versus] == pytest.approx([6 / 2**9, 4 / 2**7, 0.5])
    paths = [str(run.path) for run in runs]
    text = CliRunner().invoke(command, [*paths, "--all-pairs"]).stdout
    assert "corrected for 3" in text
    assert max(map(len, text.splitlines())) <= 100
    assert (
        json.loads(CliRunner().invoke(command, [*paths, "--all-pairs", "--json"]).stdout)["baseline"] is None
    )


def test_two_runs_on_the_live_web_saw_no_common_snapshot(build_run: BuildRun, tmp_path: Path) -> None:
    a, b = (run_of(build_run, name, "10", web={"mode": "live"}) for name in ("A", "B"))
    (warning,) = comparison([a, b]).versus[0].warnings
    assert warning.startswith("the web was live in A and B")
