"""A person's label, by the form of an episode's page: kept, shown again, and refused where it must be."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.evals.metrics.failures import failures
from fieldmark.evals.metrics.outcomes import cells
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.failure_tables import failure_tables
from fieldmark.findings import FailureMark
from fieldmark.judging.audit import lines, run_audit
from fieldmark.rundir import RunDir, episode_key
from tests.evals.inspector.test_app import WRONG, shown

BASE = "http://127.0.0.1:7788"
OWN = {"origin": BASE}
SAID = {"label": "visual_grounding", "link": "grounding", "note": "it is <b>a tail</b>"}


@pytest.fixture
def ann(library: Library) -> Iterator[TestClient]:
    """The app as ann started it."""
    app = make_app(library, GatewayRequests(), {"127.0.0.1"}, None, "ann")
    with TestClient(app, base_url=BASE) as made:
        yield made


def token(client: TestClient) -> str:
    """What stands in the form of a page."""
    found = re.search(r'name="token" value="([^"]+)"', client.get(WRONG).text)
    assert found
    return found[1]


def test_a_label_is_kept_shown_again_and_found_by_the_filter(
    ann: TestClient, aircraft: RunDir, library: Library
) -> None:
    assert len(shown(ann.get("/run/aircraft/?marked=no").text)) == 4
    sent = ann.post(
        f"{WRONG}/label?verdict=incorrect", data={**SAID, "token": token(ann)}, headers=OWN,
        follow_redirects=False,
    )  # fmt: skip
    assert sent.status_code == 303
    assert sent.headers["location"] == f"{WRONG}?verdict=incorrect#label"
    (mark,) = aircraft.failure_marks()
    assert (mark.id, mark.annotator, mark.label, mark.link) == (
        "wrong",
        "ann",
        "visual_grounding",
        "grounding",
    )
    assert mark.sighted  # the page showed the classifier's class
    assert failures(aircraft, cells(aircraft)).validity.sighted == 1
    again = make_app(Library([aircraft.path]), GatewayRequests(), {"127.0.0.1"}, None, "bob")
    with TestClient(again, base_url=BASE) as client:
        assert "it is &lt;b&gt;a tail&lt;/b&gt;" in client.get(WRONG).text
        assert shown(client.get("/run/aircraft/?marked=yes").text) == ["wrong"]


def test_a_doubt_about_a_correct_verdict_reaches_the_audit_and_the_report(
    ann: TestClient, aircraft: RunDir
) -> None:
    right = f"/run/aircraft/episode/{episode_key('right')}"
    said = {"label": "judge_or_label_doubt", "note": "it has four engines", "token": token(ann)}
    assert ann.post(f"{right}/label", data=said, headers=OWN).status_code == 200
    assert failures(aircraft, cells(aircraft)).validity.doubted == {"ann": 1}
    told = lines(run_audit(aircraft, 1, 0, lambda: "q", lambda _: None))
    assert told[-1] == "  right is correct; the audit did not ask; ann doubts it: it has four engines"
    tables = "".join(table.note for table in failure_tables(summarise(aircraft)))
    assert "correct answers whose verdict is doubted: ann 1" in tables


def test_a_run_that_another_process_writes_can_be_labelled(ann: TestClient, aircraft: RunDir) -> None:
    aircraft.lock()
    reply = ann.post(f"{WRONG}/label", data={**SAID, "token": token(ann)}, headers=OWN)
    aircraft.unlock()
    assert reply.status_code == 200
    assert len(aircraft.failure_marks()) == 1


def test_a_second_label_replaces_the_first_and_others_stay(ann: TestClient, aircraft: RunDir) -> None:
    aircraft.add_failure_mark(FailureMark(id="wrong", annotator="bob", label="too_broad"))
    for label in ("visual_grounding", "judge_or_label_doubt"):
        ann.post(f"{WRONG}/label", data={"label": label, "token": token(ann)}, headers=OWN)
    said = {mark.annotator: mark.label for mark in aircraft.failure_marks()}
    assert said == {"bob": "too_broad", "ann": "judge_or_label_doubt"}
    assert '<option value="judge_or_label_doubt" selected>' in ann.get(WRONG).text


def test_only_a_form_of_the_viewer_itself_is_taken(ann: TestClient, aircraft: RunDir) -> None:
    right = {**SAID, "token": token(ann)}
    for data, headers in (
        (right, {"origin": "http://evil.example"}), (right, {"origin": "null"}), (right, {}),
        ({**SAID, "token": "guessed"}, OWN), (SAID, OWN),
    ):  # fmt: skip
        assert ann.post(f"{WRONG}/label", data=data, headers=headers).status_code == 403
    assert ann.get(f"{WRONG}/label").status_code == 405
    assert ann.post(f"{WRONG}/label", data={**right, "note": "x" * 70_000}, headers=OWN).status_code == 413
    assert aircraft.failure_marks() == []


@pytest.mark.parametrize(
    ("task", "fields", "why"),
    [
        ("wrong", {"label": ""}, "choose one of"),
        ("wrong", {"label": "nonsense"}, "choose one of"),
        ("wrong", {"label": "too_broad", "sub": "misjudged"}, "kind of wrong_entity_retrieval"),
        ("wrong", {"label": "too_broad", "link": "chain"}, "is not known"),
        ("wrong", {"label": "too_broad", "note": "x" * 2001}, "at most 2000"),
        ("right", {"label": "too_broad"}, "cannot be said of this answer"),
    ],
)
def test_what_cannot_be_said_is_refused_with_the_reason(
    ann: TestClient, aircraft: RunDir, task: str, fields: dict[str, str], why: str
) -> None:
    path = f"/run/aircraft/episode/{episode_key(task)}/label"
    reply = ann.post(path, data={**fields, "token": token(ann)}, headers=OWN)
    assert reply.status_code == 409
    assert why in reply.text
    assert aircraft.failure_marks() == []


def test_where_it_cannot_be_kept_it_says_so(ann: TestClient, aircraft: RunDir) -> None:
    sent = {**SAID, "token": token(ann)}
    aircraft.failure_marks_file.symlink_to(aircraft.path / "gone" / "away")  # unwritable for root too
    refused = ann.post(f"{WRONG}/label", data=sent, headers=OWN)
    assert refused.status_code == 409
    assert "cannot write" in refused.text
    shutil.rmtree(aircraft.private)
    refused = ann.post(f"{WRONG}/label", data=sent, headers=OWN)
    assert "label where the run was made" in refused.text
    assert not aircraft.private.exists()
    page = ann.get(WRONG).text
    assert "<form" not in page
    assert "which is not here" in page
    assert 'name="marked"' not in ann.get("/run/aircraft/").text


def test_without_a_name_there_is_no_form(client: TestClient) -> None:
    assert "--annotator NAME" in client.get(WRONG).text
