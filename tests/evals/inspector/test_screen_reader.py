"""axe-core's rules in real Chromium on every kind of page, and the way through them by keyboard alone."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fieldmark import jsonl
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.rundir import RunDir, episode_key
from tests.evals.inspector.browser import visit
from tests.evals.inspector.test_foraging import STAGES

READS = """
axe = open("/shots/axe.js").read()
run = '''() => axe.run({resultTypes: ["violations"]}).then(found => found.violations.flatMap(
    each => each.nodes.map(node => [each.impact, each.id, node.html.slice(0, 160)])))'''
found["violations"], found["crops"] = {}, []
for scheme in ("light", "dark"):
    for width in (1280, 390):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for name, path in PAGES:
            page.goto(base + path)
            page.evaluate(axe)
            found["violations"][f"{name} {scheme} {width}"] = page.evaluate(run)
            shot(page, f"{name}-{scheme}-{width}")
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found["violations"][f"{name} {scheme} {width}"].append(["serious", "wide", path])
page = browser.new_page()
page.goto(base + PAGES[2][1])
found["crops"] = page.locator(".steps img").evaluate_all("all => all.map(image => image.alt)")
found["here"] = page.locator("[aria-current=page]").all_text_contents()
found["headings"] = page.locator("h1, h2, h3").evaluate_all("all => all.map(each => each.tagName)")
page.keyboard.press("Tab")
page.keyboard.press("Enter")
found["skipped to"] = page.evaluate("document.activeElement.id")
page.keyboard.press("Tab")
found["then"] = page.evaluate("Boolean(document.activeElement.closest('main'))")
page.goto(base + PAGES[5][1])
found["live"] = page.locator("[role=status]").count()
"""


@pytest.fixture
def read(engine: Any, sandbox_image: str, aircraft: RunDir, other: RunDir, tmp_path: Path) -> dict[str, Any]:
    """The pages of two runs, one with hypotheses and one that is running."""
    trace = aircraft.trace_file(aircraft.episodes()[0])
    jsonl.write_all(trace, [*jsonl.read(trace).rows, *STAGES])
    other.write_config({**other.config(), "state": "running"})
    other.lock()
    other.pending_trace("right", 0, 0).write_bytes(jsonl.encode(STAGES[0]))
    wrong = f"/run/aircraft/episode/{episode_key('wrong')}"
    pages = [
        ("runs", "/"),
        ("episodes", "/run/other/"),
        ("episode", wrong),
        ("event", f"{wrong}/event/3"),
        ("compare", "/compare?run=aircraft&run=other&task=wrong"),
        ("unfinished", f"/run/other/episode/{episode_key('right')}"),
        ("refusal", "/run/none/"),
    ]
    app = make_app(Library([aircraft.path, other.path]), GatewayRequests(), {"127.0.0.1"}, None, "ann")
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    script = READS.replace("PAGES", repr(pages))
    return visit(engine, sandbox_image, app, tmp_path / "browser", script, {"axe.js": axe})


def test_pages_can_be_read_and_walked_without_eyes_or_mouse(read: dict[str, Any]) -> None:
    assert len(read["violations"]) == 28
    assert {page: each for page, each in read["violations"].items() if each} == {}
    assert read["crops"] == ["Crop 4 of the picture: 100, 60 – 340, 180 px, made by event 7"]
    assert read["here"] == ["wrong"]
    assert read["headings"] == ["H1", "H2", *["H3"] * 4, "H2"]
    assert (read["skipped to"], read["then"], read["live"]) == ("main", True, 1)
