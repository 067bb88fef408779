"""From the list of runs to a failing aircraft episode in real Chromium, on a desk and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from tests.evals.inspector.browser import visit
from tests.evals.inspector.conftest import BOX, HOSTILE, READ

WALK = """
errors = []
page = browser.new_page(viewport={"width": 1280, "height": 900})
page.on("console", lambda said: errors.append(said.text))
page.on("pageerror", lambda error: errors.append(str(error)))
page.goto(base + "/")
page.click("text=aircraft")
page.select_option("select[name=verdict]", "incorrect")
page.click("text=Filter")
found["filtered"] = page.locator("tbody th").all_text_contents()
found["title"], found["answers"] = page.title(), page.locator("td.answer").all_text_contents()
page.click("tbody th >> nth=0 >> a")
page.wait_for_function("document.querySelector('.stage img').complete")
found["boxes"] = page.evaluate('''() => {
    const image = document.querySelector(".stage img"), at = image.getBoundingClientRect();
    const scale = [at.width / image.naturalWidth, at.height / image.naturalHeight];
    const boxes = [...document.querySelectorAll(".mark rect")].map(mark => {
        const box = mark.getBoundingClientRect();
        return [(box.left - at.left) / scale[0], (box.top - at.top) / scale[1],
                (box.right - at.left) / scale[0], (box.bottom - at.top) / scale[1]]; });
    const numbers = [...document.querySelectorAll(".mark text")].map(text => text.textContent);
    return {boxes, numbers, wide: at.width}; }''')
page.locator(".mark.crop rect").click(position={"x": 5, "y": 5})
found["hash"] = page.evaluate("location.hash")
found["step"] = page.locator(".step:has(.anchor:target) .name").text_content()
found["thumb"] = page.evaluate("document.querySelector('.thumb img').naturalWidth")
page.keyboard.press("o")
found["hidden"] = page.locator(".overlay").is_hidden()
page.keyboard.press("j")
page.wait_for_url("**/hostile-*")
found["next"], found["next title"] = page.locator("h1").text_content(), page.title()
page.keyboard.press("k")
page.wait_for_url("**/wrong-*")
found["lands"] = page.evaluate("['header nav', 'main', 'footer'].every(e => document.querySelector(e))")
page.click("text=request 3")
page.wait_for_function("[...document.images].every(image => image.complete)")
found["request"] = page.evaluate("[...document.images].map(image => image.naturalWidth > 0)")
wider = '''() => [...document.querySelectorAll("main *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, svg, pre"))
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))'''
found["wider"] = []
event = page.url.removeprefix(base)
for width, scheme in ((390, "dark"), (1280, "light")):
    small = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    for path in ("/", "/run/aircraft/", event, event.partition("/event")[0]):
        small.goto(base + path)
        if small.evaluate("document.documentElement.scrollWidth") > width:
            found["wider"].append(f"{path} at {width}")
        found["wider"] += small.evaluate(wider)
found["errors"] = errors
"""


@pytest.fixture
def walked(engine: Any, sandbox_image: str, library: Library, tmp_path: Path) -> dict[str, Any]:
    app = make_app(library, GatewayRequests(), {"127.0.0.1"}, None)
    return visit(engine, sandbox_image, app, tmp_path / "browser", WALK)


def test_a_walk_from_the_runs_to_why_an_aircraft_was_wrong(walked: dict[str, Any]) -> None:
    assert walked["filtered"] == ["wrong", "hostile"]
    assert walked["title"] == "aircraft – fieldmark"
    assert walked["answers"][1].startswith(HOSTILE[:40])  # as text: no title was changed
    assert walked["boxes"]["wide"] > 600
    for drawn, box in zip(walked["boxes"]["boxes"], (BOX, READ), strict=True):
        assert drawn == pytest.approx(box, abs=0.6)
    assert walked["boxes"]["numbers"] == ["4", "5"]
    assert (walked["hash"], walked["step"], walked["thumb"]) == ("#e7", "crop_zoom", 480)
    assert walked["hidden"]
    assert (walked["next"], walked["next title"]) == ("hostile", "hostile – fieldmark")
    assert walked["lands"]
    assert walked["request"] == [True]
    assert walked["wider"] == []
    assert walked["errors"] == []  # also none of the content security policy
