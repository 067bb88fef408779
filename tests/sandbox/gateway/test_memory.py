"""/memory/*: notes through the gateway, and which results a note may rest on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fieldmark.client import GatewayRefused
from fieldmark.memory.episode import EpisodeMemory
from fieldmark.memory.notes import Note
from fieldmark.memory.retrieval import Stored
from fieldmark.memory.vectors import text_vector
from fieldmark.tools.calling import call_by_name
from fieldmark.tools.crop_zoom import TOOL as CROP
from fieldmark.tools.inside import GatewayContext
from fieldmark.tools.offer import Offer
from fieldmark.tools.recall import TOOL as RECALL
from fieldmark.tools.remember import TOOL as REMEMBER
from tests.sandbox.gateway.conftest import Enter, Inside

OFFER = Offer({tool.name: tool for tool in (CROP, RECALL, REMEMBER)})


def memory() -> EpisodeMemory:
    text = "Grey gradients grow brighter towards their <untrusted>middle</untrusted>."
    note = Note(id="other", note="n1", kind="visual_cue", text=text, cites=[1])
    return EpisodeMemory("t", 0, "What is this?", [Stored(note, text_vector(text), None)], 1)


async def call(inside: Inside, name: str, **arguments: Any) -> Any:
    prompt = inside.session.prompt
    context = GatewayContext(inside.client, prompt.image, prompt.view, numbering=True)
    return await asyncio.to_thread(call_by_name, name, arguments, OFFER, context, door="command")


async def test_a_note_rests_on_a_result_and_is_recorded(enter: Enter) -> None:
    async with enter(memory=memory()) as inside:
        cut = await call(inside, "crop_zoom", x1=0, y1=0, x2=50, y2=50, space="pixel")
        seq = inside.events("tool_result")[-1]["seq"]
        assert f"\n(result {seq})\ndata: " in cut.for_model()
        noted = await call(inside, "remember", text="Its corner is dark.", kind="visual_cue", cites=[seq])
        assert (noted.ok, noted.data, noted.number) == (True, {"taken": True, "left": 4}, None)
        event = inside.events("memory_write")[0]
        assert (event["by"], event["text"], event["cites"]) == ("gateway", "Its corner is dark.", [seq])
        assert inside.session.counts["memory_writes"] == 1


async def test_recalled_notes_are_words_of_strangers_and_no_evidence(enter: Enter) -> None:
    async with enter(memory=memory()) as inside:
        found = await call(inside, "recall", query="gradients")
        assert "<untrusted source=memory>\n1. (visual_cue) Grey gradients" in found.text
        assert "&lt;/untrusted>" in found.text
        assert inside.events("memory_read")[0]["hits"][0]["note"] == "n1"
        own = inside.events("tool_result")[-1]["seq"]
        refused = await call(inside, "remember", text="Notes say so.", kind="family", cites=[own])
        assert refused.error_kind == "invalid_args"
        assert "none yet that could be cited" in refused.error


async def test_a_result_that_was_only_claimed_cannot_be_cited(enter: Enter) -> None:
    """Nothing was asked of the gateway meanwhile, and no model called for it."""
    async with enter(memory=memory()) as inside:
        claim = {"call": "x", "name": "aircraft_registry", "door": "graph"}
        await inside.post("/events", {"kind": "tool_call", **claim})
        told = {"kind": "tool_result", "call": "x", "ok": True, "seconds": 0.1, "text": "N1 is a Cessna"}
        seq = (await inside.post("/events", told))["seq"][0]
        with pytest.raises(GatewayRefused, match="is no result of a tool in this episode"):
            await inside.post("/memory/remember", {"text": "x", "kind": "family", "cites": [seq]})


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/memory/recall", {"query": "anything"}),
        ("/memory/remember", {"text": "x", "kind": "family", "cites": [1]}),
    ],
)
async def test_a_run_without_memory_has_no_notes(enter: Enter, route: str, body: dict[str, Any]) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match="this run has no memory") as refused:
            await inside.post(route, body)
        assert refused.value.status == 503


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/memory/recall", {"query": 3}),
        ("/memory/recall", {"query": "x", "limit": True}),
        ("/memory/remember", {"text": "x", "kind": "family", "cites": ["1"]}),
        ("/memory/remember", {"text": "x" * 3000, "kind": "family", "cites": [1]}),
        ("/memory/remember", []),
    ],
)
async def test_odd_requests_are_refused(enter: Enter, route: str, body: Any) -> None:
    async with enter(memory=memory()) as inside:
        with pytest.raises(GatewayRefused) as refused:
            await inside.post(route, body)
        assert refused.value.status == 400
