"""The tables and figures of FIKA-Bench's paper come out of run folders with its counts, as it prints them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fieldmark.commands.report import command
from tests.evals.papers import fika_runs
from tests.evals.papers.printed import page, printed

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


@pytest.mark.parametrize(
    ("system", "public", "real_life", "overall", "shown"),
    [
        ("Kimi-K2.6, closed book", 42, 36, "78/311 25.1", ("21.5", "31.0")),
        ("Gemini-3.1-Flash-Lite, closed book", 33, 31, "64/311 20.6", ("16.9", "26.7")),
        ("OpenClaw + Qwen3.5-397B-A17B", 26, 33, "59/311 19.0", ("13.3", "28.4")),
        ("OpenClaw + Qwen3-VL-8B", 16, 27, "43/311 13.8", ("8.2", "23.3")),
    ],
)
def test_accuracy_overall_and_by_split(
    build_run: BuildRun, system: str, public: int, real_life: int, overall: str, shown: tuple[str, str]
) -> None:
    folder = fika_runs.results(build_run(model={"name": system}), {"public": public, "real-life": real_life})
    wanted = [
        f"all all (micro) 311 {overall} ",
        f"public all (micro) 195 {public}/195 {shown[0]} ",
        f"real-life all (micro) 116 {real_life}/116 {shown[1]} ",
    ]
    text, rows = printed(folder), page(folder)["Accuracy"]
    assert all(any(line.startswith(row) for line in text.splitlines()) for row in wanted)
    assert all(any(line.startswith(row) for line in rows) for row in wanted)


@pytest.mark.parametrize(
    ("system", "correct", "wanted"),
    [
        (
            "Qwen3.5-397B-A17B, closed book",
            {"public": 27, "real-life": 0},
            "public all (micro) 195 27/195 13.8 ",
        ),
        ("Fine-R1-7B", {"public": 20, "real-life": 16}, "all all (micro) 311 36/311 11.6 "),
        ("VisualRFT-7B", {"public": 12, "real-life": 9}, "all all (micro) 311 21/311 6.8 "),
    ],
)
def test_rows_of_which_one_figure_is_published(
    build_run: BuildRun, system: str, correct: dict[str, int], wanted: str
) -> None:
    """What the paper leaves out of them is filled with anything here."""
    folder = fika_runs.results(build_run(model={"name": system}), correct)
    assert any(line.startswith(wanted) for line in printed(folder).splitlines())


def test_accuracy_of_a_category_in_a_split(build_run: BuildRun) -> None:
    folder = fika_runs.results(build_run(), {"public": 42, "real-life": 36}, transport=29)
    lines = printed(folder).splitlines()
    assert any(line.startswith("public Transport 65 29/65 44.6 ") for line in lines)
    assert any(line.startswith("public Culture 31 2/31 6.5 ") for line in lines)


def test_tool_errors_of_a_model_that_calls_what_is_no_tool(build_run: BuildRun) -> None:
    """1.94 acts an example, 90.1 % of them failed, 519 of those 544 because there is no such tool."""
    folder = fika_runs.openclaw_small(build_run())
    row = "311 310/311 99.7 604 1.94 544/604 90.1 519 0"
    text = printed(folder)
    assert row in text
    assert page(folder)["Tool use"][-1].startswith(row)
    assert "image 400 66.2 400/400 100.0 not_found 400" in text
    assert "reverse-image-search 119 19.7 119/119 100.0 not_found 119" in text


def test_tool_use_of_an_agent_that_seldom_acts(build_run: BuildRun) -> None:
    """OpenCode + Qwen3-VL-8B: 47.9 % of examples with an act, 0.51 acts an example (158, 159 or 160)."""
    folder = fika_runs.tool_use(build_run(), 149, [("ocr", "ok")] * 159)
    row = "311 149/311 47.9 159 0.51 0/159 0.0 0 0"
    assert row in printed(folder)
    assert page(folder)["Tool use"][-1].startswith(row)


@pytest.mark.parametrize(
    ("with_an_act", "calls", "row"),
    [(304, 516, "311 304/311 97.7 516 1.66"), (310, 604, "311 310/311 99.7 604 1.94")],
)
def test_tool_use_of_agents_that_nearly_always_act(
    build_run: BuildRun, with_an_act: int, calls: int, row: str
) -> None:
    folder = fika_runs.tool_use(build_run(), with_an_act, [("ocr", "ok")] * calls)
    assert row in printed(folder)


@pytest.mark.parametrize(
    ("correct", "partly", "strict", "soft"),
    [
        (9, 0, "9/43 20.9", "9/43 20.9"),
        (13, 0, "13/43 30.2", "13/43 30.2"),
        (15, 3, "15/43 34.9", "18/43 41.9"),
    ],
    ids=["no memory", "memory", "registration skill"],
)
def test_strict_and_soft_accuracy_of_the_aircraft(
    build_run: BuildRun, correct: int, partly: int, strict: str, soft: str
) -> None:
    """Soft accuracy of the first two is not published in the text: no partly correct answers here."""
    folder = fika_runs.aircraft(build_run(), correct, partly)
    row = next(line for line in printed(folder).splitlines() if line.startswith("all all (micro) 43"))
    assert row in page(folder)["Accuracy"]
    assert row.startswith(f"all all (micro) 43 {strict} ")
    assert row.endswith(f" {soft}")


def test_the_aircraft_runs_side_by_side(build_run: BuildRun) -> None:
    counts = {"no-memory": (9, 0), "memory": (13, 0), "skill": (15, 3)}
    text = printed(*(fika_runs.aircraft(build_run(name), *each) for name, each in counts.items()))
    for name, figures in (("no-memory", "9/43 20.9"), ("memory", "13/43 30.2"), ("skill", "15/43 34.9")):
        assert any(line.startswith(f"{name} react scripted {figures} ") for line in text.splitlines())


def test_runtime_of_each_category(build_run: BuildRun) -> None:
    folder = fika_runs.runtimes(build_run())
    wanted = [
        "Product wall 80 15.1 39.4 0/80 0.0",
        "Nature wall 84 15.9 37.1 1/84 1.2",
        "Transport wall 95 16.1 28.9 1/95 1.1",
        "Culture wall 52 18.1 159.4 4/52 7.7",
    ]
    text = printed(folder)
    assert all(row in text for row in wanted)
    assert set(wanted) <= set(page(folder)["Runtime"])


def test_json_holds_the_same_as_counts_and_fractions(build_run: BuildRun) -> None:
    folder = fika_runs.openclaw_small(build_run())
    result = CliRunner().invoke(command, [str(folder.path), "--json"], catch_exceptions=False)
    use = json.loads(result.stdout)["runs"][0]["tool_use"]
    assert (use["acts"], use["not_found"], use["usage"]["count"]) == (604, 519, 310)
    assert use["errors"] == {"count": 544, "n": 604, "fraction": 544 / 604}
    assert use["mean_acts"] == 604 / 311
