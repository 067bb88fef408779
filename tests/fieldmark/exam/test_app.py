"""The exam's page: no gold, one picture, and only its own forms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from fieldmark.evals.inspector.security import Door
from fieldmark.exam.app import make_app
from fieldmark.exam.sitting import Sitting
from fieldmark.rundir import RunDir
from tests.fieldmark.exam.conftest import NewExam

BASE = "http://127.0.0.1:7789"


@pytest.fixture
def folder(new: NewExam) -> RunDir:
    return new()


@pytest.fixture
def sitting(folder: RunDir) -> Sitting:
    return Sitting(folder)


@pytest.fixture
def client(folder: RunDir, sitting: Sitting) -> Iterator[TestClient]:
    app = make_app(sitting, folder.blob_store(), Door(frozenset({"127.0.0.1"}), None))
    with TestClient(app, base_url=BASE, headers={"origin": BASE}) as made:
        yield made


def send(client: TestClient, sitting: Sitting, path: str, **fields: str) -> int:
    told = {"token": sitting.token, "number": str(sitting.number), **fields}
    return client.post(path, data=told, follow_redirects=False).status_code


def test_no_gold_no_id_and_no_label_is_ever_sent(
    client: TestClient, sitting: Sitting, folder: RunDir
) -> None:
    sent = b""
    golds = [name for gold in folder.gold().values() for name in (gold.answer, *gold.aliases)]
    for _ in range(sitting.total):
        sent += client.get("/").content
        assert send(client, sitting, "/begin") == 303
        sent += client.get("/").content
        assert send(client, sitting, "/answer", do="answer", answer="no such thing") == 303
    sent += client.get("/").content
    assert b"The exam is complete" in sent
    text = sent.decode().lower()
    ids = [str(row["id"]) for row in folder.tasks()]
    assert [name for name in [*golds, *ids, "Transport"] if name.lower() in text] == []


def test_only_the_open_questions_picture_is_shown(client: TestClient, sitting: Sitting) -> None:
    blobs = [row["image"]["blob"] for row in sitting.tasks.values()]
    assert client.get(f"/picture/{blobs[0]}").status_code == 404
    send(client, sitting, "/begin")
    assert [client.get(f"/picture/{blob}").status_code for blob in blobs] == [200, 404, 404]


def test_a_strange_host_a_strange_form_and_a_strange_page_are_refused(
    client: TestClient, sitting: Sitting
) -> None:
    assert client.get("/", headers={"host": "elsewhere.org"}).status_code == 421
    assert send(client, sitting, "/begin", token="guessed") == 403
    done = client.post("/begin", data={"token": sitting.token}, headers={"origin": "http://elsewhere.org"})
    assert done.status_code == 403
    assert sitting.question is None
    assert "script-src 'self'" in client.get("/").headers["content-security-policy"]


def test_an_empty_answer_is_asked_for_again_and_what_was_typed_stays(
    client: TestClient, sitting: Sitting
) -> None:
    send(client, sitting, "/begin")
    form = {"token": sitting.token, "number": "1", "do": "answer", "answer": " ", "notes": "<b>left wing"}
    done = client.post("/answer", data=form)
    assert done.status_code == 422
    assert "The answer is empty" in done.text
    assert "&lt;b&gt;left wing" in client.get("/").text
    assert send(client, sitting, "/draft", number="2") == 409
    assert sitting.done == set()
