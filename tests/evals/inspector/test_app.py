"""The pages over real HTTP requests: what they show, and what they refuse."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.security import COOKIE
from fieldmark.records import Verdict
from fieldmark.rundir import RunDir, episode_key
from fieldmark.study.folder import RecordedRun, RecordedStudy, StudyDir

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

WRONG = f"/run/aircraft/episode/{episode_key('wrong')}"


def shown(page: str) -> list[str]:
    """The tasks in the table of episodes, in order."""
    return re.findall(r'<th scope="row"[^>]*><a[^>]*><bdi>([^<]*)</bdi>', page)


def test_the_list_has_every_run_with_its_figure(client: TestClient) -> None:
    page = client.get("/").text
    assert shown(page) == ["aircraft"]
    assert "<td>4/4</td><td>25.0</td>" in page


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("", ["wrong", "right", "hostile", "late"]),
        ("verdict=incorrect", ["wrong", "hostile"]),
        ("failure=neighbour_confusion", ["wrong"]),
        ("failure=not+classified&sort=id", ["hostile", "late"]),
        ("status=timeout", ["late"]),
        ("top=Nature", []),
        ("tool=crop_zoom", ["wrong"]),
        ("tool=web_search&verdict=correct", ["right"]),
        ("q=boeing", ["wrong"]),
        ("q=singapore", []),
        ("q=singapore&in=results", ["wrong"]),
        ("q=boeing&in=results", ["wrong"]),
        ("q=singapore&in=results&verdict=correct", []),
        ("least=10&most=240&sort=seconds&down=1", ["late", "wrong", "hostile"]),
        ("fact=gold_seen_wrong", ["wrong"]),
        ("fact=picture_lost", ["late"]),
        ("fact=never_looked&fact=searched", ["right"]),
        ("sort=nonsense&least=NaN&page=99999&fact=nonsense", ["wrong", "right", "hostile", "late"]),
    ],
)
def test_a_url_filters_and_sorts(client: TestClient, query: str, tasks: list[str]) -> None:
    assert shown(client.get(f"/run/aircraft/?{query}").text) == tasks


def test_the_event_in_an_address_is_no_filter(client: TestClient) -> None:
    """Of a step's link, `at`: the way back leads to the whole table, and the other failure is beside."""
    page = client.get(f"{WRONG}?at=4&ended=crop_zoom").text
    assert 'href="/run/aircraft/?ended=crop_zoom"' in page
    page = client.get(f"{WRONG}?at=4").text
    assert 'href="/run/aircraft/"' in page
    assert re.findall(r'rel="next" href="/run/aircraft/episode/(\w+)-', page) == ["hostile"]


def test_a_facet_is_a_filter_where_there_is_a_choice(build_run: BuildRun) -> None:
    run = build_run("kinds")
    for name, facets in (("a", {"logic <type>": "Direct"}), ("b", {"logic <type>": "2"}), ("c", {})):
        run.task(name, facets=facets).episode(name)
    app = make_app(Library([run.finish().path]), GatewayRequests(), {"127.0.0.1"}, None)
    viewer = TestClient(app, base_url="http://127.0.0.1")
    page = viewer.get("/run/kinds/").text
    assert '<label>logic &lt;type&gt;<select name="facet.logic &lt;type&gt;">' in page
    assert 'name="source"' not in page
    assert shown(viewer.get("/run/kinds/", params={"facet.logic <type>": "2"}).text) == ["b"]
    assert shown(viewer.get("/run/kinds/", params={"facet.logic <type>": "(none)"}).text) == ["c"]
    assert "logic &lt;type&gt;</bdi> <bdi>Direct" in viewer.get(f"/run/kinds/episode/{episode_key('a')}").text


def test_the_list_of_episodes_never_opens_a_trace(client: TestClient, aircraft: RunDir) -> None:
    shutil.rmtree(aircraft.traces)
    assert len(shown(client.get("/run/aircraft/?fact=looked").text)) == 1


def test_a_running_run_is_followed(client: TestClient, aircraft: RunDir) -> None:
    assert "data-live" not in client.get("/run/aircraft/").text
    aircraft.write_config({**aircraft.config(), "state": "running"})
    assert "data-live" not in client.get("/run/aircraft/").text  # nobody writes it: it was killed
    aircraft.lock()
    aircraft.add_verdict(Verdict(id="wrong", epoch=0, label="correct", score=1.0, judge="exact"))
    page = client.get("/run/aircraft/").text
    assert "data-live" in page
    assert len(shown(client.get("/run/aircraft/?verdict=correct").text)) == 2


