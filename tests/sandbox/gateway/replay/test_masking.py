"""Which differences between two requests count, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from fieldmark.sandbox.gateway.replay.drift import differences, masked_hash
from fieldmark.sandbox.gateway.replay.masking import masked
from fieldmark.sandbox.gateway.wire import chat, responses

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("Today's date: Mon Nov 30 2026", "Today's date: <time>"),
        ("Monday, November 30, 2026 at 10:15:00 AM GMT+0800 (CST)", "<time> (CST)"),
        ("30 November 2026", "<time>"),
        ("2026-11-30T10:15:00.123Z", "<time>"),
        ("on\n2026-11-30", "on\n<time>"),
        ("[10:15:02] begun", "[<time>] begun"),
        ("Mon Nov 30 15:02:24 UTC 2026", "<time>"),
        ("took 0.53 s, then 12 ms", "took <seconds>, then <seconds>"),
        ("at 1796023000 and 1796023000123", "at <epoch> and <epoch>"),
        ("ses_5f2a90c1ffeXyZ", "<id>"),
        ("toolu_01A09q90qw90lq917835lq9", "<id>"),
        ("6fa459ea-ee8a-3ca4-894e-db77e160355e", "<uuid>"),
        ("Session 9f8e7d6c5b4a", "Session <hex>"),
        ("/tmp/opencode-x81/view.png", "<path>/view.png"),
        ("http://127.0.0.1:41873/v1", "http://<port>/v1"),
        (f"blob:{A}", f"blob:{A}"),
    ],
)  # fmt: skip
def test_what_changes_from_run_to_run_is_masked(text: str, mask: str) -> None:
    assert masked(text) == mask


@pytest.mark.parametrize(
    "text",
    [
        "N8710M is a Boeing 787-10 of 2019, 200 seconds at 40 m",
        "box 10, 20, 300, 420; ratio 3:2; 16:9",
        "the tool call_by_name and run_step are at /workspace/view.png",
        "decade, facade and defaced",
        "HAWORTHIA 12345678",
    ],
)
def test_what_is_said_is_not(text: str) -> None:
    assert masked(text) == text


def test_ids_are_masked_by_their_keys() -> None:
    call = {"id": "AbC123xyz", "type": "function", "function": {"name": "ocr", "arguments": "{}"}}
    assert masked(call) == {**call, "id": "<id>"}


def request(text: str, picture: str = A, **more: Any) -> dict[str, Any]:
    url = {"type": "image_url", "image_url": {"url": f"blob:{picture}"}}
    told = {"role": "user", "content": [{"type": "text", "text": text}, url]}
    return {"model": "m", "messages": [{"role": "system", "content": "s"}, told], **more}


def test_two_requests_of_different_days_are_the_same() -> None:
    assert masked_hash(request("It is 2026-11-30.")) == masked_hash(request("It is 2026-12-01."))
    swapped = dict(reversed(request("It is 2026-11-30.").items()))
    assert masked_hash(swapped) == masked_hash(request("It is 2026-11-30."))


def test_the_places_that_differ_are_named() -> None:
    recorded = request("What is this?")
    assert differences(chat, request("What is this?"), recorded) == []
    assert differences(chat, request("What is that?"), recorded) == ["messages[1]"]
    assert differences(chat, request("What is this?", picture=B), recorded) == ["messages[1]"]
    assert differences(chat, request("What is this?", temperature=0), recorded) == ["temperature"]
    shorter = {**recorded, "messages": recorded["messages"][:1]}
    assert differences(chat, recorded, shorter) == ["messages (2 instead of 1)"]
    assert differences(responses, {"input": "a"}, {"input": "b"}) == ["input"]
