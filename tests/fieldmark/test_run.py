"""The main job end to end: the command line, real containers, and a scripted model server."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.rundir import RunDir, episode_key
from fieldmark.sandbox.container import PYTHON
from tests.conftest import Fieldmark, ours
from tests.model_server import Body, Call, ModelServer, Reply, in_order

KEY = "sk-TESTKEY-abcdef0123456789"
pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")


def flags(server: ModelServer, tiny: Path, out: str, *more: object) -> list[object]:
    return [
        "run", "--benchmark", tiny, "--model", "scripted", "--base-url", server.url, "--key-env", "TEST_KEY",
        "--out", out, *more,
    ]  # fmt: skip


def looks_closer_then_answers(body: Body) -> Reply:
    """Crop first; once a tool message is there, answer."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red", "confidence": 0.9})])
    box = {"x1": 0, "y1": 0, "x2": 200, "y2": 150}
    return Reply("Let me look closer.", [Call("crop_zoom", box, "a"), Call("ocr", {}, "b")])


def test_react_looks_closer_and_answers(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    with ModelServer(looks_closer_then_answers) as server:
        done = fieldmark(*flags(server, tiny, "out", "--agent", "react"), env={"TEST_KEY": KEY})
        assert set(server.keys) == {f"Bearer {KEY}"}
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    records = {record.id: record for record in run.episodes()}
    assert Counter(record.status for record in records.values()) == {"answered": 4}
    labels = {task_id: verdict.label for (task_id, _), verdict in run.verdicts().items()}
    assert labels == {
        "square-red": "correct", "square-green": "incorrect",
        "square-blue": "incorrect", "square-white": "incorrect",
    }  # fmt: skip
    trace: list[Any] = list(run.trace(records["square-red"]))
    kinds = [event.kind for event in trace]
    assert kinds[0] == "episode_start"
    assert kinds[-1] == "episode_end"
    assert Counter(kinds)["model_request"] == 2
    calls = [event for event in trace if event.kind == "tool_call"]
    assert {(call.name, call.model_call, call.by) for call in calls} >= {
        ("crop_zoom", "a", "sandbox"),
        ("ocr", "b", "sandbox"),
    }
    [picture] = next(event.pictures for event in trace if event.kind == "tool_result" and event.pictures)
    assert picture.box == (0, 0, 200, 150)
    assert [event.seq for event in trace] == list(range(len(trace)))


def test_the_picture_and_the_crop_reach_the_model(fieldmark: Fieldmark, tiny: Path) -> None:
    with ModelServer(looks_closer_then_answers) as server:
        fieldmark(*flags(server, tiny, "out", "--limit", 1))
    first, second = server.requests
    assert str(first["messages"]).count("data:image/png;base64,") == 1
    assert str(second["messages"]).count(";base64,") == 2
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"crop_zoom", "ocr", "answer"}


