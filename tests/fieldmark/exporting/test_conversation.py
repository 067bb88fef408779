"""The conversation of an episode, out of each wire format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from fieldmark.blobs import BlobStore
from fieldmark.exporting.conversation import GONE, Conversation, conversations
from fieldmark.sandbox.gateway.wire.formats import format_named
from fieldmark.sandbox.gateway.wire.requests import fields, without_pictures
from fieldmark.trace import Event, parse_event
from tests.sandbox.gateway.wire.samples import CROP, FORMATS, PNG, request

VIEW, CUT = (hashlib.sha256(data).hexdigest() for data in (PNG, CROP))


def event(seq: int, kind: str, **more: Any) -> Event:
    return parse_event({"seq": seq, "t": float(seq), "by": "gateway", "kind": kind, **more})


def asked(seq: int, wire: str, blobs: BlobStore, call: str = "m1") -> Event:
    """A request as the gateway leaves it."""
    whole = json.dumps(request(wire), separators=(",", ":"), ensure_ascii=False)
    apart = without_pictures(whole)
    told = fields(format_named(wire), whole, apart, json.loads(apart.text), blobs.put_text)
    pictures = [
        {"blob": each.blob, "media_type": each.media_type, "width": 320, "height": 200}
        for each in apart.pictures
    ]
    more = {"wire": wire, "model": "scripted", "sent": {}, "pictures": pictures, "thread": "t1"}
    return event(seq, "model_request", call=call, **{**told, **more})


def answered(seq: int, call: str = "m1", calls: tuple[tuple[str, str, str], ...] = ()) -> Event:
    asks = [{"id": id_, "name": name, "arguments": arguments} for id_, name, arguments in calls]
    return event(seq, "model_response", call=call, http=200, text="A plane.", tool_calls=asks, seconds=1.0)


def said(conversation: Conversation, step: int = 0) -> list[tuple[bool, str, list[str]]]:
    before = conversation.steps[step].before
    return [(each.system, each.text, [picture.blob for picture in each.pictures]) for each in before]


@pytest.mark.parametrize("wire", FORMATS)
def test_what_was_said_in_each_format(wire: str, tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    [own] = conversations([asked(0, wire, blobs), answered(1)], blobs)
    assert said(own) == [(True, "Look.", []), (False, "What is this?", [VIEW]), (False, "", [CUT])]
    assert own.steps[0].response.text == "A plane."


def test_a_picture_that_a_result_tells_of_is_no_message(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    cut = {"blob": CUT, "media_type": "image/png", "width": 320, "height": 200}
    result = event(2, "tool_result", call="c", ok=True, seconds=1, pictures=[cut])
    [own] = conversations([asked(0, "messages", blobs), answered(1), result], blobs)
    assert said(own) == [(True, "Look.", []), (False, "What is this?", [VIEW])]


def test_a_message_is_told_once_and_one_that_is_gone_is_named(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    events = [asked(0, "chat_completions", blobs), answered(1)]
    events += [asked(2, "chat_completions", blobs, "m2"), answered(3, "m2")]
    [own] = conversations(events, blobs)
    assert said(own, 1) == []
    [gone] = conversations(events, BlobStore(tmp_path / "elsewhere"))
    assert {text for _, text, _ in said(gone)} == {GONE}


def test_calls_whose_arguments_cannot_be_read(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    calls = (("a", "ocr", "{broken"), ("b", "ocr", "[1]"), ("", "ocr", ""))
    [own] = conversations([asked(0, "chat_completions", blobs), answered(1, calls=calls)], blobs)
    assert [(call.id, call.arguments, call.readable, call.result) for call in own.steps[0].calls] == [
        ("a", {"raw": "{broken"}, False, None),
        ("b", {"raw": "[1]"}, False, None),
        ("m1.2", {}, True, None),
    ]
