"""The hypotheses of `forager` on the page of its episode, from ledgers as the agent itself logs them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.agents.foraging.ledger import Evidence, Hypothesis, Ledger, RuledOut, Verdict
from fieldmark.agents.foraging.telling import as_data
from fieldmark.evals.inspector.foraging import foraging
from fieldmark.rundir import RunDir, episode_key
from fieldmark.trace import parse_event

PAGE = f"/run/aircraft/episode/{episode_key('wrong')}"
FIRST = Hypothesis("Boeing 747-400", "variant", 0.6, ("a hump [E1]",), ("no winglets",), ("E1",))
OTHER = Hypothesis("Airbus A380-800", "variant", 0.3, ("two decks",))
CUT = Evidence("E1", "crop_zoom", '{"box": [1, 2]}', 7)
READ = Evidence("E2", "ocr", "{}", 8)
OUT = RuledOut("Airbus A380-800", "the text names another airline [E2]", ("E2",), 2)
EXACT = Verdict("Boeing 747-400", "exact", "the hump", ("E1",), mark="upper deck", missing="")


def log(seq: int, data: dict[str, Any]) -> dict[str, Any]:
    return {"seq": seq, "t": seq / 10, "by": "sandbox", "kind": "log", "message": "forager", "data": data}


STAGES = [
    log(100, as_data(Ledger((FIRST, OTHER), "Boeing 747-300", "the winglets"), stage="observe")),
    log(101, as_data(Ledger((FIRST,), ruled_out=(OUT,)), (CUT, READ), stage="acquire", turn=1)),
    log(102, as_data(Ledger((FIRST,), ruled_out=(OUT,)), (), EXACT, stage="verify")),
    {"seq": 103, "t": 10.3, "by": "sandbox", "kind": "answer", "text": "Boeing 747-400", "evidence": [7]},
    log(104, as_data(Ledger((FIRST,), ruled_out=(OUT,)), stage="answer", supported=True)),
]


@pytest.fixture
def foraged(aircraft: RunDir) -> RunDir:
    trace = aircraft.trace_file(aircraft.episodes()[0])
    jsonl.write_all(trace, [*jsonl.read(trace).rows, *STAGES])
    return aircraft


def test_each_hypothesis_has_its_evidence_and_its_fate() -> None:
    found = foraging(map(parse_event, STAGES))
    assert found is not None
    assert [(each.last.name, each.fate, each.seq) for each in found.beliefs] == [
        ("Boeing 747-400", "verified: exact, answered", 104),
        ("Airbus A380-800", "ruled out", 100),
    ]
    assert [found.speaks(each) for each in found.evidence.values()] == [
        [("for", "Boeing 747-400")],
        [("against", "Airbus A380-800")],
    ]
    assert found.supported


def test_the_page_links_each_to_its_event(client: TestClient, foraged: RunDir) -> None:
    page = client.get(PAGE).text
    course = page[page.index('<h2 id="course">') : page.index('<h2 id="timeline">')]
    assert {int(seq) for seq in re.findall(r"at=(\d+)#e", course)} == {7, 8, 100, 102, 103, 104}
    for words in (
        "a hump [E1]",
        "no winglets",
        "names another airline",
        "Mark: <bdi>upper deck",
        "cites evidence",
    ):
        assert words in course


def test_an_agent_without_stages_has_no_such_part(client: TestClient) -> None:
    assert 'id="course"' not in client.get(PAGE).text


@pytest.mark.parametrize(
    "data",
    [
        None, [], "x", {"stage": "observe"}, {"stage": 3, "hypotheses": []},
        {"stage": "observe", "hypotheses": [{"name": ["x"]}]},
        {"stage": "observe", "hypotheses": {}, "evidence": 1e999},
    ],
)  # fmt: skip
def test_a_log_of_another_form_is_no_stage(data: Any) -> None:
    assert foraging([parse_event(log(1, data))]) is None
