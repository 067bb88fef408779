"""Why answers were wrong, counted over constructed run folders."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from fieldmark import jsonl
from fieldmark.evals.failures.taxonomy import CLASSES, VERSION
from fieldmark.evals.metrics.failures import LEFT_OPEN, NOT_CLASSIFIED, Failures, FailureShare, pooled
from fieldmark.evals.metrics.shares import Share, wilson
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.html import render_html
from fieldmark.evals.report.runs_tables import comparisons
from fieldmark.evals.report.sections import tables
from fieldmark.evals.report.terminal import WIDTH, print_table
from fieldmark.findings import Failure, FailureLabel, FailureMark
from fieldmark.rundir import RunDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

LABELS: list[FailureLabel | None] = [
    "wrong_entity_retrieval", "wrong_entity_retrieval", "visual_grounding", "too_broad", None,
]  # fmt: skip


def classified(run: RunDir, labels: dict[str, FailureLabel | None], **more: Any) -> None:
    """Write a row for each task: facts decided, or, without a label, nothing did."""
    for task, label in labels.items():
        told: dict[str, Any] = {"id": task, "taxonomy": VERSION, "outcome": "incorrect", "label": label}
        told |= {"stage": "facts" if label else "open", "classifier": "facts", **more}
        jsonl.append(run.failures_file, Failure.model_validate(told).model_dump(mode="json"))


def marked(run: RunDir, annotator: str, labels: dict[str, FailureLabel], **more: Any) -> None:
    for task, label in labels.items():
        mark = FailureMark(id=task, annotator=annotator, label=label, **more)
        jsonl.append(run.failure_marks_file, mark.model_dump(mode="json"))


@pytest.fixture
def run(build_run: BuildRun) -> RunDir:
    """Eight wrong answers, w0–w7, of which five are classified; a right one, one unjudged, one of ours."""
    built = build_run()
    for number in range(8):
        built.task(f"w{number}", top="Nature" if number < 3 else "Product")
        built.episode(f"w{number}", verdict="incorrect")
    built.task("right").episode("right", verdict="correct")
    built.task("unjudged").episode("unjudged")
    built.task("ours").episode("ours", status="sandbox_error")
    folder = built.finish()
    classified(folder, {f"w{n}": label for n, label in enumerate(LABELS)}, link="retrieval")
    return folder


def counts(shares: list[FailureShare]) -> dict[str, float]:
    return {row.name: row.share.count for row in shares if row.share.count}


def of(run: RunDir) -> Failures:
    return summarise(run).failures


def test_every_wrong_answer_is_in_one_class(run: RunDir) -> None:
    found = of(run)
    assert (found.wrong, found.unjudged, found.sandbox_error) == (8, 1, 1)
    assert counts(found.labels) == {
        "wrong_entity_retrieval": 2, "visual_grounding": 1, "too_broad": 1, LEFT_OPEN: 1, NOT_CLASSIFIED: 3,
    }  # fmt: skip
    assert sum(row.share.count for row in found.labels) == found.wrong
    assert {row.share.n for row in found.labels} == {8}
    assert counts(found.stages) == {"facts": 4, "open": 1, NOT_CLASSIFIED: 3}
    assert counts(found.links) == {"retrieval": 4, LEFT_OPEN: 1, NOT_CLASSIFIED: 3}
    assert counts(found.subs) == {"none named": 2}


def test_the_papers_sum_is_named_and_has_wilsons_interval(run: RunDir) -> None:
    named = of(run).named
    assert named.name == "wrong entity, retrieval or visual grounding"
    assert (named.share.count, named.share.n) == (3, 8)
    assert named.interval == wilson(Share.of(3, 8))


def test_categories_add_up(run: RunDir) -> None:
    nature, product, total = of(run).groups
    assert [(group.top, group.wrong) for group in (nature, product, total)] == [
        ("Nature", 3), ("Product", 5), ("all", 8),
    ]  # fmt: skip
    assert (nature.named.share.count, total.counts[NOT_CLASSIFIED]) == (3, 3)


def test_what_is_right_by_now_or_was_judged_otherwise_does_not_count(run: RunDir) -> None:
    classified(run, {"right": "too_broad"})
    classified(run, {"w0": "too_broad"}, outcome="partially_correct")
    found = of(run)
    assert found.wrong == 8
    assert counts(found.labels)[NOT_CLASSIFIED] == 4


def test_epochs_of_a_task_are_no_samples_of_their_own(build_run: BuildRun) -> None:
    built = build_run(epochs=2)
    for number in range(4):
        built.task(f"w{number}")
        for epoch in range(2):
            built.episode(f"w{number}", epoch=epoch, verdict="incorrect")
    folder = built.finish()
    for epoch in range(2):
        classified(folder, {"w0": "too_broad", "w1": "too_broad"}, epoch=epoch)
    [broad] = [row for row in of(folder).labels if row.name == "too_broad"]
    by_task = wilson(Share.of(4, 8))
    assert (broad.share.count, broad.share.n) == (4, 8)
    assert broad.interval
    assert by_task
    assert broad.interval.high - broad.interval.low > by_task.high - by_task.low


def test_without_persons_it_is_not_validated(run: RunDir) -> None:
    [classes, *_] = [table for table in tables(summarise(run)) if table.title == "Why answers were wrong"]
    assert "not validated" in classes.note
    assert "1 unjudged and 1 of ours" in classes.note
    assert ["wrong_entity_retrieval", "2/8", "25.0", "7.1–59.1"] in classes.rows
    assert "Do persons and classifier agree" not in [table.title for table in tables(summarise(run))]


def test_persons_are_compared_with_each_other_and_the_classifier(run: RunDir) -> None:
    """ann agrees with the classifier on w0 and w2, bob on w0 only; w4 was left open, w7 is not classified."""
    both: dict[str, FailureLabel] = {"w0": "wrong_entity_retrieval", "w4": "too_broad", "w7": "tool_failure"}
    marked(run, "ann", {**both, "w2": "too_broad"})  # taken back by the next
    marked(run, "ann", {"w2": "visual_grounding", "right": "too_broad"}, link="grounding")
    marked(run, "bob", {**both, "w2": "too_broad"})
    found = of(run).validity
    assert found.labelled == {"ann": 4, "bob": 4}
    assert [(pair.first, pair.second, pair.n, pair.raw.count) for pair in found.labels] == [
        ("ann", "bob", 4, 3), ("ann", "classifier", 2, 2), ("bob", "classifier", 2, 1),
    ]  # fmt: skip
    assert found.labels[0].kappa == pytest.approx((3 / 4 - 1 / 4) / (1 - 1 / 4))
    assert [pair.raw.count for pair in found.links] == [3, 0, 0]
    text = {table.title: table for table in tables(summarise(run))}
    assert "ann–bob κ 0.67" in text["Why answers were wrong"].note
    assert ["ann", "bob", "visual_grounding", "too_broad", "1"] in text["Where they differ"].rows


def test_runs_are_pooled(run: RunDir, build_run: BuildRun) -> None:
    other = build_run("other")
    for number in range(2):
        other.task(f"x{number}").episode(f"x{number}", verdict="incorrect")
    folder = other.finish()
    classified(folder, {"x0": "visual_grounding", "x1": "too_broad"})
    total = pooled([of(run), of(folder)])
    assert (total[-1].share.count, total[-1].share.n) == (4, 10)
    [_, table] = comparisons([summarise(run), summarise(folder)])
    assert table.columns == ["class", "run", "other", "pooled /wrong", "pooled %"]
    assert table.rows[-1] == ["wrong entity, retrieval or visual grounding", "37.5", "50.0", "4/10", "40.0"]


def test_runs_of_several_models_are_marked_where_they_are_pooled(run: RunDir, build_run: BuildRun) -> None:
    other = build_run("other").task("x")
    other.episode("x", verdict="incorrect")
    folder = other.finish()
    classified(folder, {"x": "too_broad"}, stage="model", classifier="llm/m/01234567")
    [_, table] = comparisons([summarise(run), summarise(folder)])
    assert "not classified by the same model" in table.note


def test_every_class_and_category_fits_the_terminal(build_run: BuildRun) -> None:
    built = build_run()
    for number, _ in enumerate(CLASSES):
        built.task(
            f"w{number}",
            split=("private", "public")[number % 2],
            top=("Transport", "Culture")[number % 3 > 1],
        )
        built.episode(f"w{number}", verdict="incorrect")
    built.task("open").episode("open", verdict="incorrect")
    built.task("none").episode("none", verdict="incorrect")
    folder = built.finish()
    classified(folder, {f"w{number}": label for number, label in enumerate(CLASSES)} | {"open": None})
    [table] = [each for each in tables(summarise(folder)) if each.title == "Failures by category"]
    console = Console(width=WIDTH, file=io.StringIO(), record=True)
    print_table(table, console)
    printed = console.export_text()
    assert "…" not in printed
    assert all(name in printed for name in ("private", "Transport", "entity", "doubt", "open"))


def test_a_run_that_nobody_classified_has_no_table(build_run: BuildRun) -> None:
    built = build_run().task("w")
    built.episode("w", verdict="incorrect")
    summary = summarise(built.finish())
    assert not [table for table in tables(summary) if "rong" in table.title]
    assert len(comparisons([summary, summary])) == 1


def test_the_page_holds_no_note_of_a_person_and_no_gold(run: RunDir) -> None:
    marked(run, "ann", {"w0": "too_broad"}, note="SECRET note")
    page = render_html([summarise(run)])
    assert "Why answers were wrong" in page
    assert "SECRET" not in page