def test_closed_book_answers_in_json(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    reply = Reply('```json\n{"answer": "green", "confidence": "80%", "rationale": "it is green"}\n```')
    with ModelServer([reply]) as server:
        done = fieldmark(*flags(server, tiny, "out", "--agent", "closed_book", "--parallel", 4))
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert {(r.answer, r.confidence) for r in run.episodes()} == {("green", 0.8)}
    assert sum(v.label == "correct" for v in run.verdicts().values()) == 1
    assert all("tools" not in request for request in server.requests)


def test_a_hanging_model_ends_as_a_timeout_inside_the_limit(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    with ModelServer([Reply(hang=True)]) as server:
        done = fieldmark(*flags(server, tiny, "out", "--limit", 1, "--time-limit", 2))
    assert done.returncode == 0, done.stderr
    [record] = RunDir.open(tmp_path / "out").episodes()
    assert record.status == "timeout"
    assert 2.0 <= record.charged_seconds < 7.0


def test_a_refused_request_is_the_agents_error_and_counts_as_wrong(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    too_long = Reply(status=400, error={"message": "context too long", "code": "context_length_exceeded"})
    with ModelServer([too_long]) as server:
        done = fieldmark(*flags(server, tiny, "out", "--agent", "closed_book", "--limit", 2))
    assert done.returncode == 0, done.stderr
    run = RunDir.open(tmp_path / "out")
    assert {r.status for r in run.episodes()} == {"agent_error"}
    assert [v.label for v in run.verdicts().values()] == ["incorrect", "incorrect"]


def test_a_refused_key_stops_the_run_and_leaves_the_rest_not_run(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    script = in_order([*[Reply('{"answer": "red"}')] * 2, Reply(status=401), Reply('{"answer": "blue"}')])
    with ModelServer(script) as server:
        done = fieldmark(*flags(server, tiny, "out", "--agent", "closed_book", "--parallel", 1))
        run = RunDir.open(tmp_path / "out")
        stopped = [record.answer for record in run.episodes()], run.config()["state"]
        again = fieldmark("run", "--resume", "out")
    assert done.returncode == 1
    assert "401" in done.stderr
    assert "fieldmark run --resume out" in done.stderr
    assert stopped == (["red", "red"], "interrupted")
    assert again.returncode == 0, again.stderr
    assert [record.answer for record in run.episodes()] == ["red", "red", "blue", "blue"]
    assert run.config()["state"] == "finished"


def test_neither_key_nor_gold_is_in_the_container_and_the_key_in_no_file_at_all(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path, engine: Any
) -> None:
    """Case 10-04. Searched while an episode waits for its model: environments, files, the engine's record and
    log. Of gold, an answer, and an id, for ids may tell as much.

    The model's server then repeats the key in an error and in an address: neither is on disk or shown.
    """
    found: list[str] = []
    tiny.write_text(tiny.read_text().replace("red colour", "Zyqmilion"))

    def search() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not server.requests:
            time.sleep(0.1)
        for container in ours(engine):
            for secret in (KEY, "Zyqmilion", "square-red"):
                found.extend(files_with(engine, container, secret))
            assert KEY not in engine.api.logs(container).decode("utf-8", "replace")
            assert KEY not in json.dumps(engine.api.inspect_container(container))
            # the search itself works: the question is in a file of the busy container
            found.extend(files_with(engine, container, "Which colour"))

    loud = {"message": f"Bearer {KEY} is slow: https://x.invalid/v1?api_key={KEY}"}
    replies = [Reply(status=500, error=loud, delay=8), Reply('{"answer": "red"}')]
    with ModelServer(replies) as server:
        searching = threading.Thread(target=search)
        searching.start()
        done = fieldmark(
            *flags(server, tiny, "out", "--agent", "closed_book", "--limit", 1), env={"TEST_KEY": KEY}
        )
        searching.join()
    assert done.returncode == 0, done.stderr
    assert found == ["/workspace/.prompt.json"]
    assert KEY not in done.stdout + done.stderr
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in everything_shown(tmp_path / "out", fieldmark)
    for kind in ("csv", "parquet", "atif", "otel", "public"):
        assert fieldmark("export", "out", f"--{kind}", f"as-{kind}").returncode in (0, 1)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(made) > len(files) + 5
    assert not [path for path in made if KEY.encode() in path.read_bytes()]


def everything_shown(out: Path, fieldmark: Fieldmark) -> str:
    """What the viewer, `show` and `report` say of a run: every page, event and request."""
    app = make_app(Library([out]), GatewayRequests(), {"127.0.0.1"}, None)
    client = TestClient(app, base_url="http://127.0.0.1")
    said = [client.get("/").text, client.get("/run/out/").text]
    for record in RunDir.open(out).episodes():
        page = f"/run/out/episode/{episode_key(record.id, record.epoch)}"
        events = [event.seq for event in RunDir.open(out).trace(record)]
        said += [client.get(path).text for path in (page, *(f"{page}/event/{seq}" for seq in events))]
        said += [client.get(f"{page}/event/{seq}/request").text for seq in events]
        said.append(fieldmark("show", out, record.id, "--json").stdout)
    said.append(fieldmark("report", out, "--json").stdout)
    assert sum(len(each) > 500 for each in said) > 5
    return "".join(said)


SEARCH = """
import base64, pathlib, sys
text = base64.b64decode(sys.argv[1])
places = [*pathlib.Path("/proc").glob("[0-9]*/environ"), *pathlib.Path("/proc").glob("[0-9]*/cmdline")]
tops = "/etc /tmp /home /run /workspace /opt/fieldmark /opt/own /var /root /srv /mnt /dev/shm"
for top in tops.split():
    places += pathlib.Path(top).rglob("*")
for path in places:
    try:
        if path.is_file() and text in path.read_bytes():
            print(path)
    except OSError:
        pass
"""


def files_with(engine: Any, container: str, text: str) -> list[str]:
    """Files and process environments inside a container that hold `text`; the search carries it encoded."""
    command = [PYTHON, "-c", SEARCH, base64.b64encode(text.encode()).decode()]
    made = engine.api.exec_create(container, command)
    return str(engine.api.exec_start(made["Id"]).decode()).split()


def test_a_skill_that_is_off_takes_its_look_up_away(fieldmark: Fieldmark, tmp_path: Path) -> None:
    """The bundled benchmark with the built-in model: the registration is read either way."""
    ends = {}
    for name, skills in (("on", "all"), ("off", "all,-aircraft-registration")):
        done = fieldmark("run", "--tasks", "mini-34", "--skills", skills, "--out", name)
        assert done.returncode == 0, done.stderr
        run = RunDir.open(tmp_path / name)
        assert run.config()["probe"]["why"] == "the model is said to take no pictures"
        ends[name] = next(iter(run.verdicts().values())).label, "aircraft_registry" in run.config()["tools"]
    assert ends == {"on": ("correct", True), "off": ("incorrect", False)}


def test_a_skill_is_listed_read_and_recorded(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    read = Reply(calls=[Call("read_skill", {"name": "food"}), Call("read_skill", {"name": "astrology"})])
    with ModelServer([read, Reply(calls=[Call("answer", {"text": "red"})])]) as server:
        done = fieldmark(*flags(server, tiny, "out", "--limit", 1, "--skills", "food,mineral"))
    assert done.returncode == 0, done.stderr
    first, second = server.requests
    assert "- mineral: " in str(first["messages"])
    assert "- vehicle-id" not in str(first["messages"])
    given, refused = (message["content"] for message in second["messages"] if message["role"] == "tool")
    assert "Skill food, SKILL.md" in given
    assert "food, mineral" in refused
    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    trace: list[Any] = list(run.trace(record))
    assert [(e.skill, e.file) for e in trace if e.kind == "skill_read"] == [("food", "SKILL.md")]
    assert len(run.config()["skills"]["food"]) == 64


def test_strict_skill_calls_reach_the_container_and_the_record(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    as_a_tool = Reply(calls=[Call("food", {})])
    with ModelServer([as_a_tool, Reply(calls=[Call("answer", {"text": "red"})])]) as server:
        done = fieldmark(*flags(server, tiny, "out", "--limit", 1, "--skill-calls", "strict"))
    assert done.returncode == 0, done.stderr
    [told] = [message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
    assert told.startswith("Error (not_found): no tool named 'food'; the tools are ")
    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    assert run.config()["config"]["skill_calls"] == "strict"
    assert [event.kind for event in run.trace(record)].count("skill_read") == 0


def test_forced_parameters_and_budgets_are_kept_and_recorded(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    """In a TOML file and by flags that go over it; a third call would begin over the 200 tokens."""
    toml = tmp_path / "run.toml"
    toml.write_text("model = { force = { temperature = 0.5, seed = 1 } }\nmax_tokens = 200")
    crop = Reply(calls=[Call("crop_zoom", {"x1": 0, "y1": 0, "x2": 200, "y2": 150})])
    with ModelServer([crop]) as server:
        options = ["--limit", 1, "--force", "temperature=0", "--force", "max_tokens=64"]
        done = fieldmark("run", toml, *flags(server, tiny, "out", *options)[1:])
        sent = [{key: body[key] for key in ("temperature", "seed", "max_tokens")} for body in server.requests]
    assert done.returncode == 0, done.stderr
    assert sent == [{"temperature": 0, "seed": 1, "max_tokens": 64}] * 2
    run = RunDir.open(tmp_path / "out")
    assert run.config()["model"]["force"] == {"temperature": 0, "seed": 1, "max_tokens": 64}
    assert (run.config()["limits"]["tokens"], run.config()["limits"]["same_requests"]) == (200, 5)
    assert [record.status for record in run.episodes()] == ["budget"]
