"""Episodes of a run that goes on, or was killed, before they have a record."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.rundir import RunDir, episode_key

CALM, LOST = (f"/run/aircraft/episode/{episode_key(task)}" for task in ("calm", "lost"))


@pytest.fixture
def running(aircraft: RunDir) -> RunDir:
    """Two tasks more: one is in its second attempt, one was killed after its trace was whole."""
    aircraft.write_config({**aircraft.config(), "state": "running"})
    rows = [*aircraft.tasks(), {**aircraft.tasks()[0], "id": "calm"}, {**aircraft.tasks()[0], "id": "lost"}]
    jsonl.write_all(aircraft.tasks_file, rows)
    (aircraft.traces / f"{episode_key('lost')}.jsonl").write_bytes(_line(0))
    aircraft.pending_trace("calm", 0, 0).write_bytes(_line(0))
    with aircraft.pending_trace("calm", 0, 1).open("wb") as trace:
        trace.write(b"".join(map(_line, range(3))) + b'{"seq": 3, "t": 0.3, "by": "runn')
    aircraft.lock()
    return aircraft


def _line(seq: int) -> bytes:
    return jsonl.encode({"seq": seq, "t": seq / 10, "by": "runner", "kind": "log", "message": f"line {seq}"})


def test_what_has_not_ended_stands_in_the_table_and_opens(client: TestClient, running: RunDir) -> None:
    table = client.get("/run/aircraft/").text
    assert table.count(">running<") == 2
    assert "2 running" in table
    page = client.get(CALM).text
    assert "data-live" in page
    assert "attempt 2, 3 events so far" in page
    assert "line 2" in page
    assert "none yet" in page
    assert "model calls 0 of 40" in page
    assert client.get(f"{CALM}/event/2").status_code == 200
    assert client.get(LOST).status_code == 200


def test_it_is_the_same_address_once_it_has_ended(client: TestClient, running: RunDir) -> None:
    late = running.episodes()[-1]
    record = late.model_copy(update={"id": "calm", "attempt": 1, "trace": f"{episode_key('calm')}.jsonl"})
    running.commit(record, running.pending_trace("calm", 0, 1))
    page = client.get(CALM).text
    assert "data-live" not in page
    assert "ended as" in page
    assert client.get("/run/aircraft/").text.count(">running<") == 1


def test_a_killed_run_says_so(client: TestClient, running: RunDir) -> None:
    running.unlock()
    assert "killed" in client.get("/").text
    assert "begun and not finished" in client.get("/run/aircraft/").text
    page = client.get(CALM).text
    assert "data-live" not in page
    assert "nothing runs it" in page


def test_a_filter_of_what_is_finished_leaves_them_out(client: TestClient, running: RunDir) -> None:
    assert ">running<" not in client.get("/run/aircraft/?verdict=correct").text
    assert client.get("/run/aircraft/?q=CALM").text.count(">running<") == 1


def test_its_budget_is_counted_from_the_trace(client: TestClient, running: RunDir) -> None:
    whole = jsonl.read(running.trace_file(running.episodes()[0])).rows
    start = next(row for row in whole if row["kind"] == "episode_start") | {"seq": 0, "t": 0}
    start["limits"] = {"seconds": 240}
    asked = {"by": "gateway", "kind": "model_request", "call": "m1", "wire": "chat_completions", "model": "m",
             "asked": {}, "sent": {}, "tools": [], "messages": [], "pictures": []}  # fmt: skip
    said = {"by": "gateway", "kind": "model_response", "call": "m1", "http": 200, "seconds": 1,
            "tokens": {"input": 700, "output": 20}}  # fmt: skip
    rows = [start, *({"seq": seq, "t": 60 * seq, **row} for seq, row in ((1, asked), (2, said)))]
    jsonl.write_all(running.pending_trace("calm", 0, 1), rows)
    page = client.get(CALM).text
    assert "seconds 120 of 240 (50\u00a0%)" in page
    assert "model calls 1, no limit" in page
    assert "tokens 720, no limit" in page
