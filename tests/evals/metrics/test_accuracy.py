from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fieldmark.evals.metrics.shares import Share, wilson
from fieldmark.evals.metrics.summary import Summary, summarise
from fieldmark.evals.report.figures import count, headline
from fieldmark.records import VerdictLabel

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun


def rows(summary: Summary) -> dict[tuple[str, str], str]:
    return {(row.split, row.top): count(row.strict) for row in summary.accuracy.rows}


def test_three_denominators_of_a_partial_run(build_run: BuildRun) -> None:
    run = build_run(state="interrupted")
    for number in range(10):
        run.task(f"i{number}")
    for number in range(6):
        run.episode(f"i{number}", verdict="correct" if number < 3 else "incorrect")
    for number in (6, 7):
        run.episode(f"i{number}", status="sandbox_error")
    summary = summarise(run.finish())
    assert summary.partial
    assert headline(summary).startswith(
        "PARTIAL: 50.0 % correct (3/6 done; 3/8 attempted; 3/10 all tasks, 95 % CI 18.8–81.2)"
    )


def test_micro_and_macro_are_both_there(build_run: BuildRun) -> None:
    run = build_run()
    for number in range(100):
        top, good = ("A", number < 81) if number < 90 else ("B", number < 91)
        run.task(f"t{number}", top=top)
        run.episode(f"t{number}", verdict="correct" if good else "incorrect")
    summary = summarise(run.finish())
    assert summary.accuracy.headline.strict.fraction == pytest.approx(0.82)
    macro = summary.accuracy.macro[0]
    assert macro.strict == pytest.approx(0.50)
    assert macro.interval is not None
    assert 0.42 <= macro.interval.low < 0.47  # B has a standard error of 9.5 points, half of it counts
    assert 0.57 < macro.interval.high <= 0.63
    assert not summary.partial


def test_each_split_has_its_categories_and_total(build_run: BuildRun) -> None:
    run = build_run()
    for task, split, top in (
        ("a", "public", "Nature"),
        ("b", "public", "Culture"),
        ("c", "real-life", "Nature"),
    ):
        run.task(task, split=split, top=top)
        run.episode(task, verdict="correct" if task != "b" else "uncertain")
    assert rows(summarise(run.finish())) == {
        ("all", "Culture"): "0/1",
        ("all", "Nature"): "2/2",
        ("all", "all"): "2/3",
        ("public", "Culture"): "0/1",
        ("public", "Nature"): "1/1",
        ("public", "all"): "1/2",
        ("real-life", "Nature"): "1/1",
        ("real-life", "all"): "1/1",
    }


def test_soft_adds_partially_correct_and_uncertain_stays_in_the_denominator(build_run: BuildRun) -> None:
    run = build_run()
    labels: tuple[VerdictLabel, ...] = ("correct", "partially_correct", "incorrect", "uncertain")
    for label in labels:
        run.task(label).episode(label, verdict=label)
    row = summarise(run.finish()).accuracy.headline
    assert (count(row.strict), count(row.soft)) == ("1/4", "2/4")


def test_timeouts_and_empty_answers_count_as_not_correct_without_a_verdict(build_run: BuildRun) -> None:
    run = build_run().task("late").task("mute").task("good").task("blank")
    run.episode("late", status="timeout", verdict="correct")
    run.episode("mute", status="empty")
    run.episode("good", verdict="correct")
    run.episode("blank").answer("  ")
    assert count(summarise(run.finish()).accuracy.headline.strict) == "1/4"


