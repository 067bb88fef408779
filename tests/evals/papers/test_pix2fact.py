"""Pix2Fact's tables come out of verdicts with its counts, and its own way of scoring stands apart."""

from __future__ import annotations

import json
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest

from fieldmark.evals.benchmarks.pix2fact.names import KNOWLEDGE, LOGIC, PERCEPTION, SCENES
from fieldmark.evals.metrics.accuracy import accuracy
from fieldmark.evals.metrics.groups import grouped
from fieldmark.evals.metrics.last_brace import last_brace
from fieldmark.evals.metrics.outcomes import Cell
from fieldmark.evals.metrics.pix2fact import PaperRow, paper_rows
from fieldmark.evals.report.figures import number, percent
from fieldmark.evals.report.pix2fact_table import two_decimals
from fieldmark.records import EpisodeRecord, Verdict, VerdictLabel
from fieldmark.rundir import RunDir
from tests.evals.papers import pix2fact_figures as figures
from tests.evals.papers.printed import printed

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, RunBuilder

PROTOCOL = {"protocol": {"name": "pix2fact", "fixes": {}}}
DIMENSIONS = {"knowledge domain": KNOWLEDGE, "perception type": PERCEPTION, "logic type": LOGIC}


def cell(number: int, right: bool, **labels: Any) -> Cell:
    """One judged answer."""
    record = EpisodeRecord(
        id=str(number), status="answered", agent="closed_book", model="m", answer="x", seconds=1,
        charged_seconds=1, started="", trace="",
    )  # fmt: skip
    label: VerdictLabel = "correct" if right else "incorrect"
    verdict = Verdict(id=str(number), label=label, score=float(right), judge="exact")
    return Cell(str(number), 0, "(none)", labels.pop("top", "(none)"), record, verdict, **labels)


def dealt(sizes: dict[str, int], counts: list[int], right: bool) -> list[str]:
    """The category of each right (or wrong) answer of a table's line."""
    each = zip(sizes.items(), counts, strict=True)
    return [*chain.from_iterable(repeat(name, c if right else n - c) for (name, n), c in each)]


def by_dimension(name: str, sizes: dict[str, int], counts: list[int]) -> list[Cell]:
    """A thousand answers, so many right of each category of one dimension."""
    names = [(each, right) for right in (True, False) for each in dealt(sizes, counts, right)]
    made = [
        cell(place, right, **({"top": each} if name == "scene" else {"facets": {name: each}}))
        for place, (each, right) in enumerate(names)
    ]
    assert len(made) == 1000
    return made


@pytest.mark.parametrize("system", figures.TABLE_2)
def test_table_2_by_scene(system: str) -> None:
    line = figures.TABLE_2[system]
    told = figures.cells(line, figures.SIZES_2)
    rows = paper_rows(by_dimension("scene", SCENES, [correct for _, correct, _ in told]))
    shares = {row.category: row.paper for row in rows}
    for name, (shown, correct, n) in zip(SCENES, told, strict=True):
        assert (shares[name].count, shares[name].n) == (correct, n)
        assert percent(shares[name].fraction) == shown or (shown, n) in figures.ROUNDED_TWICE
    if system not in figures.SHORT_OF_SCENES:
        assert percent(rows[0].paper.fraction) == line.split()[0]


@pytest.mark.parametrize("system", figures.TABLE_3)
def test_table_3_by_knowledge_perception_and_logic(system: str) -> None:
    told = iter(figures.cells(figures.TABLE_3[system], figures.SIZES_3))
    for name, sizes in DIMENSIONS.items():
        mine = [next(told) for _ in sizes]
        made = by_dimension(name, sizes, [correct for _, correct, _ in mine])
        shares = {row.category: row.paper for row in paper_rows(made) if row.by == name}
        for category, (shown, correct, n) in zip(sizes, mine, strict=True):
            assert (shares[category].count, shares[category].n) == (correct, n)
            assert float(two_decimals(shares[category])) == float(shown)


def test_the_default_tables_have_the_same() -> None:
    """By scene, and by a facet, with one decimal and intervals."""
    told = figures.cells(figures.TABLE_2["Gemini-3-Pro, web search"], figures.SIZES_2)
    made = by_dimension("scene", SCENES, [correct for _, correct, _ in told])
    rows = {row.top: percent(row.strict.fraction) for row in accuracy(made).rows}
    assert rows == {**{name: shown for name, (shown, _, _) in zip(SCENES, told, strict=True)}, "all": "27.0"}
    logic = figures.cells(figures.TABLE_3["Gemini-3-Pro, web search"], figures.SIZES_3)[-len(LOGIC) :]
    (group,) = grouped(by_dimension("logic type", LOGIC, [correct for _, correct, _ in logic]))
    shares = {row.top: (row.strict.count, row.strict.n) for row in group.accuracy.rows}
    assert shares["Chained/Indirect Query"] == (109, 345)


