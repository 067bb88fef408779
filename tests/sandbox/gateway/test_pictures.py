"""GET /image/region: cuts of the original through the real door, the same as on the host's command line."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldmark.client import GatewayRefused
from fieldmark.sandbox.gateway.backends import Backends
from fieldmark.sandbox.gateway.clock import Clock
from fieldmark.tools.calling import call_tool
from fieldmark.tools.inside import GatewayContext
from fieldmark.tools.outside import HostContext
from fieldmark.tools.pictures import images
from fieldmark.tools.registry import get_tool
from tests.sandbox.gateway.conftest import Enter, Inside
from tests.tools.pictures import jpeg, png, scene

BOX = (33.0, 21.0, 301.0, 180.0)
LOOKS: list[dict[str, Any]] = [
    {},
    {"rotate": 90.0},
    {"rotate": 12.5},
    {"contrast": "auto"},
    {"rotate": 200.0, "contrast": "auto", "media_type": "image/png"},
    {"scale": 0.3},
]


def context(inside: Inside) -> GatewayContext:
    prompt = inside.session.prompt
    return GatewayContext(inside.client, prompt.image, prompt.view)


async def test_a_cut_is_the_same_inside_and_on_the_host(enter: Enter, tmp_path: Path) -> None:
    """Decoded or kept: the second cut inside is made from what the first left on disk."""
    path = tmp_path / "scene.jpg"
    path.write_bytes(jpeg(scene(3)))
    host = HostContext(path, out=tmp_path / "out")
    async with enter(picture=path) as inside:
        for look in LOOKS * 2:
            assert await asyncio.to_thread(context(inside).region, BOX, **look) == host.region(BOX, **look)


async def test_the_tool_inside_records_what_was_done(enter: Enter) -> None:
    arguments = {"x1": 0, "y1": 0, "x2": 0.5, "y2": 1, "space": "fraction", "rotate": -90, "contrast": "auto"}
    async with enter() as inside:
        result = await asyncio.to_thread(
            call_tool, get_tool("crop_zoom"), arguments, context(inside), door="graph"
        )
        [event] = inside.events("tool_result")
    assert result.ok
    (picture,) = event["pictures"]
    assert (picture["rotate"], picture["contrast"], picture["box"]) == (270, "auto", [0, 0, 160, 200])
    assert (picture["width"], picture["height"]) == (768, 614)
    assert picture["levels"][0] < picture["levels"][1]


REFUSED = {
    "rotate=nan": "degrees clockwise",
    "rotate=inf": "degrees clockwise",
    "rotate=left": "degrees clockwise",
    "contrast=high": "none or auto",
    "scale=65": "at most 64",
    "scale=-1": "over 0",
    "box=1,2,3": "four finite numbers",
    "box=nan,0,1,1": "four finite numbers",
    "box=500,500,600,600": "the image is 320x200 px",
}


async def test_what_cannot_be_cut_is_refused(enter: Enter) -> None:
    async with enter() as inside:
        for query, says in REFUSED.items():
            with pytest.raises(GatewayRefused, match=says):
                await inside.ask("GET", f"/image/region?{query}")
        assert (await inside.ask("GET", "/image/region?rotate=1e300")).status == 200


async def test_two_processes_cut_one_picture_at_once(tmp_path: Path) -> None:
    path = tmp_path / "scene.png"
    data = png(scene(4, (800, 600)))
    path.write_bytes(data)
    boxes = [(x * 50.0, x * 35.0, x * 50.0 + 333, x * 35.0 + 217) for x in range(6)]
    expected = [images.cut(data, box, scale=1.7, media_type="image/jpeg") for box in boxes]
    backends = Backends()
    try:
        jobs = [backends.cut(Clock(), str(path), box, 1.7, "image/jpeg") for box in boxes * 2]
        made = await asyncio.gather(*jobs)
        path.unlink()  # by now it is kept: nothing is decoded any more
        kept = [await backends.cut(Clock(), str(path), box, 1.7, "image/jpeg") for box in boxes]
    finally:
        backends.close()
    assert made == expected * 2
    assert kept == expected


async def test_a_picture_of_100_megapixels_is_cut_within_the_limits_of_a_worker(tmp_path: Path) -> None:
    """Its memory is limited: were more than one decoded copy needed, the worker would be lost."""
    path = tmp_path / "large.png"
    large = Image.new("L", (12000, 9000), 30)
    large.paste(200, (11000, 8000, 12000, 9000))
    large.save(path, compress_level=1)
    backends = Backends()
    try:
        corner = await backends.cut(Clock(), str(path), (10500, 7500, 12000, 9000), 0.5, "image/png")
        again = await backends.cut(Clock(), str(path), (10500, 7500, 12000, 9000), 0.5, "image/png")
        whole = await backends.cut(Clock(), str(path), None, 0.1, "image/jpeg", 30.0, "auto")
    finally:
        backends.close()
    assert corner == again
    assert Image.open(io.BytesIO(corner.data)).getpixel((700, 700)) == (200, 200, 200)
    assert whole.box == (0, 0, 12000, 9000)


async def test_what_a_model_is_shown_fits_into_the_room_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "scene.png"
    path.write_bytes(png(scene(4, (1600, 1200))))
    backends = Backends(room=(40_000, 200_000))
    try:
        whole = await backends.cut(Clock(), str(path), None, 1.0, "image/jpeg")
        shown = await backends.cut(Clock(), str(path), (100, 0, 1500, 1200), 1.0, "image/jpeg", shown=True)
        small = await backends.cut(Clock(), str(path), (0, 0, 90, 60), 1.0, "image/jpeg", shown=True)
    finally:
        backends.close()
    assert whole.size == (1600, 1200)  # what tools read keeps its scale
    assert len(shown.data) <= 40_000
    assert shown.size[0] * shown.size[1] <= 200_000
    assert shown.box == (100, 0, 1500, 1200)
    assert shown.scale == pytest.approx(shown.size[0] / 1400, abs=1e-5)
    assert shown.size[0] / shown.size[1] == pytest.approx(1400 / 1200, abs=0.02)
    assert (small.size, small.scale) == ((90, 60), 1.0)
