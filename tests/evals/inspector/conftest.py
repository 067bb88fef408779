"""A run of aircraft to look at: real pictures, a request taken apart by the gateway itself, hostile words."""

from __future__ import annotations

import base64
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from fieldmark import jsonl
from fieldmark.blobs import BlobStore
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.failures.taxonomy import VERSION
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.findings import Failure, FailureReason, GoldFacts, TraceFacts
from fieldmark.rundir import RunDir
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import fields, without_pictures
from fieldmark.task import Gold

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun, EpisodeBuilder

AIRCRAFT = Path(__file__).parents[3] / "evals/benchmarks/fieldmark_mini/images/m28.jpg"
BOX = (100.0, 60.0, 340.0, 180.0)
READ = (120.0, 80.0, 200.0, 104.5)
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e\x1b[31m"
)


@pytest.fixture
def aircraft(build_run: BuildRun) -> RunDir:
    """Four tasks: a wrong aircraft with looks, a right one, a hostile answer, a time-out."""
    run = build_run("aircraft", limits={"seconds": 240.0, "model_calls": 40, "tokens": 0, "cost": 0.0})
    store = BlobStore(run.folder.blobs)
    picture = _stored(store, AIRCRAFT.read_bytes(), "image/jpeg")
    for name in ("wrong", "right", "hostile", "late"):
        gold = Gold(answer="Airbus A380-800", aliases=["A380"])
        run.task(name, top="Transport", mid="Aircraft", split="composed", gold=gold)
        run._tasks[-1] |= {"image": picture, "view": picture}
    _looked(run.episode("wrong", verdict="incorrect", seconds=37.4), store, picture)
    run.episode("right", verdict="correct", seconds=5.0).step(("web_search", "ok")).answer("Airbus A380-800")
    hostile = run.episode("hostile", verdict="incorrect").step(("ocr", "failed")).answer(HOSTILE)
    hostile.event("sandbox", "log", message=HOSTILE)
    run.episode("late", status="timeout", seconds=240.0)
    folder = run.finish()
    _found(folder)
    return folder


def _looked(episode: EpisodeBuilder, store: BlobStore, picture: dict[str, Any]) -> None:
    """Two calls at once after a request that holds the picture; the last act failed."""
    start = {"version": "1", "run": "aircraft", "id": "wrong", "epoch": 0, "attempt": 0, "agent": "react"}
    episode.event("runner", "episode_start", **start, model="m", image=picture, view=picture,
                  prompt_sha256="0", limits={})  # fmt: skip
    episode.event("gateway", "model_request", call="q1", model="m", wire="chat_completions", sent={},
                  **_request(store, picture))  # fmt: skip
    episode.response("q1", [("a", "crop_zoom"), ("b", "ocr")])
    for call, name in (("a", "crop_zoom"), ("b", "ocr")):
        episode.event("sandbox", "tool_call", call=call, name=name, door="graph", action=name)
    cut = {**_crop(store), "of": picture["blob"], "box": BOX, "scale": 2.0}
    region = {"of": picture["blob"], "box": BOX, "label": "crop"}
    episode.event("sandbox", "tool_result", call="a", ok=True, seconds=0.2, pictures=[cut], regions=[region])
    text = {"of": picture["blob"], "box": READ, "label": "SINGAPORE"}
    episode.event("sandbox", "tool_result", call="b", ok=True, seconds=0.3, text="SINGAPORE", regions=[text])
    episode.tool("c", "web_search", end="failed")
    episode.answer("Boeing 747-400")


def _request(store: BlobStore, picture: dict[str, Any]) -> dict[str, Any]:
    """A request with the picture in it, as the gateway takes it apart."""
    encoded = base64.b64encode(AIRCRAFT.read_bytes()).decode()
    shown = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}}
    asked = {"role": "user", "content": [shown, {"type": "text", "text": f"Which aircraft? {HOSTILE}"}]}
    tool = {"type": "function", "function": {"name": "ocr", "parameters": {"type": "object"}}}
    body = {"model": "m", "temperature": 0.25, "messages": [asked], "tools": [tool]}
    whole = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    apart = without_pictures(whole)
    parts = fields(format_named("chat_completions"), whole, apart, json.loads(apart.text), store.put_text)
    return {**parts, "pictures": [picture]}


def _crop(store: BlobStore) -> dict[str, Any]:
    x0, y0, x1, y1 = map(int, BOX)
    cut = Image.open(AIRCRAFT).crop((x0, y0, x1, y1)).resize((2 * (x1 - x0), 2 * (y1 - y0)))
    data = io.BytesIO()
    cut.save(data, "JPEG")
    return _stored(store, data.getvalue(), "image/jpeg")


def _stored(store: BlobStore, data: bytes, media_type: str) -> dict[str, Any]:
    store.folder.mkdir(parents=True, exist_ok=True)
    width, height = Image.open(io.BytesIO(data)).size
    blob = store.put(data, media_type)
    return {"blob": blob, "media_type": media_type, "width": width, "height": height}


def _found(folder: RunDir) -> None:
    """Facts, and a failure that cites the reading."""
    wrong = TraceFacts(id="wrong", acts=3, looked=True, failed_acts=1, picture="exact")
    folder.add_facts(wrong, GoldFacts(id="wrong", seen=True, seen_event=8))
    right = TraceFacts(id="right", acts=1, searched=True, picture="none")
    folder.add_facts(right, GoldFacts(id="right", seen=True))
    folder.add_facts(TraceFacts(id="late", picture_lost=True), None)
    row = Failure(
        id="wrong", taxonomy=VERSION, outcome="incorrect", label="neighbour_confusion", link="reasoning",
        stage="facts", classifier="facts", events=[8],
    )  # fmt: skip
    why = FailureReason(id="wrong", classifier="facts", reason="SECRET-why", events=[4])
    jsonl.append(folder.failures_file, row.model_dump(mode="json"))
    jsonl.append(folder.failure_reasons_file, why.model_dump(mode="json"))


@pytest.fixture
def other(aircraft: RunDir, build_run: BuildRun) -> RunDir:
    """The same four tasks; the first of them right, after another first act."""
    run = build_run("other")
    for task in aircraft.tasks():
        run.task(task["id"], gold=Gold(answer="Airbus A380-800"))
        run._tasks[-1] |= {"image": task["image"], "view": task["view"]}
    shutil.copytree(aircraft.blobs, run.folder.blobs, dirs_exist_ok=True)
    run.episode("wrong", verdict="correct").step(("web_search", "ok")).answer("Airbus A380-800 <b>")
    return run.finish()


@pytest.fixture
def library(aircraft: RunDir) -> Library:
    return Library([aircraft.path])


@pytest.fixture
def client(library: Library) -> Iterator[TestClient]:
    """The app as loopback serves it."""
    app = make_app(library, GatewayRequests(), {"127.0.0.1", "localhost"}, None)
    with TestClient(app, base_url="http://127.0.0.1:7788") as made:
        yield made