def test_totals_that_the_paper_has_twice_do_not_agree() -> None:
    """So they are no fault of these counts."""
    scenes = {
        name: sum(c for _, c, _ in figures.cells(line, figures.SIZES_2))
        for name, line in figures.TABLE_2.items()
    }
    types = {name: figures.cells(line, figures.SIZES_3) for name, line in figures.TABLE_3.items()}
    assert scenes["Doubao-Seed-1.6"] == 26
    assert figures.correct(figures.TABLE_2["Doubao-Seed-1.6"].split()[0], 1000) == 24
    assert scenes["GPT-5, web search"] == 115
    assert sum(c for _, c, _ in types["GPT-5, web search"][:5]) == 116
    gemini = [c for _, c, _ in types["Gemini-2.5-Pro, web search"]]
    assert (sum(gemini[:5]), sum(gemini[5:9]), sum(gemini[9:])) == (160, 159, 159)


def test_chained_queries_gain_most_from_search_whatever_the_text_says() -> None:
    """Its text says Direct Lookup does: 17.48 points against 18.26."""
    plain, search = (figures.TABLE_3[name].split() for name in ("Gemini-3-Pro", "Gemini-3-Pro, web search"))
    gains = {
        name: float(search[place]) - float(plain[place])
        for place, name in enumerate(LOGIC, start=len(plain) - 4)
    }
    assert max(gains, key=lambda name: gains[name]) == "Chained/Indirect Query"
    assert round(gains["Chained/Indirect Query"], 2) == 18.26
    assert round(gains["Direct Lookup"], 2) == 17.48


def test_the_headline_is_the_mean_oftwo_decimals_exams_and_no_score_of_the_benchmark() -> None:
    """28.0 and 20.0 % of 50 each: 24.0. Over all 1,000 the same system has 27.0."""
    exams = [[cell(n, n < right) for n in range(50)] for right in (14, 10)]
    shares = [paper_rows(exam)[0].paper for exam in exams]
    assert [number(100 * (share.fraction or 0), 1) for share in shares] == ["28.0", "20.0"]
    assert sum(share.fraction or 0 for share in shares) / 2 == pytest.approx(0.24)
    told = figures.cells(figures.TABLE_2["Gemini-3-Pro, web search"], figures.SIZES_2)
    whole = paper_rows(by_dimension("scene", SCENES, [correct for _, correct, _ in told]))[0].paper
    assert (whole.count, whole.n) == (270, 1000)


# --- failed calls ---------------------------------------------------------------------------------


def failing(run: RunBuilder, raw: str = "") -> RunDir:
    """Ten tasks: four right, three wrong, a failed call, a refused one, one whose judge gave no word."""
    for place in range(10):
        run.task(f"t{place}", top="Urban Streets" if place % 2 else "City Skylines")
    for place in range(7):
        said = run.episode(f"t{place}", verdict="correct" if place < 4 else "incorrect").answer("Orla Venn")
        said.event("sandbox", "answer", text="Orla Venn", raw=raw, parsed_by="json")
    down = run.episode("t7", status="sandbox_error")
    down.record["error"] = {"boundary": "model", "kind": "unreachable", "message": "HTTP 500 (6 tries)"}
    refused = run.episode("t8", status="agent_error")
    refused.record["error"] = {"boundary": "agent", "kind": "model_refused", "message": "HTTP 400"}
    run.episode("t9")
    return run.finish()


def overall(folder: RunDir) -> PaperRow:
    from fieldmark.evals.metrics.summary import summarise

    paper = summarise(folder).paper
    assert paper is not None
    return paper.rows[0]


def test_failed_calls_count_false_in_the_papers_table_only(build_run: BuildRun) -> None:
    folder = failing(build_run(**PROTOCOL))
    row = overall(folder)
    assert (row.paper.count, row.paper.n) == (4, 10)
    assert (row.without.count, row.without.n) == (4, 7)
    assert (row.failed, row.unjudged) == (2, 1)
    text = printed(folder)
    assert "overall all 4/10 40.00 4/7 57.14 2 1" in text
    assert "all all (micro) 10 4/8 50.0" in text  # the default: what the server refused is the agent's


def test_without_the_protocol_there_is_no_such_table(build_run: BuildRun) -> None:
    assert "Pix2Fact's protocol" not in printed(failing(build_run()))


def test_a_fault_that_is_not_the_models_is_left_out(build_run: BuildRun) -> None:
    run = build_run(**PROTOCOL)
    run.task("t0").task("t1")
    run.episode("t0", verdict="correct")
    broken = run.episode("t1", status="sandbox_error")
    broken.record["error"] = {"boundary": "sandbox", "kind": "oom", "message": "no memory"}
    assert overall(run.finish()).paper.n == 1


# --- the parser of the last brace -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ('{"Observation": "x", "Final Answer": "Orla Venn"}', "Orla Venn"),
        ('```json\n{"Simple Answer": "Orla Venn"}\n```', "Orla Venn"),
        ('{"Observation": "a sign {open}", "Final Answer": "Orla Venn"}', None),
        ('{"Observation": {"sign": "open"}, "Final Answer": "Orla Venn"}', None),
        ('{"Final Answer": "Orla Venn"} {that} is all', None),
        ("no object", None),
    ],
)
def test_what_the_parser_of_the_last_brace_finds(raw: str, answer: str | None) -> None:
    assert last_brace(raw) == answer


def test_a_report_says_how_many_answers_it_would_have_lost(build_run: BuildRun) -> None:
    raw = json.dumps({"Observation": {"sign": "{open}"}, "Final Answer": "Orla Venn"})
    assert "would have lost 7/7 (100.0 %) answers" in printed(failing(build_run(**PROTOCOL), raw))