def test_an_episode_shows_its_answer_against_gold_and_why_it_was_wrong(client: TestClient) -> None:
    page = client.get(WRONG).text
    for words in ("Boeing 747-400", "Airbus A380-800", "SECRET-reason", "neighbour confusion", "SECRET-why"):
        assert words in page
    assert re.findall(r"at=(\d+)#e", page) == ["4", "8"]
    assert page.count("shows the failure") == 2
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_without_the_private_part_no_gold_and_no_fact_of_gold_is_shown(
    client: TestClient, aircraft: RunDir
) -> None:
    shutil.rmtree(aircraft.private)
    table = client.get("/run/aircraft/").text
    assert "picture lost" in table
    assert "gold" not in table
    page = client.get(WRONG).text
    assert "SECRET" not in page
    assert "<dt>gold" not in page
    assert "neighbour confusion" in page


def test_each_box_is_drawn_once_in_pixels_of_the_original(client: TestClient) -> None:
    page = client.get(WRONG).text
    boxes = re.findall(r'<rect data-seq="(\d+)" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)">', page)
    assert boxes == [("7", "100.0", "60.0", "240.0", "120.0"), ("8", "120.0", "80.0", "80.0", "24.5")]


def test_a_request_is_shown_as_received_and_given_to_the_byte(client: TestClient, aircraft: RunDir) -> None:
    page = client.get(f"{WRONG}/event/3").text
    assert "temperature" in page
    assert re.search(r"alt=\"A picture in message 1\"><span>\d+ × \d+ px", page)
    body = client.get(f"{WRONG}/event/3/request")
    asked = json.loads(body.content)
    assert asked["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert client.get(f"{WRONG}/event/4/request").status_code == 404
    assert client.get(f"{WRONG}/event/99").status_code == 404


def test_hostile_text_is_text(client: TestClient) -> None:
    for path in ("/run/aircraft/", f"/run/aircraft/episode/{episode_key('hostile')}", f"{WRONG}/event/3"):
        page = client.get(path).text
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;document" in page
        assert not {"\u202e", "\x1b"} & set(page)


def test_every_answer_carries_the_policy(client: TestClient) -> None:
    for path in ("/", "/run/aircraft/", WRONG, "/static/inspector.js", "/nothing"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    page = client.get(WRONG).text
    assert not re.search(r"<script>|\son\w+=|\sstyle=|javascript:", page)  # nothing that the policy forbids


@pytest.mark.parametrize(
    "path",
    [
        "/run/..%2f..%2fetc/", "/run/aircraft/blob/..%2f..%2fprivate%2fgold.jsonl",
        "/run/aircraft/blob/gold", "/run/aircraft/episode/..%2fx", "/static/..%2fapp.py", "/static/../app.py",
        f"/run/aircraft/blob/{'0' * 64}",
    ],
)  # fmt: skip
def test_no_path_leads_out(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert "SECRET" not in reply.text


def test_a_blob_is_what_its_bytes_are(client: TestClient, aircraft: RunDir) -> None:
    svg = aircraft.blob_store().put(b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "image/png")
    reply = client.get(f"/run/aircraft/blob/{svg}")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" in reply.headers["content-security-policy"]


def test_a_blob_that_links_out_of_the_run_is_not_served(
    client: TestClient, aircraft: RunDir, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not of this run")
    digest = hashlib.sha256(b"another content").hexdigest()
    (aircraft.blobs / f"{digest}.png").symlink_to(secret)
    assert client.get(f"/run/aircraft/blob/{digest}").status_code == 404


def test_another_host_name_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example:7788"}).status_code == 421
    assert client.get("/", headers={"host": "localhost:7788"}).status_code == 200
    assert client.post("/").status_code == 405


def test_beyond_this_machine_a_token_is_needed(library: Library) -> None:
    app = make_app(library, GatewayRequests(), {"lab"}, "right-token")
    with TestClient(app, base_url="http://10.0.0.7:7788") as client:
        assert client.get("/").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        let_in = client.get(
            "http://10.0.0.7:7788//run/aircraft/?token=right-token&q=a", follow_redirects=False
        )
        assert let_in.headers["location"] == "/run/aircraft/?q=a"
        assert {"HttpOnly", "SameSite=strict"} <= set(let_in.headers["set-cookie"].split("; "))
        assert client.cookies.get(COOKIE) == "right-token"
        assert client.get("/run/aircraft/").status_code == 200
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421


def test_a_long_trace_comes_in_windows(client: TestClient, aircraft: RunDir) -> None:
    path = aircraft.traces / f"{episode_key('late')}.jsonl"
    rows = [
        {"seq": seq, "t": seq / 10, "by": "sandbox", "kind": "log", "message": f"line {seq}"}
        for seq in range(10_000)
    ]
    jsonl.write_all(path, rows)
    page = client.get(f"/run/aircraft/episode/{episode_key('late')}?at=7777").text
    assert 'id="e7777"' in page
    assert page.count('<li class="step') == 200
    assert "steps 7601–7800 of 10000" in page


def test_a_study_and_runs_of_one_name_are_told_apart(build_run: BuildRun, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run = build_run(f"{folder}/same")
        run.task("t")
        run.finish()
    assert set(Library([tmp_path / "a", tmp_path / "b"]).runs()) == {"same", "same~2"}


def test_every_kind_of_event_is_shown_also_what_nobody_knows(client: TestClient, aircraft: RunDir) -> None:
    told: list[dict[str, Any]] = [
        {"kind": "skill_read", "skill": "look", "file": "SKILL.md", "sha256": "0"},
        {"kind": "memory_read", "query": "what", "hits": [{"note": "n1", "text": "A note read"}]},
        {"kind": "memory_write", "note": "n2", "text": "A note written", "cites": [1]},
        {"kind": "egress", "method": "GET", "url": "javascript:alert(1)", "decision": "denied"},
        {"kind": "same_picture", "title": "the same"},
        {"kind": "answer", "text": "half a pair \ud800", "evidence": [1, "javascript:alert(2)"]},
        {"kind": "log", "message": "x" * 200_000},
        {"kind": "tool_result", "call": "none", "ok": True, "seconds": 1.0, "pictures": [
            {"blob": "../../private/gold.jsonl", "media_type": "text/html", "width": 1, "height": 1}]},
        {"kind": "brand_new", "what": {"deep": ["unknown to this version"]}},
        {"kind": "tool_call", "broken": "not what a call is"},
        {"kind": "model_request", "call": "m", "wire": "unheard of", "model": "m", "asked": {}, "sent": {},
         "tools": ["a"], "messages": ["gone"], "pictures": []},
    ]  # fmt: skip
    lines = [json.dumps({"seq": n, "t": n, "by": "sandbox", **event}) for n, event in enumerate(told)]
    (aircraft.traces / f"{episode_key('late')}.jsonl").write_text("\n".join(lines))
    episode = f"/run/aircraft/episode/{episode_key('late')}"
    page = client.get(episode).text
    for words in ("A note read", "A note written", "javascript:alert(1)", "half a pair ?", "unknown to this"):
        assert words in page
    assert 'href="javascript' not in page
    assert "%2E%2E" in page or "..%2F..%2Fprivate" in page
    assert len(page) < 300_000
    codes = {n: client.get(f"{episode}/event/{n}").status_code for n in range(len(told))}
    assert codes == {n: 404 if n == 9 else 200 for n in range(len(told))}


def test_a_task_without_a_picture_or_a_trace_says_so(client: TestClient, aircraft: RunDir) -> None:
    shutil.rmtree(aircraft.traces)
    shutil.rmtree(aircraft.blobs)
    jsonl.write_all(aircraft.tasks_file, [{"id": "wrong", "question": "What?"}])
    page = client.get(WRONG).text
    assert "no picture of the task" in page
    assert "There is no trace" in page


def test_the_runs_of_a_study_are_named_after_it(build_run: BuildRun, tmp_path: Path) -> None:
    run = build_run("study/base")
    run.task("t")
    run.finish()
    arms = {"base": {"tools": "all"}}
    study = RecordedStudy(
        name="study", started="2026-11-30T10:00:00Z", baseline="base", axes=["tools"],
        benchmark={"name": "b", "version": "1"},
        arms=arms, runs=[RecordedRun(run="base", arm="base")],
    )  # fmt: skip
    StudyDir(tmp_path / "study").create()
    StudyDir(tmp_path / "study").write(study, {})
    for place in (tmp_path, tmp_path / "study"):
        assert set(Library([place]).runs()) == {"study~base"}


def test_a_run_that_cannot_be_opened_is_counted_and_says_why(client: TestClient, aircraft: RunDir) -> None:
    """Its files, a folder in place of one, the whole of it: nothing of that is a fault of the app."""
    aircraft.facts_file.unlink()
    aircraft.facts_file.mkdir()
    assert "1 left out" in client.get("/").text
    assert "Is a directory" in client.get("/run/aircraft/").text
    aircraft.run_json.write_bytes(b"\xff")
    assert "1 left out" in client.get("/").text
    assert client.get("/run/aircraft/").status_code == 500
    shutil.rmtree(aircraft.path)
    assert (client.get("/").status_code, client.get("/run/aircraft/").status_code) == (200, 404)


def test_the_number_of_an_event_may_be_anything(client: TestClient) -> None:
    for number in ("9" * 5000, "-1", "1e3", "٣", "%00"):
        assert client.get(f"{WRONG}/event/{number}").status_code == 404


def test_a_damaged_request_is_not_given_as_whole(client: TestClient, aircraft: RunDir) -> None:
    for path in aircraft.blobs.glob("*.txt*"):
        path.write_bytes(path.read_bytes()[:15])
    trace = next(aircraft.traces.glob("wrong*"))
    trace.write_bytes(trace.read_bytes() + b'{"kind":[],"seq":99,"t":0,"by":"sandbox"}\n')
    assert client.get(WRONG).status_code == 200
    assert client.get(f"{WRONG}/event/3").status_code == 200
    assert client.get(f"{WRONG}/event/3/request").status_code == 404
