"""What an act is, and when it failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fieldmark.evals.metrics.acts import EpisodeActs, episode_acts
from fieldmark.evals.metrics.tool_use import by_action, by_tool, tool_use
from fieldmark.trace import parse_event

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, EpisodeBuilder


def counted(episode: EpisodeBuilder) -> EpisodeActs:
    return episode_acts(parse_event(row) for row in episode.events)


def test_every_call_but_answer_is_an_act(build_run: BuildRun) -> None:
    episode = build_run().episode("t").step(("ocr", "ok"), ("crop_zoom", "ok")).step(("answer", "ok"))
    assert [act.name for act in counted(episode).acts] == ["ocr", "crop_zoom"]


def test_skills_and_memory_have_their_own_columns(build_run: BuildRun) -> None:
    episode = build_run().episode("t").step(("read_skill", "ok"), ("recall", "ok"), ("ocr", "ok"))
    found = counted(episode)
    assert (len(found.acts), dict(found.sides)) == (1, {"skill": 1, "memory": 1})


def test_a_tool_that_was_not_offered_is_not_found_even_without_a_result(build_run: BuildRun) -> None:
    silent = build_run().episode("t").request("m1", tools=["ocr"]).response("m1", [("c1", "image")])
    act = counted(silent).acts[0]
    assert (act.name, act.ok, act.error_kind) == ("image", False, "not_found")


def test_what_was_offered_is_read_from_the_request_of_that_very_call(build_run: BuildRun) -> None:
    episode = build_run().episode("t")
    episode.request("m1", tools=["ocr"]).response("m1", [("c1", "ocr")]).tool("c1", "ocr", model_call="c1")
    episode.request("m2", tools=["answer"]).response("m2", [("c2", "ocr")]).tool("c2", "ocr", model_call="c2")
    assert [act.ok for act in counted(episode).acts] == [True, False]


def test_a_failed_result_and_a_missing_one_are_told_apart(build_run: BuildRun) -> None:
    episode = build_run().episode("t").step(("ocr", "failed"), ("ocr", "silent"), ("ocr", "ok"))
    acts = counted(episode).acts
    assert [(act.ok, act.error_kind) for act in acts] == [(False, "runtime"), (None, None), (True, None)]


def test_a_retried_request_counts_once(build_run: BuildRun) -> None:
    same_call = build_run().episode("t").step(("ocr", "silent"), call="m9")
    same_call.step(("ocr", "ok"), purpose="retry", call="m9")
    assert [act.ok for act in counted(same_call).acts] == [True]
    new_call = build_run("other").episode("t").step(("ocr", "failed")).step(("ocr", "ok"), purpose="retry")
    assert [act.ok for act in counted(new_call).acts] == [True]


def test_ids_that_a_server_uses_again_are_joined_in_order(build_run: BuildRun) -> None:
    episode = build_run().episode("t")
    for call, end in (("m1", "failed"), ("m2", "ok")):
        episode.request(call).response(call, [("call_0", "ocr")])
        episode.tool(f"{call}-event", "ocr", model_call="call_0", end=end)
    assert [act.ok for act in counted(episode).acts] == [False, True]


def test_an_act_fails_with_the_call_it_caused_and_counts_as_that_tool(build_run: BuildRun) -> None:
    episode = build_run().episode("t").request("m1", tools=["bash"]).response("m1", [("c1", "bash")])
    episode.tool("c1", "bash", model_call="c1").tool("n1", "ocr", end="failed", parent="c1")
    found = counted(episode)
    assert [(act.name, act.ok) for act in found.acts] == [("bash", False)]
    assert [(row.name, row.calls, row.errors.count) for row in by_tool([found])] == [("ocr", 1, 1)]
    assert [row.name for row in by_action([found])] == ["ocr"]


def test_claimed_parents_in_a_circle_do_no_harm(build_run: BuildRun) -> None:
    episode = build_run().episode("t").request("m1", tools=["bash"]).response("m1", [("a", "bash")])
    episode.tool("a", "bash", model_call="a", parent="b").tool("b", "bash", parent="a")
    assert len(counted(episode).acts) == 1


def test_nothing_counted_is_none_and_not_nan() -> None:
    use = tool_use([])
    assert (use.mean_acts, use.usage.fraction, use.errors.fraction) == (None, None, None)
    assert by_tool([]) == []


def test_an_unreadable_trace_is_unknown_and_not_zero(build_run: BuildRun) -> None:
    from fieldmark.evals.metrics.summary import summarise

    run = build_run().task("a").task("b")
    run.episode("a", verdict="correct").step(("ocr", "ok"))
    run.episode("b", verdict="correct")
    folder = run.finish()
    trace: Path = folder.traces / folder.episodes()[1].trace
    trace.write_text('{"seq":0,"t":0,"by":"gateway","kind":"model_request"}\n')
    summary = summarise(folder)
    assert (summary.tool_use.episodes, summary.tool_use.acts) == (1, 1)
    assert [episode.acts for episode in summary.episodes] == [1, None]
    assert any("no readable trace" in line for line in summary.caveats)
