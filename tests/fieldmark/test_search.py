"""Searching in a run, end to end: real containers, a scripted model, a stand-in for SerpApi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.fieldmark.test_run import flags
from tests.model_server import Body, Call, ModelServer, Reply
from tests.serpapi_server import KEY, QUOTA, Answer, Asked, SerpApiServer, results
from tests.tools.pictures import jpeg, scene

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")

OUT = ("--web", "record", "--web-archive", "kept", "--search", "serpapi", "--reverse", "serpapi")
MAY_SEND = (*OUT, "--allow-upload")


def searches_then_answers(body: Body) -> Reply:
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})])
    box = {"x1": 0, "y1": 0, "x2": 100, "y2": 100}
    return Reply(
        calls=[Call("web_search", {"query": "saab 340"}, "w"), Call("reverse_image_search", box, "r")]
    )


def said(request: Body) -> dict[str, str]:
    return {m["tool_call_id"]: m["content"] for m in request["messages"] if m["role"] == "tool"}


def test_a_run_searches_records_and_is_replayed_without_a_network(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    (tiny.parent / "guard.txt").write_text("hub.example/records\n")
    with ModelServer(searches_then_answers) as model, SerpApiServer() as server:
        done = fieldmark(*flags(model, tiny, "out", "--limit", 1, *MAY_SEND), env=server.env)
        assert done.returncode == 0, done.stderr
        assert (len(server.asked), len(server.uploads)) == (2, 1)
        offered = {tool["function"]["name"] for tool in model.requests[0]["tools"]}
        recorded = said(model.requests[1])
    assert {"web_search", "reverse_image_search", "open_page"} <= offered
    assert "1 result withheld" in recorded["w"]
    assert "looks alike to the search engine, not verified" in recorded["r"]
    assert "web archive: 2 replies recorded in kept" in done.stdout

    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    events: list[Any] = [event for event in run.trace(record) if event.kind == "egress"]
    assert {event.method for event in events} >= {"SEARCH", "UPLOAD", "LENS"}
    assert record.counts["searches"] == 2
    config = run.config()
    assert config["search"] == {"engine": "google", "lens": True, "server": "127.0.0.1"}
    assert config["config"]["allow_upload"] is True
    for folder in (tmp_path / "out", tmp_path / "kept"):
        held = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        assert held == []
    assert KEY not in done.stdout + done.stderr

    replay = (
        "--limit",
        1,
        "--web",
        "replay",
        "--web-archive",
        "kept",
        "--search",
        "serpapi",
        "--reverse",
        "serpapi",
    )
    with ModelServer(searches_then_answers) as model:
        again = fieldmark(*flags(model, tiny, "again", *replay), env={"SERPAPI_API_KEY": ""})
        replayed = said(model.requests[1])
    assert again.returncode == 0, again.stderr
    assert replayed == recorded
    assert "web archive: 2 hits, 1 misses" in again.stdout  # the thumbnail could not be fetched then either


def test_a_used_up_quota_stops_the_run_which_goes_on_when_there_are_searches_again(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    def one_then_none(asked: Asked) -> Answer:
        return results(asked) if len(server.asked) == 1 else QUOTA

    def only_words(body: Body) -> Reply:
        if any(message["role"] == "tool" for message in body["messages"]):
            return Reply(calls=[Call("answer", {"text": "red"})])
        return Reply(calls=[Call("web_search", {"query": "saab 340"})])

    live = ("--web", "live", "--search", "serpapi", "--parallel", 1)
    with ModelServer(only_words) as model:
        with SerpApiServer(one_then_none) as server:
            done = fieldmark(*flags(model, tiny, "out", *live), env=server.env)
            asked = len(server.asked)
        assert done.returncode == 1
        assert done.stderr.count("run out of searches") == 1
        assert "the finished episodes are safe, go on with: fieldmark run --resume" in done.stderr
        run = RunDir.open(tmp_path / "out")
        assert [record.status for record in run.episodes()] == ["answered"]
        assert run.config()["search"]["stopped"] == "quota"
        reported = fieldmark("report", "out")
        assert "searching ended early (quota) and the run with it" in reported.stdout
        assert asked == 2
        with SerpApiServer(left=0) as server:
            refused = fieldmark("run", "--resume", "out", env=server.env)
        with SerpApiServer() as server:
            resumed = fieldmark("run", "--resume", "out", env=server.env)
    assert (refused.returncode, "no search is left on the SerpApi account" in refused.stderr) == (2, True)
    assert resumed.returncode == 0, resumed.stderr
    assert [record.status for record in RunDir.open(tmp_path / "out").episodes()] == ["answered"] * 4


def test_an_index_and_a_registry_of_ones_own_stand_in_for_the_benchmarks(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    index, registry = tmp_path / "own", tmp_path / "mine.csv"
    index.mkdir()
    (index / "a.jpg").write_bytes(jpeg(scene(1)))
    row = {"file": "a.jpg", "title": "My own picture", "entity": "a", "page": "https://own.example/"}
    (index / "index.jsonl").write_text(json.dumps(row))
    registry.write_text("registration,manufacturer,model,source\nSE-LEP,Saab,340B,my notes\n")

    def looks_both_up(body: Body) -> Reply:
        if any(message["role"] == "tool" for message in body["messages"]):
            return Reply(calls=[Call("answer", {"text": "red"})])
        look_up = Call("aircraft_registry", {"registration": "SE-LEP"}, "a")
        return Reply(calls=[Call("reverse_image_search", {}, "r"), look_up])

    with ModelServer(looks_both_up) as model:
        own = ("--limit", 1, "--index", "own", "--registry", "mine.csv")
        done = fieldmark(*flags(model, tiny, "out", *own))
        told = said(model.requests[1])
        assert done.returncode == 0, done.stderr
        assert "My own picture" in told["r"]
        assert "my notes" in told["a"]
        config = RunDir.open(tmp_path / "out").config()
        registry.write_text("registration,manufacturer,model,source\nSE-LEP,Saab,340A,my notes\n")
        resumed = fieldmark("run", "--resume", "out")
        (index / "index.jsonl").write_text(json.dumps({**row, "title": "Another title"}))
        again = fieldmark("run", "--resume", "out")
    assert {config[part]["name"] for part in ("index", "registry")} == {"own", "mine.csv"}
    assert str(tmp_path) not in (tmp_path / "out" / "run.json").read_text()
    assert (resumed.returncode, "the registry has changed since out began" in resumed.stderr) == (2, True)
    assert (again.returncode, "the index has changed since out began" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("more", "key", "says"),
    [
        (OUT, KEY, "sends the task pictures to SerpApi and Google: say --allow-upload"),
        (MAY_SEND, "", "SerpApi needs a key: put it into $SERPAPI_API_KEY"),
        (MAY_SEND, "wrong", "SerpApi cannot be used: Invalid API key"),
        (("--search", "serpapi"), KEY, "--search serpapi sends searches out: add --web live"),
        (("--search", "site"), KEY, "--search site needs pages: name --site DIR"),
        (("--search", "google"), KEY, "take site, serpapi (Google) or serpapi:ENGINE"),
        (("--reverse", "local"), KEY, "--reverse local needs a picture index: name --index DIR"),
        (("--tools", "web_search"), KEY, "tool web_search needs pages or an engine"),
        (("--index", "tiny"), KEY, "--index tiny: no index here: run `fieldmark index build tiny`"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_before_anything_is_spent(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, more: tuple[str, ...], key: str, says: str
) -> None:
    with ModelServer(searches_then_answers) as model, SerpApiServer() as server:
        done = fieldmark(*flags(model, tiny, "out", *more), env={**server.env, "SERPAPI_API_KEY": key})
        assert model.requests == []
        assert server.asked == []
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
