"""The pixel receipt: what of the task picture reached the model, request by request."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from tenacity import wait_none

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.upstream import HttpUpstream
from fieldmark.sight import sight_of
from tests.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from tests.sandbox.gateway.conftest import Enter, Inside

SAMPLE = Path(__file__).parents[3] / "evals/benchmarks/fieldmark_mini/images/m17.jpg"
TOOL = {"type": "function", "function": {"name": "ocr", "parameters": {"type": "object", "properties": {}}}}


def to(server: ModelServer) -> HttpUpstream:
    return HttpUpstream("scripted", server.url, back_off=wait_none())


def rewritten(data: bytes, side: int = 0, kind: str = "JPEG", box: Any = None) -> bytes:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    image = image.crop(box) if box else image
    if side:
        image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


async def ask(inside: Inside, *pictures: bytes, tools: bool = True) -> None:
    uris = [f"data:image/jpeg;base64,{base64.b64encode(data).decode()}" for data in pictures]
    parts = [{"type": "image_url", "image_url": {"url": uri}} for uri in uris]
    content = [{"type": "text", "text": f"What is this? {len(inside.session.shown)}"}, *parts]
    body = {"model": "scripted", "messages": [{"role": "user", "content": content}]}
    await inside.post("/v1/chat/completions", {**body, **({"tools": [TOOL]} if tools else {})})


def receipts(inside: Inside) -> list[Any]:
    rows = [event.get("task_picture") for event in inside.events("model_request")]
    return [row and (row["delivered"], row["width"], row["height"]) for row in rows]


async def test_the_very_bytes_need_no_decoding(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server), picture=SAMPLE) as inside:
            view = inside.session.prompt.view
            await ask(inside, rewritten(inside.session.pictures.view, 300), inside.session.pictures.view)
            assert receipts(inside) == [("exact", view.width, view.height)]
            assert inside.session.looked_at == {}


async def test_a_picture_that_a_framework_wrote_anew_is_known_by_its_look(enter: Enter) -> None:
    """As JPEG, as PNG, made smaller; another picture of the same shape, and a part of it, are not it."""
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server), picture=SAMPLE) as inside:
            view, size = inside.session.pictures.view, inside.session.prompt.view
            noise = Image.effect_noise((size.width, size.height), 90).convert("RGB")
            out = io.BytesIO()
            noise.save(out, "PNG")
            await ask(inside, out.getvalue(), rewritten(view, box=(0, 0, 90, 90)))
            await ask(inside, rewritten(view, 320))
            await ask(inside, rewritten(view, kind="PNG"))
            assert receipts(inside) == [
                None, ("resampled", *small(view, 320)), ("resampled", size.width, size.height)
            ]  # fmt: skip
            assert len(inside.session.looked_at) == 3  # not the part: its shape says enough
            sight = sight_of(inside.session.shown)
    assert (sight.delivered, sight.first_call, sight.with_picture, sight.calls) == ("resampled", "m2", 2, 3)
    assert (sight.width, sight.height) == (size.width, size.height)


def small(data: bytes, side: int) -> tuple[int, int]:
    return Image.open(io.BytesIO(rewritten(data, side))).size


async def test_a_smaller_copy_that_the_gateway_cut_is_known_by_what_was_cut(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            whole = await inside.ask("GET", "/image/region?scale=0.5&type=image/jpeg")
            part = await inside.ask("GET", "/image/region?box=0,0,160,100&type=image/jpeg")
            await ask(inside, part.body)
            await ask(inside, part.body, whole.body)
            assert receipts(inside) == [None, ("resampled", 160, 100)]
            assert inside.session.looked_at == {}


async def test_what_is_no_picture_breaks_nothing(enter: Enter) -> None:
    with ModelServer([Reply("ok")]) as server:
        async with enter(to(server), picture=SAMPLE) as inside:
            broken = inside.session.pictures.view[:2000] + b"\0"
            await ask(inside, broken, b"no picture")
            assert receipts(inside) == [None]
            assert sight_of(inside.session.shown).delivered == "none"


async def test_a_request_that_is_refused_did_not_reach_the_model(enter: Enter) -> None:
    with ModelServer([Reply(status=400), Reply("ok")]) as server:
        async with enter(to(server)) as inside:
            view = inside.session.pictures.view
            with pytest.raises(GatewayRefused):
                await ask(inside, view)
            sight = sight_of(inside.session.shown)
            assert (sight.delivered, sight.calls, sight.refused) == ("none", 0, 1)
            await ask(inside, view)
            assert sight_of(inside.session.shown).delivered == "exact"
