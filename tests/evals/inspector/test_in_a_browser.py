"""From the list of runs to a failing aircraft episode in real Chromium, on a desk and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.rundir import RunDir, episode_key
from tests.evals.inspector.browser import visit
from tests.evals.inspector.conftest import BOX, HOSTILE, READ

WALK = """
# the page's policy forbids what wait_for_function needs
loaded = "image => { image.loading = 'eager'; return image.decode(); }"
errors, found["long"] = [], "LONG"
page = browser.new_page(viewport={"width": 1280, "height": 900})
page.on("console", lambda said: errors.append(said.text))
page.on("pageerror", lambda error: errors.append(str(error)))
page.goto(base + "/")
page.click("text=aircraft")
page.select_option("select[name=verdict]", "incorrect")
with page.expect_navigation():
    page.click("text=Filter")
found["filtered"] = page.locator("tbody th").all_text_contents()
found["title"], found["answers"] = page.title(), page.locator("td.answer").all_text_contents()
page.click("tbody th >> nth=0 >> a")
page.locator(".stage img").evaluate(loaded)
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
page.locator(".thumb img").evaluate(loaded)
found["thumb"] = page.locator(".thumb img").evaluate("image => image.naturalWidth")
page.keyboard.press("o")
found["hidden"] = page.locator(".overlay").is_hidden()
page.keyboard.press("j")
page.wait_for_url("**/hostile-*")
found["next"], found["next title"] = page.locator("h1").text_content(), page.title()
page.keyboard.press("k")
page.wait_for_url("**/wrong-*")
found["lands"] = page.evaluate("['header nav', 'main', 'footer'].every(e => document.querySelector(e))")
page.click("text=request 3")
page.wait_for_url("**/event/3")
page.locator(".messages .thumb img").evaluate(loaded)
page.locator(".changes .thumb img").evaluate(loaded)
found["request"] = page.evaluate("[...document.images].map(image => image.naturalWidth > 0)")
shot(page, "event")
wider = '''() => [...document.querySelectorAll("main *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, svg, pre"))
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))'''
found["wider"] = page.evaluate(wider)
event = page.url.removeprefix(base)
page.goto(base + event.partition("/event")[0])
page.click("summary:has-text('Label it')")
page.select_option("select[name=label]", "visual_grounding")
page.fill("textarea", "a tail")
page.locator("form.label").screenshot(path="/shots/form.png")
page.click("form.label button")
page.wait_for_url("**#label")
found["label"] = page.locator("#label .said").text_content()
shot(page, "episode")
page.click("nav a:has-text('other')")
page.wait_for_url("**/compare**")
page.locator(".stage img >> nth=0").evaluate(loaded)
shot(page, "beside")
found["columns"] = page.locator("tr:has(th:text-is('act 1')) td").evaluate_all(
    "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().top))")
found["colours"] = page.locator(".c1 .mark rect").first.evaluate("box => getComputedStyle(box).stroke")
found["wider"] += page.evaluate(wider)
beside = page.url.removeprefix(base)
small = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme="dark")
for path in ("/run/aircraft/", event, event.partition("/event")[0], beside):
    small.goto(base + path)
    if small.evaluate("document.documentElement.scrollWidth") > 390:
        found["wider"].append(path)
    found["wider"] += small.evaluate(wider)
shot(small, "beside-390")
found["stacked"] = small.locator("tr:has(th:text-is('act 1')) td").evaluate_all(
    "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().left))")
small.goto(base + found["long"] + "#e7777")
small.wait_for_url("**at=7777**")
found["deep"] = small.locator(".step:has(.anchor:target)").text_content()
found["errors"] = errors
"""


@pytest.fixture
def walked(
    engine: Any, sandbox_image: str, aircraft: RunDir, other: RunDir, tmp_path: Path
) -> dict[str, Any]:
    late = episode_key("late")
    logs = [{"seq": n, "t": n, "by": "runner", "kind": "log", "message": f"line {n}"} for n in range(10_000)]
    jsonl.write_all(aircraft.traces / f"{late}.jsonl", logs)
    walk = WALK.replace("LONG", f"/run/aircraft/episode/{late}")
    app = make_app(Library([aircraft.path, other.path]), GatewayRequests(), {"127.0.0.1"}, None, "ann")
    return visit(engine, sandbox_image, app, tmp_path / "browser", walk)


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
    assert walked["request"] == [True, True]
    assert walked["wider"] == []
    assert "ann says visual grounding" in walked["label"]
    assert "a tail" in walked["label"]
    assert len(set(walked["columns"])) == 1
    assert walked["colours"] == "rgb(255, 212, 0)"
    assert len(walked["stacked"]) == 2
    assert len(set(walked["stacked"])) == 1
    assert "line 7777" in walked["deep"]
    assert walked["errors"] == []  # also none of the content security policy
