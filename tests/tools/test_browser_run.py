"""The tool browser in a whole run: a scripted model in our graph, two calls in one turn, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.rundir import RunDir
from tests.conftest import Fieldmark
from tests.fieldmark.test_run import flags
from tests.model_server import Body, Call, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("sandbox_image", "nothing_left")

URL = "https://colours.example/"
PAGE = "<title>Colours</title><p id=p>…</p><script>p.textContent = 'The square is red.'</script>"


def browses_then_answers(body: Body) -> Reply:
    if any(message["role"] == "tool" for message in body["messages"]):
        return Reply(calls=[Call("answer", {"text": "red"})])
    opens = {"action": "open", "url": URL}
    return Reply(calls=[Call("browser", opens, "first"), Call("browser", opens, "second")])


def test_the_model_sees_the_page_and_its_picture(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    host = tiny.parent / "site" / "colours.example"
    host.mkdir(parents=True)
    (host / "index.html").write_text(PAGE)
    with ModelServer(browses_then_answers) as server:
        done = fieldmark(*flags(server, tiny, "out", "--limit", 1))
        asked = server.requests
    assert done.returncode == 0, done.stderr
    said = [message["content"] for message in asked[1]["messages"] if message["role"] == "tool"]
    assert ["The square is red." in text for text in said] == [True, True]
    shown = [part for part in asked[1]["messages"][-1]["content"] if part["type"] == "image_url"]
    assert [part["image_url"]["url"][:23] for part in shown] == ["data:image/jpeg;base64,"] * 2

    run = RunDir.open(tmp_path / "out")
    [record] = run.episodes()
    events: list[Any] = list(run.trace(record))
    assert [event.action for event in events if event.kind == "tool_call"][:2] == ["browser", "browser"]
    pages = [event for event in events if event.kind == "egress" and event.url == URL]
    assert {(page.decision, page.reason) for page in pages} == {("replayed", "site")}
    assert record.status == "answered"
