"""Kinds of fault that users of other evaluation tools reported (group 10: logs, trace, viewer)."""

from __future__ import annotations

import base64
import io
import json
import multiprocessing
import os
import random
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.clock import utc
from fieldmark.errors import UsageError
from fieldmark.rundir import RunDir, episode_key, hold
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import fields, without_pictures
from tests.conftest import FIELDMARK
from tests.evals.inspector.test_app import WRONG, shown

TURNS, WORKERS, ROWS, LONG = 5, 8, 50, 300_000
EVENTS = 20_000


def big_picture(seed: int) -> bytes:
    """A PNG of about 1 MB: noise cannot be compressed."""
    noise = random.Random(seed).randbytes(600 * 600 * 3)
    data = io.BytesIO()
    Image.frombytes("RGB", (600, 600), noise).save(data, "PNG")
    return data.getvalue()


def test_10_01_pictures_are_in_no_line_and_once_on_disk(client: TestClient, aircraft: RunDir) -> None:
    """Case 10-01: each of five requests holds all pictures so far, 15 MB of base64 in all."""
    store, rows, content = aircraft.blob_store(), [], []
    for turn in range(TURNS):
        shown_as = f"data:image/png;base64,{base64.b64encode(big_picture(turn)).decode()}"
        content.append({"type": "image_url", "image_url": {"url": shown_as}})
        whole = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]})
        apart = without_pictures(whole)
        store.put(big_picture(turn), "image/png")
        parts = fields(format_named("chat_completions"), whole, apart, json.loads(apart.text), store.put_text)
        head = {"seq": turn, "t": turn, "by": "gateway", "kind": "model_request", "call": f"m{turn}"}
        rows.append({**head, "model": "m", "wire": "chat_completions", "sent": {}, "pictures": [], **parts})
    trace = aircraft.trace_file(aircraft.episodes()[0])
    jsonl.write_all(trace, rows)
    assert trace.stat().st_size < 200_000
    stored = [path.stat().st_size for path in aircraft.blobs.iterdir()]
    assert sum(size > 1_000_000 for size in stored) == TURNS
    for page in (WRONG, f"{WRONG}/event/{TURNS - 1}"):
        assert len(client.get(page).raise_for_status().content) < 200_000


def test_10_02_a_bad_line_in_the_middle_is_named_and_a_torn_end_told(
    client: TestClient, aircraft: RunDir
) -> None:
    """Case 10-02: no later row is lost for it, in the viewer as in the report."""
    lines = aircraft.episodes_file.read_bytes().splitlines(keepends=True)
    aircraft.episodes_file.write_bytes(
        lines[0] + b'{"id": "i1", "stat\n' + b"".join(lines[1:]) + b'{"id": "x'
    )
    page = client.get("/run/aircraft/").text
    assert shown(page) == ["wrong", "right", "hostile", "late"]
    assert "episodes.jsonl: unreadable lines 2 were skipped" in page
    assert "a half-written last line was ignored" in page


@pytest.mark.parametrize(
    "answer",
    [
        "<script>window.__xss=1</script>", "</script><script>window.__xss=2</script>",
        "<img src=x onerror=window.__xss=3>", "a & b < c > d \"q\" 'q'",
    ],
)  # fmt: skip
def test_10_06_words_of_strangers_are_text_on_every_page(
    client: TestClient, aircraft: RunDir, answer: str
) -> None:
    """Case 10-06: in answers, ids, notes, arguments, logs; the policy allows no script of a page anyway."""
    record = aircraft.episodes()[0].model_copy(update={"answer": answer, "rationale": answer})
    jsonl.append(aircraft.episodes_file, record.model_dump(mode="json"))
    named = {"name": answer, "for": [answer], "cites": [answer]}
    found = {"id": answer, "tool": answer}
    ruling = {"candidate": answer, "ruling": answer}
    data = {"stage": answer, "hypotheses": [named], "evidence": [found], "verdict": ruling}
    note = {"note": answer, "text": answer}
    call = {"call": answer, "name": answer, "door": "graph", "arguments": answer}
    head = {"t": 9, "by": "sandbox"}
    rows = [
        {**head, "seq": 900, "kind": "log", "message": answer, "data": data},
        {**head, "seq": 901, "kind": "memory_read", "query": answer, "at": "recall", "hits": [note]},
        {**head, "seq": 902, "kind": "tool_call", **call},
    ]
    trace = aircraft.trace_file(record)
    jsonl.write_all(trace, [*jsonl.read(trace).rows, *rows])
    for path in ("/run/aircraft/", WRONG, *(f"{WRONG}/event/{row['seq']}" for row in rows)):
        reply = client.get(path)
        assert reply.status_code == 200
        assert not any(mark in reply.text for mark in ("<script>", "<img src=x", "a & b <"))
        assert "script-src 'self'" in reply.headers["content-security-policy"]


