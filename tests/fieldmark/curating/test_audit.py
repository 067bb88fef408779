"""Marks of annotators: on disk at once, apart from each other, adjudicated where they disagree."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

import httpx
import pytest
from starlette.testclient import TestClient

from fieldmark.curating.audit.app import make_app
from fieldmark.curating.audit.desk import Desk
from fieldmark.evals.curation.audit.agreement import audit_agreement
from fieldmark.evals.curation.audit.marks import Mark, disagreed, mark
from fieldmark.evals.curation.project import Project
from fieldmark.evals.inspector.security import Door
from tests.conftest import FIELDMARK, spawn

BASE = "http://127.0.0.1:7790"


@pytest.fixture
def project(project: Project) -> Project:
    for each in list(project.candidates("screen.hard")):
        project.decide("leakage", each.id, "keep", "clean")
    return project


@pytest.fixture
def desk(project: Project) -> Desk:
    return Desk(project, "ann")


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    app = make_app(desk, Door(frozenset({"127.0.0.1"}), None))
    with TestClient(app, base_url=BASE, headers={"origin": BASE}) as made:
        yield made


def verdict(project: Project, candidate: str) -> str:
    decision = project.decision("audit", candidate)
    assert decision
    return decision.verdict


def test_two_agree_two_disagree_and_one_adjudicates(project: Project) -> None:
    one, two, _ = (each.id for each in project.candidates("leakage"))
    finer = Mark(choice="correct", label="a finer one")
    mark(project, one, "ann", finer)
    assert verdict(project, one) == "open"
    mark(project, one, "bob", finer.model_copy(update={"label": "A  finer one", "aliases": ["fine"]}))
    assert verdict(project, one) == "keep"
    held = project.decision("audit", one)
    assert held
    assert (held.evidence["label"], held.evidence["aliases"]) == ("a finer one", ["fine"])
    mark(project, two, "ann", Mark(choice="keep", label="x"))
    mark(project, two, "bob", Mark(choice="drop", label="x"))
    assert disagreed(project) == [two]
    before = len(project.history(two))
    mark(project, two, "bob", Mark(choice="drop", label="x"))
    assert len(project.history(two)) == before
    mark(project, two, "cem", Mark(choice="drop", label="x", adjudicates=True))
    assert verdict(project, two) == "drop"
    found = audit_agreement(project)
    assert (found.marked, found.pairs[0].n, found.pairs[0].raw.count) == ({"ann": 2, "bob": 2}, 2, 1)


def test_an_annotator_does_not_see_another_and_an_adjudicator_does(project: Project) -> None:
    one = next(project.candidates("leakage")).id
    mark(project, one, "bob", Mark(choice="drop", label="x", note="blurred"))
    mark(project, one, "dan", Mark(choice="keep", label="x"))
    for desk, seen in ((Desk(project, "ann"), False), (Desk(project, "cem", adjudicates=True), True)):
        app = make_app(desk, Door(frozenset({"127.0.0.1"}), None))
        with TestClient(app, base_url=BASE) as client:
            assert ("blurred" in client.get(f"/item/{one}").text) == seen


def test_strange_forms_are_refused_and_a_correction_must_correct(
    client: TestClient, desk: Desk, project: Project
) -> None:
    one = next(project.candidates("leakage"))
    form = {"token": desk.token, "candidate": one.id, "choice": "correct", "label": one.label}
    assert client.post("/mark", data={**form, "token": "guessed"}).status_code == 403
    assert client.post("/mark", data=form, headers={"origin": "http://elsewhere.org"}).status_code == 403
    assert client.get("/", headers={"host": "elsewhere.org"}).status_code == 421
    assert "needs another label" in client.post("/mark", data=form).text
    assert "begins with http" in client.post("/mark", data={**form, "urls": "file:///x"}).text
    changed = client.post("/mark", data={**form, "choice": "keep", "label": "a finer one", "note": "typed"})
    assert "correct to it" in changed.text
    assert 'value="a finer one"' in changed.text
    assert 'value="typed"' in changed.text
    assert desk.done == 0


def test_a_mark_outlives_a_kill(project: Project) -> None:
    one = next(project.candidates("leakage")).id
    process = spawn([FIELDMARK, "curate", "audit", str(project.folder), "--annotator", "ann", "--port", "0"])
    assert process.stdout
    line = process.stdout.readline()
    base = line.split()[1].rstrip("/")
    with httpx.Client(base_url=base, headers={"origin": base}, timeout=60) as client:
        page = client.get(f"/item/{one}").text
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token
        sent = {"token": token[1], "candidate": one, "choice": "keep"}
        assert client.post("/mark", data=sent).status_code == 303
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [row.who for row in project.history(one, "audit")] == ["ann", "fieldmark"]
