"""The look-ups behind classify_image and compare_images, through the door."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from PIL import Image

import fieldmark
from fieldmark.client import GatewayRefused
from fieldmark.tools.inside import FilingContext
from tests.sandbox.gateway.conftest import Enter

INDEX = Path(fieldmark.__file__).parent / "evals/benchmarks/fieldmark_mini/index"


async def test_the_picture_or_a_box_of_it_is_classified_on_the_host(enter: Enter) -> None:
    async with enter() as inside:
        whole = await inside.post("/lookup/classify", {"box": None, "limit": 3})
        part = await inside.post("/lookup/classify", {"box": [0, 0, 100, 100], "limit": 3})
        with pytest.raises(GatewayRefused, match="outside"):
            await inside.post("/lookup/classify", {"box": [900, 900, 999, 999]})
    assert [len(reply["classes"]) for reply in (whole, part)] == [3, 3]
    assert whole["classes"] != part["classes"]


async def test_a_found_picture_comes_by_the_name_of_its_hit(enter: Enter) -> None:
    async with enter(index=INDEX) as inside:
        hits = (await inside.post("/lookup/reverse-image", {"limit": 1}))["hits"]
        reply = await inside.ask("GET", f"/lookup/picture?ref={hits[0]['image']}")
        picture = Image.open(io.BytesIO(reply.body))
        statuses = []
        for name in ("index:999", "index:-1", "index:..%2Findex.jsonl", "x", ""):
            with pytest.raises(GatewayRefused) as refused:
                await inside.ask("GET", f"/lookup/picture?ref={name}")
            statuses.append(refused.value.status)
    assert (picture.format, max(picture.size) <= 1024) == ("JPEG", True)
    assert statuses == [404] * 5


async def test_a_run_without_an_index_has_no_found_pictures(enter: Enter) -> None:
    async with enter() as inside:
        with pytest.raises(GatewayRefused, match="no picture index") as refused:
            await inside.ask("GET", "/lookup/picture?ref=index:0")
    assert refused.value.kind == "unavailable"


async def test_a_picture_that_a_tool_made_is_kept_and_written_for_a_shell(
    enter: Enter, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(buffer, "PNG")
    async with enter() as inside:
        prompt = inside.session.prompt
        context = FilingContext(inside.client, prompt.image, prompt.view, tmp_path)
        picture = await asyncio.to_thread(context.keep, buffer.getvalue(), "image/png")
        assert inside.blobs.get(picture.blob) == buffer.getvalue()
    assert (picture.width, picture.height, picture.of) == (40, 30, None)
    path = context.file(picture)
    assert path is not None
    assert path.read_bytes() == buffer.getvalue()