def test_unjudged_answers_stand_apart_with_a_bound(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b")
    run.episode("a", verdict="correct")
    run.episode("b")
    row = summarise(run.finish()).accuracy.headline
    assert (count(row.strict), row.unjudged, count(row.attempted), count(row.upper)) == (
        "1/1",
        1,
        "1/2",
        "2/2",
    )


def test_epochs_of_a_task_are_one_sample(build_run: BuildRun) -> None:
    run = build_run()
    hits = {"q1": (1, 1, 0), "q2": (0, 0, 0), "q3": (1, 1, 1), "q4": (1, 0, 0)}
    for task, found in hits.items():
        run.task(task)
        for epoch, hit in enumerate(found):
            run.episode(task, epoch=epoch, verdict="correct" if hit else "incorrect")
    row = summarise(run.finish()).accuracy.headline
    assert row.strict.n == 4
    assert row.strict.fraction == pytest.approx(0.5)


def test_odd_labels_leave_no_task_out(build_run: BuildRun) -> None:
    run = build_run()
    for task, top in (("c1", None), ("c2", ""), ("c3", ["A", "B"]), ("c4", "transport"), ("c5", "Transport")):
        run.task(task, top=top).episode(task, verdict="correct")
    summary = summarise(run.finish())
    tops = {row.top: row.tasks for row in summary.accuracy.rows}
    assert tops == {"(none)": 2, "A + B": 1, "transport": 1, "Transport": 1, "all": 5}
    assert any("Transport / transport" in line for line in summary.caveats)


def test_an_empty_run_has_no_nan(build_run: BuildRun) -> None:
    summary = summarise(build_run().task("a").finish())
    assert summary.accuracy.headline.strict.fraction is None
    assert "NaN" not in summary.model_dump_json()
    assert headline(summary) == "PARTIAL: – % correct (0/0 done; 0/0 attempted; 0/1 all tasks)"


def test_answers_that_are_error_messages_are_pointed_out(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b")
    run.episode("a").answer("API call failed after 3 retries: HTTP 429: RateLimitError")
    run.episode("b").answer("Saab 340")
    assert any(line.startswith("1 answer reads like an error") for line in summarise(run.finish()).caveats)


def test_an_agent_that_counts_otherwise_is_pointed_out(build_run: BuildRun) -> None:
    run = build_run().task("a").task("b").task("c")
    for name, counts in (("a", {"native_tool_calls": 3}), ("b", {"native_tool_calls": 2}), ("c", {})):
        run.episode(name).record["counts"] = {"acts": 3, **counts}
    (line,) = summarise(run.finish()).caveats
    assert line.startswith("in 1 of 2 episodes the agent's own log has another number of tool calls")


def test_damaged_and_doubled_rows_are_pointed_out(build_run: BuildRun) -> None:
    run = build_run().task("a")
    run.episode("a", status="sandbox_error")
    run.episode("a", verdict="correct")
    folder = run.finish()
    with folder.episodes_file.open("a") as file:
        file.write('not json\n{"id": "b", "sta')
    summary = summarise(folder)
    assert count(summary.accuracy.headline.strict) == "1/1"
    assert len(summary.caveats) == 3


@pytest.mark.parametrize("last_is_our_fault", [False, True])
def test_an_episode_that_stands_twice_counts_once_as_its_last_valid_attempt(
    build_run: BuildRun, last_is_our_fault: bool
) -> None:
    run = build_run()
    for number in range(5):
        run.task(f"i{number}")
        attempts = ["ours", "valid"] if number in (2, 4) else ["valid"]
        for attempt in reversed(attempts) if last_is_our_fault else attempts:
            if attempt == "ours":
                run.episode(f"i{number}", status="sandbox_error")
            else:
                run.episode(f"i{number}", verdict="incorrect" if number == 4 else "correct")
    summary = summarise(run.finish())
    row = summary.accuracy.headline
    assert (count(row.strict), row.sandbox_error, summary.tasks) == ("4/5", 0, 5)
    assert any(line.startswith("2 rows of episodes.jsonl repeat an episode") for line in summary.caveats)


def test_a_fault_of_ours_is_no_wrong_answer_and_a_true_timeout_is(build_run: BuildRun) -> None:
    """One that had no turn before a server's 503, one that ran out of its time at work, one right answer."""
    run = build_run()
    run.task("t1", top="A").episode("t1", status="sandbox_error", seconds=5.0)
    run.task("t2", top="B").episode("t2", status="timeout", seconds=900.4)
    run.task("t3", top="C").episode("t3", verdict="correct")
    summary = summarise(run.finish())
    row = summary.accuracy.headline
    assert (count(row.strict), count(row.attempted), row.sandbox_error) == ("1/2", "1/3", 1)
    assert summary.accuracy.macro[0].strict == 0.5  # of B and C: A, where nothing was done, halves nothing
    assert {episode.id: episode.seconds for episode in summary.episodes} == {"t1": 5, "t2": 900.4, "t3": 10}


def test_wilson_agrees_with_the_published_example() -> None:
    """15 of 148: 0.0624 to 0.1605 (Newcombe 1998, Statistics in Medicine 17:857, table I, method 3)."""
    interval = wilson(Share.of(15, 148))
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0624, 0.1605)
    assert wilson(Share.of(0, 0)) is None
