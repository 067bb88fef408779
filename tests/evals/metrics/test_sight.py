"""What of the picture reached the model, over the episodes of a run, and how the report says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldmark.evals.metrics.sight import sight_in
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.sections import tables
from fieldmark.trace import parse_event

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, EpisodeBuilder


def calls(episode: EpisodeBuilder, *pictures: str) -> None:
    """Replace the episode's calls by one for each entry: how it held the picture."""
    episode.events.clear()
    for number, picture in enumerate(pictures):
        episode.request(f"m{number}", picture=picture).response(f"m{number}", [])


def four(build_run: BuildRun, **config: Any) -> Any:
    run = build_run(**config)
    for name, pictures in {
        "exact": ["exact", "exact"], "small": ["resampled"], "none": ["", ""], "lost": ["exact", "", ""]
    }.items():  # fmt: skip
        calls(run.task(name).episode(name, verdict="correct"), *pictures)
    return run


def test_each_way_of_arriving_is_counted_and_the_unseen_are_named(build_run: BuildRun) -> None:
    summary = summarise(four(build_run).finish())
    seen = summary.sight
    assert (seen.episodes, seen.exact, seen.resampled, seen.none) == (4, 2, 1, 1)
    assert (seen.largest, seen.lost, seen.unseen) == ((800, 600), ["lost"], ["none"])
    table = next(table for table in tables(summary) if table.title == "The picture reached the model")
    assert [row[:3] for row in table.rows] == [
        ["its very bytes", "2", "4"], ["written anew or made smaller, at most 800x600 px", "1", "4"],
        ["not at all", "1", "4"], ["lost later", "1", "4"],
    ]  # fmt: skip
    assert summary.caveats == [
        "the picture never reached the model in 1 of 4 episodes: none",
        "the model lost the picture on the way in 1 episode: lost",
    ]


def test_a_model_that_is_said_not_to_see_is_not_blamed(build_run: BuildRun) -> None:
    summary = summarise(four(build_run, sees=False).finish())
    assert summary.caveats == []
    assert not any(table.title.startswith("The picture") for table in tables(summary))


def test_what_the_probe_left_open_is_said(build_run: BuildRun) -> None:
    probe = {"verdict": "unclear", "why": "model 'm' gave no answer"}
    caveats = summarise(build_run(probe=probe).task("a").finish()).caveats
    assert caveats == ["the probe before the run: model 'm' gave no answer"]


def test_an_older_trace_is_read_by_its_hashes() -> None:
    picture = {"blob": "v", "media_type": "image/png", "width": 80, "height": 60}
    start: dict[str, Any] = {
        "kind": "episode_start", "version": "0", "run": "r", "id": "a", "epoch": 0, "attempt": 0,
        "agent": "react", "model": "m", "image": picture, "view": picture, "prompt_sha256": "", "limits": {},
    }  # fmt: skip
    request: dict[str, Any] = {
        "kind": "model_request", "call": "m1", "wire": "chat_completions", "model": "m", "asked": {},
        "sent": {}, "tools": [], "messages": [], "pictures": [picture],
    }  # fmt: skip
    response: dict[str, Any] = {"kind": "model_response", "call": "m1", "http": 200, "seconds": 1}
    rows = [start, request, response]
    events = [parse_event({**row, "seq": n, "t": 0.0, "by": "gateway"}) for n, row in enumerate(rows)]
    seen = sight_in(events)
    assert (seen.delivered, seen.width, seen.first_call) == ("exact", 80, "m1")
