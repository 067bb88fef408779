"""Words in the results of tools."""

from __future__ import annotations

import json

from starlette.testclient import TestClient

from fieldmark.evals.inspector.library import Library
from fieldmark.evals.inspector.search import ResultSearch
from fieldmark.rundir import RunDir


def test_text_data_and_errors_are_searched_and_nothing_else(aircraft: RunDir) -> None:
    late = next(record for record in aircraft.episodes() if record.id == "late")
    told = [
        {"kind": "tool_result", "text": "The STRASSE of Ünlü"},
        {"kind": "tool_result", "data": {"hits": ["größe"]}},
        {"kind": "tool_result", "ok": False, "error": "no route", "text": None},
        {"kind": "log", "message": 'only a log with "tool_result" in it'},
        {"kind": "tool_result", "text": ["not", "a text"]},
    ]
    lines = [json.dumps(row) for row in told]
    aircraft.trace_file(late).write_text("\n".join([*lines, '{"kind": "tool_result", "text": "torn']))
    for words, there in (
        ("straße", True), ("ünlü", True), ("GRÖSSE", True), ("no route", True), ("only a log", False),
        ("torn", False), ("null", False),
    ):  # fmt: skip
        assert (late.key in ResultSearch(aircraft).find([late], words).keys) is there, words


def test_it_stops_at_its_limit_and_says_so(client: TestClient, aircraft: RunDir, library: Library) -> None:
    records = aircraft.episodes()
    first = aircraft.trace_file(records[0]).stat().st_size
    found = ResultSearch(aircraft, most=first).find(records, "singapore")
    assert (len(found.keys), found.searched, found.of, found.stopped) == (1, 1, 4, True)
    assert "stopped" not in client.get("/run/aircraft/?q=x&in=results").text
    index = library.run("aircraft")
    assert index
    index.results = ResultSearch(aircraft, most=first)
    page = client.get("/run/aircraft/?q=singapore&in=results").text
    assert "1 of 4 traces were searched" in page


def test_a_trace_that_is_gone_is_passed_over(aircraft: RunDir) -> None:
    records = aircraft.episodes()
    aircraft.trace_file(records[1]).unlink()
    assert ResultSearch(aircraft).find(records, "singapore").keys == {("wrong", 0)}
