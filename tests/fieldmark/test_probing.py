"""Before a run: a model that looks, one that is blind, an agent that sends no picture, in real containers."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytesseract
import pytest
from PIL import Image

from fieldmark import preflight
from fieldmark.blobs import BlobStore
from fieldmark.config import load_config
from fieldmark.doctor.picture import draw
from fieldmark.episode import RunServices
from fieldmark.errors import InterruptedRun
from fieldmark.needs import Needs
from fieldmark.probing import Probe, judge_probe, look_first
from fieldmark.records import EpisodeRecord, Sight
from fieldmark.rundir import RunDir
from fieldmark.sandbox.container import PYTHON
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.pool import ContainerPool
from tests.conftest import Fieldmark
from tests.model_server import Body, ModelServer, Reply

PALETTE = {"red": (208, 24, 24), "green": (16, 136, 48), "blue": (24, 56, 208), "yellow": (248, 220, 24),
           "black": (16, 16, 16), "orange": (248, 128, 8)}  # fmt: skip
CONTAINERS = pytest.mark.usefixtures("sandbox_image", "nothing_left")


def looks(body: Body) -> Reply:
    """A model that sees: it decodes the picture it is sent, takes the nearest colour and reads the number."""
    uris = [part["image_url"]["url"] for message in body["messages"] for part in message["content"]
            if isinstance(part, dict) and part["type"] == "image_url"]  # fmt: skip
    image = Image.open(io.BytesIO(base64.b64decode(uris[0].partition(",")[2]))).convert("RGB")
    corner: Any = image.getpixel((5, 5))
    colour = min(
        PALETTE, key=lambda name: sum(abs(a - b) for a, b in zip(PALETTE[name], corner, strict=True))
    )
    number = pytesseract.image_to_string(
        image.convert("L"), config="--psm 8 -c tessedit_char_whitelist=0123456789"
    )
    return Reply(json.dumps({"answer": f"{colour} {number.strip()}"}))


def run_flags(server: ModelServer, tiny: Path, *more: object) -> list[object]:
    return ["run", "--probe", "--benchmark", tiny, "--agent", "closed_book", "--model", "scripted",
            "--base-url", server.url, "--limit", 1, "--out", "out", *more]  # fmt: skip


@CONTAINERS
def test_a_model_that_sees_is_probed_once_and_apart(fieldmark: Fieldmark, tiny: Path, tmp_path: Path) -> None:
    with ModelServer(looks) as server:
        done = fieldmark(*run_flags(server, tiny))
        again = fieldmark("run", "--resume", "out")
        asked = len(server.requests)
    assert (done.returncode, again.returncode) == (0, 0), done.stderr
    assert "probe: sees: model 'scripted' named colour and number" in done.stderr
    assert asked == 2  # the probe and the one task
    run = RunDir.open(tmp_path / "out")
    probe = Probe.recorded(run.config())
    assert probe is not None
    assert probe.picture is not None
    assert (probe.verdict, probe.picture.delivered, probe.picture.width) == ("sees", "exact", 448)
    assert probe.tokens is not None
    assert [record.id for record in run.episodes()] == ["square-red"]
    kept = RunDir(run.path / "probe")
    [record] = kept.episodes()
    kinds = [event.kind for event in kept.trace(record)]
    assert (kinds[0], kinds[-1]) == ("episode_start", "episode_end")


@CONTAINERS
def test_a_blind_model_stops_the_run_until_that_is_allowed(
    fieldmark: Fieldmark, tiny: Path, tmp_path: Path
) -> None:
    with ModelServer([Reply('{"answer": "purple 7"}')]) as server:
        done = fieldmark(*run_flags(server, tiny))
        spent = len(server.requests)
        again = fieldmark("run", "--resume", "out")
        allowed = fieldmark("run", "--resume", "out", "--allow-blind")
        asked = len(server.requests)
    assert (done.returncode, again.returncode, allowed.returncode) == (1, 1, 0), allowed.stderr
    assert (spent, asked) == (1, 2)
    assert "model 'scripted' is blind: the picture reached it (exact, 448x448)" in done.stderr
    assert "fieldmark run --resume out --allow-blind" in done.stderr
    run = RunDir.open(tmp_path / "out")
    assert (run.config()["probe"]["blind"], run.config()["probe"]["allowed"]) == ("model", True)
    assert len(run.episodes()) == 1


SENDS_NO_PICTURE = """
from fieldmark.client import GatewayClient
gateway = GatewayClient()
while (reply := gateway.get("/episode", timeout=None)).status == 204: pass
prompt = reply.json()
said = gateway.post("/v1/chat/completions", {
    "model": prompt["model"], "messages": [{"role": "user", "content": prompt["question"]}]})
gateway.event("answer", text=said["choices"][0]["message"]["content"])
gateway.post("/done", {"error": None})
"""


@CONTAINERS
async def test_an_agent_that_sends_no_picture_is_told_from_a_blind_model(tiny: Path, tmp_path: Path) -> None:
    folder = RunDir.create(tmp_path / "out")
    folder.write_config({"id": "out"})
    said: list[str] = []
    with ModelServer([Reply("I cannot see any picture.")]) as server:
        config = {"benchmark": str(tiny), "agent": "closed_book", "model": "scripted", "base_url": server.url}
        plan = preflight.make_plan(load_config(None, config))
        command = [PYTHON, "-c", SENDS_NO_PICTURE]
        pool = ContainerPool(
            plan.docker, plan.image_id, "probing", command, needs=Needs(), lifetime=60, spare=1, expected=1
        )
        backends = Backends()
        services = RunServices(folder, plan, pool, backends, BlobStore(folder.blobs))
        try:
            with pytest.raises(InterruptedRun, match="agent 'closed_book' is blind: it sent no picture"):
                await look_first(services, said.append)
        finally:
            backends.close()
            await pool.close()
            await plan.upstream.close()
    assert folder.config()["probe"]["blind"] == "agent"
    assert said[0].startswith("probe: blind: agent 'closed_book'")


EXACT = Sight(delivered="exact", width=448, height=448, first_call="m1", calls=1, with_picture=1)
DRAWN = draw(0)
RIGHT = f"{DRAWN.colour} {DRAWN.number}"


@pytest.mark.parametrize(
    ("sight", "answer", "status", "verdict", "blind"),
    [
        (EXACT, RIGHT, "answered", "sees", None),
        (EXACT, "purple 7", "answered", "blind", "model"),
        (EXACT, f"purple {DRAWN.number}", "answered", "unclear", None),
        (EXACT, None, "timeout", "unclear", None),
        (Sight(delivered="none", calls=3), "no picture", "answered", "blind", "agent"),
        (Sight(delivered="none", calls=3), RIGHT, "answered", "unclear", None),
        (Sight(delivered="none", calls=0), None, "agent_error", "unclear", None),
        (Sight(delivered="none", refused=2), None, "agent_error", "blind", "model"),
        (Sight(delivered="none"), None, "sandbox_error", "unclear", None),
    ],
)
def test_what_a_probe_shows(sight: Sight, answer: Any, status: Any, verdict: str, blind: Any) -> None:
    record = EpisodeRecord(
        id="probe", status=status, agent="a", model="m", answer=answer, seconds=1, charged_seconds=1,
        picture=sight, started="2026-11-30T10:15:00Z", trace="probe.jsonl",
    )  # fmt: skip
    probe = judge_probe(DRAWN, record)
    assert (probe.verdict, probe.blind) == (verdict, blind)
    assert "\n" not in probe.why
