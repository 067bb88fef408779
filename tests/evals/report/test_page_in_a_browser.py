"""The page of a report in real Chromium: on a telephone and on a desk, light and dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fieldmark.evals.comparison.comparison import comparison
from fieldmark.evals.metrics.summary import summarise
from fieldmark.evals.report.comparison_tables import comparison_tables
from fieldmark.evals.report.html import write_html
from fieldmark.needs import Needs
from fieldmark.sandbox import container as made
from tests.evals.report.full_run import full_run

if TYPE_CHECKING:
    from tests.evals.conftest import BuildRun

LOOK = """
import json
from playwright.sync_api import sync_playwright
WIDER = '''() => [...document.querySelectorAll("body *")]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll"))
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))'''
CUT = '''() => [...document.querySelectorAll("td, th, p, h2, h3, .tile")]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != "inline")
    .map(e => e.tagName + " " + e.textContent.slice(0, 40))'''
FAINT = '''() => {
    const parts = c => c.match(/[0-9.]+/g).map(Number);
    const light = c => { const [r, g, b] = parts(c).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (parts(c).length == 3 || parts(c)[3] == 1) return c; } };
    const faint = new Set();
    for (const e of document.querySelectorAll("body, body *")) {
        const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
        if (!own) continue;
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint.add(e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 40));
    }
    return [...faint]; }'''
found = {}
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
    )
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.set_content(open("/page/report.html").read())
            whole = page.evaluate("document.documentElement.scrollWidth")
            found[f"{width} {scheme}"] = {
                "page": whole, "tables": page.evaluate("document.querySelectorAll('.scroll > table').length"),
                "bare": page.evaluate("document.querySelectorAll(':not(.scroll) > table').length"),
                "wider": page.evaluate(WIDER), "cut": page.evaluate(CUT), "faint": page.evaluate(FAINT),
            }
print(json.dumps(found))
"""


@pytest.fixture
def page(build_run: BuildRun, tmp_path: Path) -> Path:
    """Two runs compared, with every table that a report can have."""
    runs = [full_run(build_run(name)) for name in ("20261130-101500-first_run_with_a_long_name", "second")]
    path = tmp_path / "report.html"
    write_html([summarise(run) for run in runs], path, comparison_tables(comparison(runs)))
    path.chmod(0o644)
    return path


def look(engine: Any, image: str, page: Path) -> dict[str, dict[str, Any]]:
    """What Chromium finds at each width, in each scheme."""
    options = made.create_options(image, [made.PYTHON, "-c", LOOK], "test-report-page", 90)
    door = page.parent / "door"
    door.mkdir()
    host = made.host_options(door, Needs(), {str(page): "/page/report.html"}) | {"auto_remove": False}
    created = engine.api.create_container(**options, host_config=engine.api.create_host_config(**host))
    try:
        engine.api.start(created["Id"])
        engine.api.wait(created["Id"], timeout=90)
        printed = engine.api.logs(created["Id"]).decode()
    finally:
        engine.api.remove_container(created["Id"], force=True)
    found: dict[str, dict[str, Any]] = json.loads(printed.splitlines()[-1])
    return found


def test_nothing_overflows_is_cut_or_too_faint_to_read(engine: Any, sandbox_image: str, page: Path) -> None:
    found = look(engine, sandbox_image, page)
    assert sorted(found) == ["1280 dark", "1280 light", "390 dark", "390 light"]
    for where, seen in found.items():
        assert seen["page"] == int(where.split()[0]), where  # a table scrolls in its box, never the page
        assert seen["tables"] > 25
        assert (seen["bare"], seen["wider"], seen["cut"], seen["faint"]) == (0, [], [], []), where
