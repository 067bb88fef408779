"""A request is changed in the way of its format, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fieldmark.sandbox.gateway.wire import requests
from fieldmark.sandbox.gateway.wire.editing import holds_result, with_picture, with_result
from fieldmark.sandbox.gateway.wire.formats import format_named
from tests.sandbox.gateway.wire.samples import CROP, FORMATS, PNG, raw, request, source, uri

PARTS: dict[str, Any] = {
    "chat_completions": {"type": "image_url", "image_url": {"url": uri(CROP)}},
    "responses": {"type": "input_image", "image_url": uri(CROP)},
    "messages": {"type": "image", "source": source(CROP)},
}
TEXTS = {"chat_completions": "text", "responses": "input_text", "messages": "text"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_says_another_thing(name: str) -> None:
    wire, body = format_named(name), request(name)
    assert with_result(wire, body, lambda call: call == "c2", "nothing") is None
    assert not holds_result(wire, body, lambda call: call == "c2")
    assert holds_result(wire, body, lambda call: call == "c1")
    edited = with_result(wire, body, lambda call: call == "c1", "nothing")
    assert edited is not None
    told = [
        said["content"] for said in wire.as_chat({wire.ITEMS: edited})["messages"] if said["role"] == "tool"
    ]
    assert told == ["nothing"]
    same = [now == was for now, was in zip(edited, body[wire.ITEMS], strict=True)]
    assert same.count(False) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_picture_is_the_last_that_the_user_says(name: str) -> None:
    wire, body = format_named(name), request(name)
    begun = {**body, wire.ITEMS: body[wire.ITEMS][:1]}
    asked = with_picture(
        wire, {**begun, wire.ITEMS: [{"role": "user", "content": "What?"}]}, CROP, "image/png"
    )
    assert asked == [{"role": "user", "content": [{"type": TEXTS[name], "text": "What?"}, PARTS[name]]}]
    after_model = [{"role": "assistant", "content": "Hm."}]
    said = with_picture(wire, {wire.ITEMS: after_model}, CROP, "image/png")
    assert said == [*after_model, {"role": "user", "content": [PARTS[name]]}]
    whole = requests.changed(raw(body).decode(), {wire.ITEMS: with_picture(wire, body, CROP, "image/png")})
    pictures = requests.without_pictures(whole).pictures
    assert [each.data for each in pictures] == [PNG, CROP, CROP]
    assert {**json.loads(whole), wire.ITEMS: None} == {**body, wire.ITEMS: None}