def test_10_08_a_trace_of_20_000_events_opens_in_parts(client: TestClient, aircraft: RunDir) -> None:
    """Case 10-08: processor seconds and the size of each page, from its first window to its last."""
    late = episode_key("late")
    rows = [
        {"seq": n, "t": n, "by": "runner", "kind": "log", "message": f"line {n} {'x' * 400}"}
        for n in range(EVENTS)
    ]
    jsonl.write_all(aircraft.traces / f"{late}.jsonl", rows)
    address = f"/run/aircraft/episode/{late}"
    for place in (0, EVENTS // 2, EVENTS - 1):
        begun = time.process_time()
        page = client.get(f"{address}?at={place}").text
        assert time.process_time() - begun < 3
        assert f"line {place} " in page
        assert page.count('class="step ') == 200
        assert len(page) < 400_000


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_10_09_a_number_that_json_does_not_have_blanks_no_page(
    client: TestClient, aircraft: RunDir, odd: str
) -> None:
    """Case 10-09: old files and other writers leave them; what is written anew has none."""
    with aircraft.verdicts_file.open("a") as file:
        file.write(f'{{"id":"right","epoch":0,"label":"incorrect","score":{odd},"judge":"exact"}}\n')
    trace = aircraft.trace_file(aircraft.episodes()[0])
    with trace.open("a") as file:
        file.write(f'{{"seq":900,"t":9,"by":"sandbox","kind":"log","message":"m","score":{odd}}}\n')
    assert shown(client.get("/run/aircraft/").text) == ["wrong", "right", "hostile", "late"]
    page = client.get(f"{WRONG}/event/900").text
    assert '"score": null' in page or "&#34;score&#34;: null" in page
    aircraft.write_config({**aircraft.config(), "odd": float(odd)})
    assert "NaN" not in aircraft.run_json.read_text()
    assert b"null" in jsonl.encode({"score": float(odd)})


def _append(path: Path, worker: int) -> None:
    for number in range(ROWS):
        jsonl.append(path, {"worker": worker, "number": number, "text": "x" * LONG}, durable=False)


def test_10_10_rows_of_many_writers_do_not_mix_and_a_run_has_one_runner(tmp_path: Path) -> None:
    """Case 10-10: 8 processes × 50 rows of 300 kB; then a folder that another process holds."""
    path = tmp_path / "rows.jsonl"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_append, args=(path, worker)) for worker in range(WORKERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    lines = jsonl.read(path)
    assert (len(lines.rows), lines.bad, lines.torn) == (WORKERS * ROWS, [], False)
    assert len({(row["worker"], row["number"]) for row in lines.rows}) == WORKERS * ROWS
    os.close(hold(tmp_path))  # let go again
    held = hold(tmp_path)
    try:
        with pytest.raises(UsageError, match="another fieldmark process is writing"):
            RunDir(tmp_path).lock()
        assert RunDir(tmp_path).held()
    finally:
        os.close(held)
    assert not RunDir(tmp_path).held()


def test_10_12_a_run_reads_the_same_in_every_time_zone(
    client: TestClient, aircraft: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 10-12: across the end of summer time too; times of day are UTC and say so."""
    aircraft.write_config({**aircraft.config(), "started": "2026-10-25T00:59:59Z", "state": "running"})
    jsonl.write_all(aircraft.tasks_file, [*aircraft.tasks(), {"id": "calm"}])
    aircraft.pending_trace("calm", 0, 0).write_text("")
    os.utime(aircraft.pending_trace("calm", 0, 0), (1_792_888_200, 1_792_888_200))
    command = [str(FIELDMARK), "show", str(aircraft.path), "wrong"]
    pages, told = set(), set()
    for zone in ("Asia/Kolkata", "America/New_York", "Europe/Berlin", "UTC"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        pages.add("".join(client.get(path).text for path in ("/", "/run/aircraft/", WRONG)))
        if zone.startswith("A"):
            told.add(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert utc() == datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    monkeypatch.undo()
    time.tzset()
    assert (len(pages), len(told)) == (1, 1)
    page = pages.pop()
    assert "2026-10-25T00:59:59Z" in page
    assert "last event 2026-10-25 00:30:00 UTC" in page
